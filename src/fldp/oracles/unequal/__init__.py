"""Oracles that protect some values more than others: URR, URAPPOR, IDUE, Exponential."""
