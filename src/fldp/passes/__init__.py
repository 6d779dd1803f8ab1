"""Passes: single-use, blindly signed; whoever signs one and whoever takes it cannot tell whose it is."""
