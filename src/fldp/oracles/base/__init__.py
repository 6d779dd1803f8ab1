"""What oracles are made of: the interface, report layouts, support counts, privacy profiles."""
