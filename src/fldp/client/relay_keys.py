"""Keys of a collector that a relay handed out: remembered for a day, by the client and by the people it asks for.

Who kept them longer would stand out by an old key. Keys that change within a day are rare, and are told.
"""

import time

from fldp.oblivious import ohttp
from fldp.participant.notes import RelayedKeys
from fldp.participant.participant import Participant

DAY = 86_400.0


class RelayKeys:
    """What a client remembers of the keys of one collector, by way of the relay at an address.

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
        """What this relay handed out within a day, or None: then it is to be asked."""
        last = _usable(self._last)
        return last.keys if last is not None and last.relay == self._relay else None

    def hand_out(self, keys: bytes) -> None:
        """Remember what the relay has just handed out, before it is used."""
        handed = RelayedKeys(self._relay, keys, time.time())
        self._compare(handed)
        self._last = handed
        for person in tuple(self._people):
            person.keep_relayed_keys(handed, origin=self._origin)

    def join(self, person: Participant) -> None:
        """Have a person remember the keys, too, and compare them with those that the person has."""
        self._people.append(person)
        kept, last = _usable(person.relayed_keys(origin=self._origin)), _usable(self._last)
        if kept is not None:
            self._compare(kept)
        if last is not None and (kept is None or kept.at < last.at):
            person.keep_relayed_keys(last, origin=self._origin)
        elif kept is not None:
            self._last = kept

    def leave(self, person: Participant) -> None:
        """Ask nothing more for a person."""
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
