import hashlib
import io
import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fldp
from fldp import WireError, wire
from fldp.conformance import vectors
from fldp.data.packing import pack, packed_size, unpack
from fldp.support import canonical_json
from soak import fuzz_wire
from support import cases

VECTORS = Path(__file__).parents[2] / "vectors"
each_case = pytest.mark.parametrize("oracle", [oracle for _, oracle in cases.CASES.values()], ids=cases.CASES)


def sample(oracle, count, seed=5):
    return oracle.privatize(np.random.default_rng(seed).integers(0, oracle.domain_size, count), rng=seed)


def slow_bits(oracle, data):
    """The row of bits, built as text from the numbers of every report."""
    text = ""
    for row in data:
        numbers = [int(x) for x in (row.item() if data.dtype.names else np.atleast_1d(row))]
        for number, width in zip(numbers, oracle.report_format.widths.tolist(), strict=True):
            text += f"{number:0{width}b}"[::-1]
    return text


@each_case
def test_packing_is_the_row_of_bits(oracle):
    for count in (1, 2, 8, 13):
        data = sample(oracle, count).data
        packed = pack(oracle.report_format, data)
        text = slow_bits(oracle, data)
        assert len(text) == oracle.report_format.bits * count
        assert len(packed) == packed_size(oracle.report_format, count)
        assert "".join(f"{byte:08b}"[::-1] for byte in packed) == text.ljust(8 * len(packed), "0")
        unpacked, padded = unpack(oracle.report_format, packed, count)
        assert padded
        assert np.array_equal(unpacked, data)


@each_case
def test_batches_come_back(oracle):
    for count in (1, 9, 100):
        reports = sample(oracle, count)
        assert wire.decode(wire.encode(reports)) == reports
        assert wire.decode(wire.encode(reports, vectors.SURVEY), oracle, vectors.SURVEY) == reports
    assert wire.decode_tally(wire.encode_tally(oracle.tally(reports)), oracle) == oracle.tally(reports)


def test_fhr_takes_exactly_2r_bits():
    oracle = fldp.FHR(1.0, 1023)
    sizes = {n: len(wire.encode(sample(oracle, n))) for n in (8, 80_000)}
    assert sizes[80_000] - sizes[8] == (80_000 - 8) * 20 // 8


def test_a_batch_of_nothing():
    oracle = fldp.FHR(1.0, 7)
    assert len(wire.decode(wire.encode(sample(oracle, 3)[0:0]))) == 0


@pytest.mark.parametrize("sizes", [[1] * 30, [7, 9, 8, 6], [30], [29, 1]])
def test_pieces_written_one_by_one_make_the_same_reports(sizes):
    oracle = fldp.FHR(1.0, 5)
    reports, file = sample(oracle, 30), io.BytesIO()
    with wire.Writer(file, oracle) as writer:
        start = 0
        for size in sizes:
            writer.write(reports[start : start + size])
            start += size
    assert wire.decode(file.getvalue()) == reports
    assert writer.total == 30


def test_large_batches_stream_in_chunks(monkeypatch):
    monkeypatch.setattr("fldp.data.batch_frame.CHUNK_BYTES", 1000)
    oracle = fldp.FHR(1.0, 1023)
    reports = sample(oracle, 5003)
    data = wire.encode(reports)
    reader = wire.Reader(io.BytesIO(data))
    parts = list(reader)
    assert [len(part) for part in parts] == [400] * 12 + [200, 3]
    assert fldp.Reports.concatenate(parts) == reports
    import hashlib

    assert reader.digest == hashlib.sha256(data).hexdigest()


def test_an_unfinished_file_is_not_a_batch():
    file = io.BytesIO()
    writer = wire.Writer(file, fldp.FHR(1.0, 7))
    writer.write(sample(fldp.FHR(1.0, 7), 16))
    with pytest.raises(WireError, match="the input ends within a chunk's count"):
        wire.decode(file.getvalue())
    with pytest.raises(RuntimeError), wire.Writer(io.BytesIO(), fldp.FHR(1.0, 7)):
        raise RuntimeError


def test_a_writer_refuses_other_oracles():
    with (
        pytest.raises(WireError, match="Writer: reports must be of"),
        wire.Writer(io.BytesIO(), fldp.RR(1.0)) as writer,
    ):
        writer.write(sample(fldp.RR(2.0), 8))


