"""The person's side: answers once, repeats, and keeps to the person's limits."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fldp.participant.participant import Answer, Confirm, Participant

__all__ = ["Answer", "Confirm", "Participant"]


def __getattr__(name: str) -> object:
    """Load the participant on first use: a program that only keeps a ledger needs no NumPy."""
    if name not in __all__:
        raise AttributeError(f"module 'fldp.participant' has no attribute {name!r}")
    return getattr(import_module("fldp.participant.participant"), name)
