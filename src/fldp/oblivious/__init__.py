"""Oblivious: HTTP requests that a relay carries and cannot read, to a collector that cannot see who sent them."""
