"""Long runs: ``make soak``."""
