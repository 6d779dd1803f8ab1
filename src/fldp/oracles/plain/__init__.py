"""Oracles under plain LDP."""
