"""Alias of ``fldp.participant.store``."""

from fldp.participant.store import *  # noqa: F403
