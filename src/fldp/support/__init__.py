"""What all rooms may use: validation, identifiers, canonical JSON, exact numbers, files, SQLite errors, web origins."""
