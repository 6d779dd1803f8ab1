"""Random words and exact coins: the AES-CTR stream, integer thresholds, and words that derive from a key."""
