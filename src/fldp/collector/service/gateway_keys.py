"""Keys of the gateway: made at the first start, shared by all collectors of a database, read again as they change."""

import threading
import time
from collections.abc import Callable

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from fldp.collector.storage.protocol import CollectorStore, StoredKey
from fldp.oblivious.ohttp import GatewayKey, encode_keys

_NUMBERS = 255  # key 256 has number 1 on the wire again; the two newest never share one
_FRESH_SECONDS = 60.0


def rotate(store: CollectorStore, now: str) -> None:
    """Add a key. The one before stays good, so that whoever has fetched it can still send."""
    newest = max((key.number for key in store.gateway_keys()), default=0)
    store.add_gateway_key(StoredKey(newest + 1, X25519PrivateKey.generate().private_bytes_raw(), now))


class GatewayKeys:
    """The keys that requests may be encrypted to, as the store has them now or a minute ago."""

    def __init__(self, store: CollectorStore, now: Callable[[], str]) -> None:
        self._store, self._now = store, now
        self._lock, self._keys, self._read = threading.Lock(), list[GatewayKey](), float("-inf")

    def get(self) -> list[GatewayKey]:
        """Return the keys, the newest first; the very first one is made when it is asked for."""
        with self._lock:
            if time.monotonic() - self._read > _FRESH_SECONDS:
                self._keys, self._read = self._stored(), time.monotonic()
            return self._keys

    def _stored(self) -> list[GatewayKey]:
        if not self._store.gateway_keys():
            rotate(self._store, self._now())
        return [_on_the_wire(key) for key in self._store.gateway_keys()]

    @property
    def document(self) -> bytes:
        """What everybody may know of them, as ``application/ohttp-keys``."""
        return encode_keys(key.config for key in self.get())


def _on_the_wire(key: StoredKey) -> GatewayKey:
    number = (key.number - 1) % _NUMBERS + 1
    return GatewayKey(number, X25519PrivateKey.from_private_bytes(key.private))
