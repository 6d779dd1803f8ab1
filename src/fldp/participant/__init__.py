"""The person's side: answers once, repeats, and keeps to the person's limits."""

from fldp.participant.participant import Answer, Confirm, Participant

__all__ = ["Answer", "Confirm", "Participant"]
