"""Sampled: records of several answers, of which public chance chooses a view; tables, and what follows from them."""
