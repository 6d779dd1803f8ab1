"""Test vectors: what other implementations must give, and what they must refuse.

``python -m fldp.conformance.vectors FOLDER`` writes them. They freeze how words become reports and reports become
bytes.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp import wire
from fldp.data.fingerprints import fingerprint
from fldp.data.packing import pack, unpack
from fldp.data.reports import Reports
from fldp.oracles.base.analysis import analysis
from fldp.oracles.base.oracle import Oracle
from fldp.oracles.registry import built_in, examples
from fldp.randomness.stream import Stream
from fldp.search.prefix_code import LIKELY
from fldp.search.rounds import Search
from fldp.support import canonical_json
from fldp.support.atomic_files import open_output
from fldp.support.canonical_json import Json
from fldp.survey.search_table import described

CASES: dict[str, list[Oracle]] = {cls.name: examples(cls) for cls in built_in()}
SEARCH = "search"  # the file of search rounds, beside the files of oracles
SURVEY = canonical_json.identifier({"example": True})
TEXTS = ("a", "b", "https://example.org/?q=1", "\u00fc", "u\u0308", "\U0001f600", "\0", " ", "x" * 1024)
_MAX_WORD = 2**64 - 1


def some_values(oracle: Oracle, count: int) -> NDArray[np.int64] | list[str]:
    """Return ``count`` values of an oracle: its first ones in a cycle, or texts of every kind."""
    size = _size(oracle)
    return np.arange(count) % size if size else [TEXTS[k % len(TEXTS)] for k in range(count)]


def good(oracle: Oracle) -> dict[str, Json]:
    """Return test vectors of one oracle: reports from fixed words, their batch, and their tally."""
    values, words = zip(*_inputs(oracle), strict=True)
    data = oracle.report_format.empty(len(values))
    oracle.perturb(analysis(oracle).as_values(list(values)).astype(np.int64), np.array(words, np.uint64), data)
    reports = Reports(oracle, data)
    tally = oracle.tally(reports)
    return {
        "oracle": wire.describe(oracle),
        "words": oracle.words,
        "report_bits": oracle.report_format.bits,
        "reports": [
            {
                "value": value,
                **({"fingerprint": f"{fingerprint(value.encode()):016x}"} if isinstance(value, str) else {}),
                "words": [f"{word:016x}" for word in row],
                **_kept(oracle, row),
                "packed": pack(oracle.report_format, data[k : k + 1]).tobytes().hex(),
            }
            for k, (value, row) in enumerate(zip(values, words, strict=True))
        ],
        "batch": wire.encode(reports).hex(),
        "batch_for_survey": {"survey": SURVEY, "batch": wire.encode(reports[:1], SURVEY).hex()},
        "tally": {"n": tally.n, "state": tally.state.tolist(), "bytes": wire.encode_tally(tally).hex()},
    }


def _kept(oracle: Oracle, row: list[int]) -> dict[str, str]:
    """Return the basis that the words of a report draw, where people keep one."""
    basis = analysis(oracle).kept(np.array(row, np.uint64))
    return {} if basis is None else {"basis": basis.hex()}


def _inputs(oracle: Oracle) -> Iterator[tuple[int | str, list[int]]]:
    """Yield values with words at both ends of the range, around the thresholds of coins, and at random."""
    values = _spread(oracle)
    yield values[0], [0] * oracle.words
    yield values[-1], [_MAX_WORD] * oracle.words
    coin = analysis(oracle).coin
    for edge in (coin.keep - 1, coin.keep) if coin else ():
        yield values[len(values) // 2], [edge % 2**64] * oracle.words
    for value, threshold in analysis(oracle).thresholds():
        yield value, [threshold - 1] * oracle.words
        yield value, [threshold] * oracle.words
    stream = Stream(0).child("vectors", oracle.name, analysis(oracle).values_end)
    for value in values:
        yield value, stream.words(oracle.words).tolist()


def _spread(oracle: Oracle) -> list[Any]:
    """Return values spread over the domain; of records more, since each is of several answers."""
    size, steps = _size(oracle), 15 if analysis(oracle).answers else 6
    return [(size - 1) * k // steps for k in range(steps + 1)] if size else list(TEXTS)


def _size(oracle: Oracle) -> int | None:
    """Return the number of values, or of records; None where values are strings."""
    about = analysis(oracle)
    return about.domain_size if about.answers is None else about.values_end


def craft(fields: Json, chunks: list[tuple[int, bytes]], total: int, *, header: bytes | None = None) -> bytes:
    """Return a batch with correct checksums, whatever else is wrong with it."""
    batch = wire.MAGIC + bytes([wire.FORMAT, wire.REPORTS])
    text = canonical_json.dumps(fields) if header is None else header
    batch += len(text).to_bytes(2, "little") + text
    for count, packed in chunks:
        batch += count.to_bytes(4, "little") + packed
        batch += _check(batch)
    batch += bytes(4) + total.to_bytes(8, "little")
    return batch + _check(batch)


def _check(data: bytes) -> bytes:
    import hashlib

    return hashlib.sha256(data).digest()[: wire.CHECK]


def bad(oracle: Oracle) -> list[dict[str, str]]:
    """Return invalid batches, each with the reason why it must be refused."""
    rejected = [*_damaged(oracle), *_dishonest(oracle), *_misnamed(oracle), *_of_views(oracle)]
    return [{"why": why, "batch": data.hex()} for why, data in rejected]


def _nine(oracle: Oracle) -> Reports:
    return oracle.privatize(some_values(oracle, 9), rng=Stream(0).child("bad vectors", oracle.name))


def _damaged(oracle: Oracle) -> Iterator[tuple[str, bytes]]:
    data = wire.encode(_nine(oracle))
    for size in (0, 3, 7, 30, len(data) - 21, len(data) - 1):
        yield f"cut after {size} bytes", data[:size]
    yield "a byte too many", data + b"\0"
    yield "the batch twice", data + data
    for place in (0, 4, 5, 6, 20, len(data) - 40, len(data) - 10, len(data) - 1):
        yield f"a bit flipped in byte {place}", data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :]
    yield "a tally", wire.encode_tally(oracle.tally(_nine(oracle)))


def _dishonest(oracle: Oracle) -> Iterator[tuple[str, bytes]]:
    fields, nine = {"oracle": wire.describe(oracle)}, _nine(oracle)
    eight, one = (pack(oracle.report_format, part).tobytes() for part in (nine.data[:8], nine.data[8:]))
    yield "a total too large", craft(fields, [(8, eight), (1, one)], 10)
    yield "a chunk left out", craft(fields, [(1, one)], 9)
    yield "a chunk twice", craft(fields, [(8, eight), (8, eight)], 8)
    yield "a chunk after one that ends within a byte", craft(fields, [(1, one), (8, eight)], 9)
    yield "a chunk of more reports than bytes", craft(fields, [(16, eight)], 16)
    yield "a chunk above the limit", craft(fields, [(2**32 - 8, eight)], 2**32 - 8)
    padding = -oracle.report_format.bits % 8
    if padding:
        yield "padding that is not zero", craft(fields, [(1, one[:-1] + bytes([one[-1] | 0x80]))], 1)
    worst = np.full(len(one), 255, np.uint8)
    worst[-1] >>= padding
    layout = oracle.report_format
    if not layout.check(unpack(layout, worst, 1)[0]).all():
        yield "a report that no value gives", craft(fields, [(1, worst.tobytes())], 1)


def _of_views(oracle: Oracle) -> Iterator[tuple[str, bytes]]:
    """Yield what is wrong with views of records, where an oracle has any."""
    if analysis(oracle).answers is None:
        return
    named, views = wire.describe(oracle), len(analysis(oracle).members)
    for why, more in (
        ("a weight of 0", {"weights": [0, *[1] * (views - 1)]}),
        ("too few weights", {"weights": [1] * (views - 1)}),
        ("a view of no question", {"views": [[]]}),
        ("a view twice", {"views": [[0], [0]]}),
        ("a view of a question that is not there", {"views": [[0, 99]]}),
        ("more combinations than there are records", {"answers": [8] * 21}),
    ):
        yield f"a header with {why}", craft({"oracle": {**named, **more}}, [], 0)
    nine = _nine(oracle)
    reports = (pack(oracle.report_format, nine.data[k : k + 1]).tobytes() for k in range(len(nine)))
    layout = oracle.report_format
    for report in reports:
        filled = np.frombuffer(report, np.uint8).copy()
        filled[-1] |= 1 << (layout.bits - 1) % 8
        if not layout.check(unpack(layout, filled, 1)[0]).all() and filled.tobytes() != report:
            yield "zeros after a report that are not zero", craft({"oracle": named}, [(1, filled.tobytes())], 1)
            return


def _misnamed(oracle: Oracle) -> Iterator[tuple[str, bytes]]:
    named = wire.describe(oracle)
    headers: list[tuple[str, Json]] = [
        ("no oracle", {}),
        ("an unknown oracle", {"oracle": {**named, "name": "nope"}}),
        ("an unknown parameter", {"oracle": {**named, "zeta": 1}}),
        ("no epsilon", {"oracle": {key: value for key, value in named.items() if key != "epsilon"}}),
        ("a negative epsilon", {"oracle": {**named, "epsilon": -1}}),
        ("an epsilon that is text", {"oracle": {**named, "epsilon": "1"}}),
        ("a domain of one", {"oracle": {**named, "domain_size": 1}}),
        ("a field nobody knows", {"oracle": named, "sender": "me"}),
        ("a survey that is no version", {"oracle": named, "survey": "mine"}),
        ("a list", [named]),
    ]
    for why, fields in headers:
        yield f"a header with {why}", craft(fields, [], 0)
    yield "a header with a blank in it", craft(None, [], 0, header=canonical_json.dumps({"oracle": named}) + b" ")
    yield "a header that is not JSON", craft(None, [], 0, header=b"{")
    yield "a header that is not UTF-8", craft(None, [], 0, header=b'{"oracle":"\xff"}')


def rounds() -> Iterator[dict[str, Json]]:
    """Yield rounds of searches, and the codes and values of strings in them."""
    for alphabet in ("", "ab", LIKELY):
        search = Search(epsilon=1.0, oracle="grr", alphabet=alphabet, k=2, bits=8)
        whole = [search.code.encode(text.encode()) for text in TEXTS[:4]]
        middle = search.later(2, (whole[3][:6], whole[0][:3]), 7)
        last = search.later(5, (*whole[:2], whole[2][:12]), 0)
        for question in (search.first, middle, last):
            strings: list[Json] = [
                {"string": text, "code": search.code.encode(text.encode())[:64], "value": question.value(text)}
                for text in (*TEXTS, "ab", "abba", "http")
            ]
            yield {"search": described(question), "strings": strings}


def files() -> dict[str, str]:
    """Return the names and contents of all vector files."""
    texts = {f"{SEARCH}.json": _text(list(rounds()))}
    for name, oracles in CASES.items():
        texts[f"{name}.json"] = _text([good(oracle) for oracle in oracles])
        texts[f"{name}_bad.json"] = _text(bad(oracles[0]))
    return texts


def _text(cases: list[Any]) -> str:
    """Write one case per line, for readable diffs."""
    return "[\n" + ",\n".join(canonical_json.dumps(case).decode() for case in cases) + "\n]\n"


def main(folder: str) -> None:
    """Write all vectors into a folder."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, text in files().items():
        json.loads(text)
        with open_output(str(Path(folder) / name)) as file:
            file.write(text.encode())


if __name__ == "__main__":
    main(sys.argv[1])
