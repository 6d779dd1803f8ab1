"""What the collector does, without HTTP: group commit, compaction, tokens, searches, metrics."""
