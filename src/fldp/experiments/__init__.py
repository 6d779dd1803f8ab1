"""Experiments: populations to try an oracle on."""
