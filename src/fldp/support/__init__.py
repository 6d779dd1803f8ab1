"""What every room may use: validation, canonical JSON, atomic files, optional imports, progress, web origins."""
