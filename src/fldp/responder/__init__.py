"""One report at a time, in plain Python: what a telemetry client needs, without NumPy."""
