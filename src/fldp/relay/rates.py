"""Rates: how many requests one address may send. Kept in memory for as long as an address is busy, never written."""

from collections import OrderedDict
from ipaddress import IPv4Address, IPv6Address, ip_network

Address = IPv4Address | IPv6Address
_BURST = 20.0  # requests that may come at once
_MAX_KNOWN = 1 << 16  # addresses


class Rates:
    """A token bucket for each address; of IPv6, for each network of 64 bits, which one customer has.

    >>> rates = Rates(1.0)
    >>> [rates.take(IPv4Address("192.0.2.1"), now=0.0) for _ in range(21)].count(True)
    20
    >>> rates.take(IPv4Address("192.0.2.1"), now=1.0), rates.take(IPv4Address("192.0.2.2"), now=0.0)
    (True, True)
    """

    def __init__(self, per_second: float) -> None:
        self._per_second = per_second
        self._known = OrderedDict[object, tuple[float, float]]()

    def take(self, address: Address | None, now: float) -> bool:
        """Take one request from an address; False if it has sent too many. A rate of 0 is no limit."""
        if not self._per_second:
            return True
        who = _customer(address)
        left, since = self._known.pop(who, (_BURST, now))
        left = min(_BURST, left + (now - since) * self._per_second)
        self._known[who] = (left - 1 if left >= 1 else left, now)
        self._forget(now)
        return left >= 1

    def _forget(self, now: float) -> None:
        """Forget addresses that may send as much as strangers again, and the oldest where there are too many."""
        while len(self._known) > _MAX_KNOWN or (now - self._longest_ago()) * self._per_second >= _BURST:
            self._known.popitem(last=False)

    def _longest_ago(self) -> float:
        return next(iter(self._known.values()))[1]


def _customer(address: Address | None) -> object:
    return ip_network((address, 64), strict=False) if isinstance(address, IPv6Address) else address
