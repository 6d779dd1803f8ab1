"""Around the routes: middleware, bodies, CORS, access, calls, queries, candidates."""
