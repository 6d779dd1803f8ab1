"""A collector's keys, as a relay handed them out: remembered for a day, by the client and its participants.

Who kept them longer would stand out by an old key. Keys that change within a day are rare, and are told.
"""

import time

from fldp.oblivious import ohttp
from fldp.participant.notes import RelayedKeys
from fldp.participant.participant import Participant

DAY = 86_400.0


class RelayKeys:
    """The keys of one collector that a client remembers, as the relay at an address handed them out.

    >>> keys = RelayKeys("https://relay.example", "https://collector.example")
    >>> keys.current, keys.have_changed
    (None, False)
    """

    def __init__(self, relay: str, origin: str) -> None:
        self._relay, self._origin = relay, origin
        self._last: RelayedKeys | None = None
        self._people = list[Participant]()
        self.have_changed = False  # within a day, whichever relay handed them out

    @property
    def current(self) -> bytes | None:
        """The keys that this relay handed out within a day; None if they must be fetched."""
        last = _usable(self._last)
        return last.keys if last is not None and last.relay == self._relay else None

    def hand_out(self, keys: bytes) -> None:
        """Remember keys that the relay has just handed out, before they are used."""
        handed = RelayedKeys(self._relay, keys, time.time())
        self._compare(handed)
        self._last = handed
        for person in tuple(self._people):
            person.keep_relayed_keys(handed, origin=self._origin)

    def join(self, person: Participant) -> None:
        """Store the keys with a participant, too, and compare them with those stored there before."""
        self._people.append(person)
        kept, last = _usable(person.relayed_keys(origin=self._origin)), _usable(self._last)
        if kept is not None:
            self._compare(kept)
        if last is not None and (kept is None or kept.at < last.at):
            person.keep_relayed_keys(last, origin=self._origin)
        elif kept is not None:
            self._last = kept

    def leave(self, person: Participant) -> None:
        """Stop sharing keys with the participant."""
        self._people.remove(person)

    def _compare(self, other: RelayedKeys) -> None:
        last = _usable(self._last)
        self.have_changed |= last is not None and last.keys != other.keys


def _usable(kept: RelayedKeys | None) -> RelayedKeys | None:
    """Return keys of the last day, None of others and of what are no keys."""
    try:
        if kept is None or abs(time.time() - kept.at) >= DAY or not ohttp.decode_keys(kept.keys):
            return None
    except ohttp.KeysError:
        return None
    return kept
