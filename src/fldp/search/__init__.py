"""Searches for frequent strings: prefix code, rounds, results."""

from fldp.search.rounds import Round, Search

__all__ = ["Round", "Search"]