def test_what_was_not_expected_is_refused():
    one, other = fldp.GRR(1.0, 5), fldp.GRR(2.0, 5)
    data = wire.encode(sample(one, 3), vectors.SURVEY)
    with pytest.raises(WireError, match=r"wire: of GRR\(epsilon=1.0, .*\), where GRR\(epsilon=2.0, .*\) is expected"):
        wire.decode(data, other)
    with pytest.raises(WireError, match=r"a batch for survey version .*, where 0000"):
        wire.decode(data, one, "0" * 64)
    with pytest.raises(WireError, match="a batch for survey version none"):
        wire.decode(wire.encode(sample(one, 3)), one, vectors.SURVEY)


@pytest.fixture(scope="session")
def vector_files():
    return vectors.files()


@pytest.mark.parametrize("name", sorted(vectors.CASES))
@pytest.mark.long
def test_vectors_do_not_drift(vector_files, name):
    for file in (f"{name}.json", f"{name}_bad.json"):
        assert (VECTORS / file).read_text() == vector_files[file], "run make vectors, if the change is meant"


def test_there_are_vectors_for_every_oracle():
    assert set(vectors.CASES) == set(fldp.oracles.names())
    assert {path.stem.removesuffix("_bad") for path in VECTORS.glob("*.json")} == {*vectors.CASES, vectors.SEARCH}


OF_ORACLES = sorted(path for path in VECTORS.glob("*[a-z].json") if path.stem != vectors.SEARCH)


@pytest.mark.parametrize("path", OF_ORACLES, ids=lambda path: path.stem)
def test_good_vectors_replay(path):
    if path.stem.endswith("_bad"):
        for case in json.loads(path.read_text()):
            with pytest.raises(WireError):
                wire.decode(bytes.fromhex(case["batch"]))
        return
    from support import naive

    for case in json.loads(path.read_text()):
        oracle = wire.build(case["oracle"])
        reports = wire.decode(bytes.fromhex(case["batch"]))
        assert reports.oracle == oracle
        for report, row in zip(case["reports"], reports.data, strict=True):
            words = [int(word, 16) for word in report["words"]]
            assert naive.PRIVATIZE[oracle.name](oracle, report["value"], words) == oracle.report_format.outcome(row)
        assert oracle.tally(reports).state.tolist() == case["tally"]["state"]
        assert wire.decode_tally(bytes.fromhex(case["tally"]["bytes"])) == oracle.tally(reports)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "wire: the input ends within the magic number"),
        (b"PK\x03\x04aaaaaaaaaaaaaa", "wire: this is not an fldp file"),
        (b"FLDP\x02\x01", "wire: format 2, where this version reads 1"),
        (b"FLDP\x01\x02", "wire: reports expected, got a tally"),
        (b"FLDP\x01\x07", "wire: reports expected, got kind 7"),
        (b"FLDP\x01\x01\xff\xff", "wire: a header of 65535 bytes, above the limit of 4096"),
    ],
)
def test_messages(data, message):
    with pytest.raises(WireError) as error:
        wire.decode(data)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("grr", "the header's oracle: wire: an oracle must be described by its name and parameters"),
        ({"epsilon": 1, "domain_size": 5}, "wire: an oracle must be described by its name and parameters"),
        ({"name": "grr", "epsilon": 1}, "wire: GRR needs epsilon, domain_size"),
        ({"name": "grr", "epsilon": 1, "domain_size": 5, "eta": 1}, "wire: GRR has no parameter 'eta'"),
        (
            {"name": "ss", "epsilon": 1, "domain_size": 9, "set_size": None},
            "wire: the header's oracle spells out parameters that are at their default",
        ),
    ],
)
def test_headers_that_describe_no_oracle(fields, message):
    header = canonical_json.dumps({"oracle": fields})
    header = header if isinstance(header, bytes) else header.encode()
    with pytest.raises(WireError) as error:
        wire.decode(b"FLDP\x01\x01" + len(header).to_bytes(2, "little") + header)
    assert message in str(error.value)


