"""Public files, fetched once: looked for in the folder FLDP_DATA, then in the cache, then on the network."""

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from fldp.errors import FldpError
from fldp.support.atomic_files import open_input, open_output
from fldp.support.progress import progress

_PIECE = 1 << 16


@dataclass(frozen=True)
class Original:
    """A public file as its owners distribute it. Where no hash is known, what is read from it has to be checked."""

    file: str
    url: str
    sha256: str | None = None
    most: int = 1 << 28
    timeout: float = 30.0


def data_folder() -> Path | None:
    """Return the folder that the variable FLDP_DATA names, if it is set."""
    folder = os.environ.get("FLDP_DATA")
    if not folder:
        return None
    if not Path(folder).is_dir():
        raise FldpError(f"FLDP_DATA: must name a folder, got {folder!r}")
    return Path(folder)


def cache_folder() -> Path:
    """Return where fetched files are kept: FLDP_CACHE, or fldp in the user's folder for caches."""
    if folder := os.environ.get("FLDP_CACHE"):
        return Path(folder)
    caches = os.environ.get("XDG_CACHE_HOME")
    return (Path(caches) if caches else Path.home() / ".cache") / "fldp"


def find(*names: str) -> Path | None:
    """Return the first of these files that FLDP_DATA holds, or else the first that the cache holds."""
    for folder in (data_folder(), cache_folder()):
        for name in names:
            if folder is not None and (folder / name).is_file():
                return folder / name
    return None


def check(path: Path, original: Original) -> Path:
    """Return the path of an original, if the file is what it should be."""
    if original.sha256 is not None:
        with open_input(str(path)) as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        if digest != original.sha256:
            raise FldpError(f"{path}: is not the file from {original.url}: remove it (SHA-256 {digest[:16]}...)")
    return path


def fetch(original: Original) -> Path:
    """Fetch an original into the cache, whole or not at all."""
    target = cache_folder() / original.file
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FldpError(f"{target.parent}: cannot be made: {error.strerror}; name another with FLDP_CACHE") from None
    with open_output(str(target)) as file:
        digest = hashlib.sha256()
        for piece in _pieces(original):
            digest.update(piece)
            file.write(piece)
        if original.sha256 not in (None, digest.hexdigest()):
            raise _failed(original, "the download is a different file")
    return target


def _pieces(original: Original) -> Iterator[bytes]:
    try:
        with urlopen(Request(original.url), timeout=original.timeout) as answer:  # noqa: S310
            yield from _watched(answer, original)
    except HTTPError as error:
        error.close()  # it is the answer, too
        raise _failed(original, f"{error.code} {error.reason}") from None
    except (OSError, HTTPException) as error:
        raise _failed(original, str(getattr(error, "reason", None) or error) or type(error).__name__) from None


def _watched(answer: Any, original: Original) -> Iterator[bytes]:
    """Yield an answer piece by piece; one that is too long, or ends early, is an error."""
    length = answer.headers.get("Content-Length", "")
    total, received = int(length) if length.isdigit() else None, 0
    with progress(f"fetching {original.file}", total) as advance:
        while piece := answer.read(_PIECE):
            received += len(piece)
            if received > original.most:
                raise _failed(original, f"more than {original.most:,} bytes")
            advance(len(piece))
            yield piece
    if total not in (None, received):
        raise _failed(original, f"{received:,} of {total:,} bytes arrived")


def _failed(original: Original, why: str) -> FldpError:
    return FldpError(
        f"{original.file}: could not be fetched ({' '.join(why.split())}): get {original.url} some other way, "
        "put it into a folder and name that in FLDP_DATA"
    )
