"""What the collector does, without HTTP: survey cache, counting, compaction, tokens, searches, metrics."""
