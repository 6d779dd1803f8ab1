"""The paper's two real datasets, from the files that their owners distribute.

Neither is part of this package. The spreadsheet of *Online* is CC BY 4.0 (Chen, Online Retail, DOI 10.24432/C5BW33);
the *Brown* corpus, as NLTK distributes it, is for non-commercial use.
"""

import io
import re
import string
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from fldp.errors import FldpError
from fldp.experiments.datasets.download import Original, cache_folder, check, fetch, find
from fldp.experiments.datasets.from_files import read_counts, write_counts
from fldp.experiments.datasets.population import Population, dataset
from fldp.experiments.datasets.xlsx import read_column

ONLINE = Original("online+retail.zip", "https://archive.ics.uci.edu/static/public/352/online+retail.zip")
ONLINE_USERS, ONLINE_VALUES = 2_363_344, 2_603  # both as in the paper
BROWN = Original(
    "brown.zip",
    "https://raw.githubusercontent.com/nltk/nltk_data/gh-pages/packages/corpora/brown.zip",
    sha256="9b275f9b3b95d7bd66ccfb7cd259f445a13bbe5d1f4107aba09fd3e8364bafa6",
)
BROWN_USERS, BROWN_VALUES = 1_013_320, 49_797  # the paper has 1,008,320 / 49,585, and no rule that gives them

_MAX_UNPACKED = 1 << 28
_BROWN_PART = re.compile(r"brown/c[a-r][0-9]{2}")
_NO_WORDS = {*string.punctuation, "``", "''", "--"}


def _where(name: str, original: Original) -> str:
    file = find(f"{name}_counts.csv.gz", original.file)
    return str(file) if file else f"fetched at first use from {original.url}"


@dataset("online", users=ONLINE_USERS, values=ONLINE_VALUES, where=partial(_where, "online", ONLINE))
def online(seed: int) -> Population:
    """The words of what an online shop sold, each once a sale: UCI Online Retail."""
    del seed
    return prepared("online", ONLINE, count_descriptions, (ONLINE_USERS, ONLINE_VALUES))


@dataset("brown", users=BROWN_USERS, values=BROWN_VALUES, where=partial(_where, "brown", BROWN))
def brown(seed: int) -> Population:
    """The words of the Brown corpus, as NLTK distributes it, in lower case and without punctuation."""
    del seed
    return prepared("brown", BROWN, count_words, (BROWN_USERS, BROWN_VALUES))


def prepared(
    name: str, original: Original, count: Callable[[Path], Counter[str]], totals: tuple[int, int]
) -> Population:
    """Return the counts of a corpus: as they were prepared before, or from the original, which is fetched if need be.

    Counts that were prepared are kept in the cache, once their totals are right.
    """
    file = find(f"{name}_counts.csv.gz", original.file)
    if file is not None and file.name != original.file:
        return read_counts(file, name).expect(str(file), *totals)
    path = check(file, original) if file else fetch(original)
    population = Population.of(name, count(path)).expect(str(path), *totals)
    with suppress(FldpError, OSError):  # a cache that cannot be written costs time, nothing else
        cache_folder().mkdir(parents=True, exist_ok=True)
        write_counts(cache_folder() / f"{name}_counts.csv.gz", population)
    return population


def count_descriptions(path: Path) -> Counter[str]:
    """Count the words in the descriptions of a spreadsheet's rows, each word once a row, without quotation marks."""
    with _unzipped(path) as outer:
        inner = [part for part in outer.infolist() if part.filename.endswith(".xlsx")]
        if len(inner) != 1 or inner[0].file_size > _MAX_UNPACKED:
            raise FldpError(f"{path}: must hold one spreadsheet of at most {_MAX_UNPACKED:,} bytes")
        sheet = io.BytesIO(outer.read(inner[0]))
    tallied: Counter[str] = Counter()
    for text in read_column(sheet, "Description"):
        tallied.update(set(text.replace('"', "").split()))
    return tallied


def count_words(path: Path) -> Counter[str]:
    """Count the words of the Brown corpus: what stands before the last slash of each token."""
    with _unzipped(path) as parts:
        members = [part for part in parts.infolist() if _BROWN_PART.fullmatch(part.filename)]
        if sum(part.file_size for part in members) > _MAX_UNPACKED:
            raise FldpError(f"{path}: must hold at most {_MAX_UNPACKED:,} bytes of text")
        tallied: Counter[str] = Counter()
        for part in members:
            tallied.update(_words(parts.read(part).decode("utf-8", "replace").split()))
    return tallied


def _words(tokens: Iterable[str]) -> Iterable[str]:
    words = (token.rpartition("/")[0].lower() for token in tokens)
    return (word for word in words if word and word not in _NO_WORDS)


@contextmanager
def _unzipped(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(path) as parts:
            yield parts
    except (zipfile.BadZipFile, EOFError, NotImplementedError, OSError, zlib.error) as error:
        raise FldpError(f"{path}: is not a whole zip file: {error}") from None
