"""Fake users, and what they achieve."""

from fldp.privacy.poisoning.attackers import ATTACKS, gain, leverage, poison

__all__ = ["ATTACKS", "gain", "leverage", "poison"]