def test_a_tally_that_no_reports_add_up_to_is_refused():
    good = wire.encode_tally(fldp.Tally(fldp.GRR(1.0, 3), [2, 1, 0], 3))
    body = good[: good.index(np.array([2, 1, 0], "<i8").tobytes())] + np.array([3, 1, 0], "<i8").tobytes()
    check = hashlib.sha256(body).digest()[: len(good) - len(body)]
    with pytest.raises(WireError, match="wire: Tally of GRR: no 3 reports add up to this state"):
        wire.decode_tally(body + check)


@pytest.mark.long
def test_five_thousand_mutated_batches():
    refused, accepted = fuzz_wire.fuzz(5_000, seed=7)
    assert refused > 3_750
    assert accepted > 25, "the forged batches must come far enough to be worth it"
    fuzz_wire.fuzz_tallies(500, seed=8)


def test_lies_about_sizes_cost_no_memory():
    huge = {"name": "fhr", "epsilon": 1, "domain_size": 2**31 - 1}
    lies = [
        vectors.craft({"oracle": {"name": "oue", "epsilon": 1, "domain_size": 1024}}, [(32768, b"")], 32768),
        vectors.craft({"oracle": {"name": "oue", "epsilon": 1, "domain_size": 2**25}}, [(8, b"")], 8),
        vectors.craft({"oracle": huge}, [(1, bytes(8))], 1),
        wire.encode_tally(fldp.Tally.empty(fldp.GRR(1.0, 5)))[:8],
    ]
    tally = bytearray(wire.encode_tally(fldp.Tally.empty(fldp.GRR(1.0, 5))))
    lies.append(bytes(tally.replace(b'"domain_size":5', b'"domain_size":9')))
    for data in lies:
        tracemalloc.start()
        for read in (wire.decode, wire.decode_tally):
            with pytest.raises(WireError):
                read(data)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 4 * 2**20


def test_a_header_alone_does_not_ask_for_a_giant_tally():
    oracle = fldp.FHR(1.0, 2**26)
    data = wire.encode(oracle.privatize(5))
    with pytest.raises(WireError, match="too large to be trusted from a header alone"):
        wire.decode(data)
    assert len(wire.decode(data, oracle)) == 1


finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.recursive(st.none() | st.booleans() | finite | st.text(), st.lists))
def test_canonical_json_means_the_same(document):
    assert json.loads(canonical_json.dumps(document), parse_int=float) == document


@pytest.mark.parametrize(
    ("number", "text"),
    [
        *[(1.0, "1"), (-0.0, "0"), (0.1, "0.1"), (1e21, "1e+21"), (1e20, "100000000000000000000"), (1e-6, "0.000001")],
        *[(1.5e-7, "1.5e-7"), (123.456, "123.456"), (5e-324, "5e-324"), (1.5e308, "1.5e+308")],
        *[(-2.5, "-2.5"), (1000000.0, "1000000"), (1e-7, "1e-7"), (12345678901234567890.0, "12345678901234567000")],
    ],
)
def test_numbers_are_written_as_ecmascript_does(number, text):
    assert canonical_json.dumps(number).decode() == text


def test_what_is_not_a_number_has_no_canonical_form():
    with pytest.raises(ValueError, match="not a JSON number"):
        canonical_json.dumps(float("nan"))


def test_a_header_does_not_make_anybody_work():
    """Oracles that take long to make are not made from the parameters of a stranger."""
    groups = [8388480 + k for k in range(255)]
    fields = {"name": "grouped", "epsilon": 8.0, "base": "pgr", "groups": groups, "domain_size": sum(groups)}
    data = vectors.craft({"oracle": fields}, [], 0)
    with pytest.raises(WireError, match=r"Grouped\(epsilon=8.0, .* is too large to be trusted from a header alone"):
        wire.decode(data)
    with pytest.raises(WireError, match=r"of Grouped\(epsilon=8.0, .* \.\.\., where RR\(epsilon=1.0\) is expected"):
        wire.decode(data, fldp.RR(1.0))


def test_vectors_are_written_into_a_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(vectors, "files", lambda: {"grr.json": "[]\n"})
    vectors.main(str(tmp_path / "new"))
    assert (tmp_path / "new" / "grr.json").read_text() == "[]\n"
