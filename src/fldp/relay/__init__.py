"""Relay: carries encrypted requests to a collector, so that nobody who reads reports sees who sends them."""
