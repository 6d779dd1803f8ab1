"""Populations: synthetic ones, files, public corpora."""
