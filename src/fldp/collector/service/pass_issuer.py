"""The issuer of passes in a collector: keys of the store, and signatures by a process of its own, a few at a time."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from fldp.collector.service.problems import busy
from fldp.collector.storage.protocol import CollectorStore, StoredIssuer
from fldp.passes.issuing import PrivateKey
from fldp.passes.signer import Signer, SignerError
from fldp.passes.tokens import PassTerms
from fldp.survey.survey import Survey

_MAX_WAITING = 200  # a second or two of signing
_KEPT = 64  # keys in memory


class PassIssuer:
    """Signs what asks for passes. The process is started with the first one, and ends with the collector."""

    def __init__(self, store: CollectorStore) -> None:
        self._store, self._signer = store, Signer()
        self._thread = ThreadPoolExecutor(1, "fldp-signer")
        self._waiting = 0
        self._keys: dict[bytes, PrivateKey] = {}

    def key_of(self, terms: PassTerms) -> PrivateKey | None:
        """Return the private key that passes are signed with, if it is here; read from the store once."""
        key_id = terms.key.key_id
        key = self._keys.get(key_id)  # one look: other threads may clear them meanwhile
        if key is None:
            stored = self._store.find_issuer(key_id)
            if stored is None or stored.private is None:
                return None
            if len(self._keys) >= _KEPT:
                self._keys.clear()
            key = self._keys[key_id] = PrivateKey.decode(stored.private)
        return key

    async def sign(self, key: PrivateKey, blinded: bytes) -> bytes:
        """Sign, after those that came before; too many at the same time are refused."""
        if self._waiting >= _MAX_WAITING:
            raise busy("too many passes are being requested, try again")
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._signer.sign, key, blinded)
        except SignerError as error:
            raise busy(str(error)) from None
        finally:
            self._waiting -= 1

    def stop(self) -> None:
        """End the process that signs."""
        self._thread.shutdown(cancel_futures=True)
        self._signer.close()


def create_key(store: CollectorStore, now: str) -> PrivateKey:
    """Make a key, and store it."""
    key = PrivateKey.generate()
    store.add_issuer(StoredIssuer(key.public.key_id, key.encoded, now))
    return key


def objection(store: CollectorStore, survey: Survey, now: str) -> str | None:
    """Say why a new survey cannot have the key that it names; else the key is the survey's from now on."""
    terms = survey.pass_terms
    if terms is None:
        return None
    stored = store.find_issuer(terms.key.key_id)
    if "issuer" not in survey.collect and (stored is None or stored.private is None):
        return (
            "collect.issuer_key must be a key of this collector, as fldp issuer create prints it;"
            " where somebody else issues, say collect.issuer"
        )
    if not store.bind_issuer(terms.key.key_id, survey.version, now):
        return "collect.issuer_key must be a key of its own, and signs for another version: make one more"
    return None
