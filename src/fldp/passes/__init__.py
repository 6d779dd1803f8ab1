"""Single-use passes, signed blindly: neither the issuer nor the collector can tell whose pass it is."""
