"""Acceptance at full size: ``make acceptance`` runs it, and writes the tables of the documents."""
