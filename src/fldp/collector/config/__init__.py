"""Settings of the collector."""
