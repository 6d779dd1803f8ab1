"""Around the routes: middleware, bodies, CORS, access, queries, candidates."""
