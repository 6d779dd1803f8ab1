"""What every implementation of an oracle must pass: checks of its law, and test vectors."""
