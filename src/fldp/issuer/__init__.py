"""Issuer: signs passes for tickets, run by somebody else than the collector."""
