"""A flipped bit in a file of reports is noticed, wherever it is, or it changes nothing."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fldp
from fldp.distributed import tally
from fldp.distributed.lake.layout import Piece
from fldp.distributed.lake.scan import Job, scan
from fldp.errors import FldpError, WireError
from fldp.wire import parquet
from fldp.wire.cells import read_cells
from fldp.wire.record_cells import read_rows

VERSION = "2dff65b8" * 8
FILES = {
    "grr": (fldp.GRR(epsilon=1.0, domain_size=50), 1),
    "fhr in two row groups": (fldp.FHR(epsilon=1.0, domain_size=15), 2),
    "oue": (fldp.OUE(epsilon=1.0, domain_size=20), 1),
}


def written(oracle, groups, rows=40):
    """Return a file as bytes, and its reports."""
    reports = oracle.privatize(np.arange(rows) % oracle.domain_size, rng=7)
    step, file = rows // groups, io.BytesIO()
    parquet.write(file, oracle, (reports[start : start + step] for start in range(0, rows, step)), VERSION)
    return file.getvalue(), reports


def read_whole(data):
    """Read a file as ``fldp tally FILE`` does; return what it says that it holds."""
    oracle, version, parts = parquet.read(io.BytesIO(data))
    return sum((oracle.tally(part) for part in parts), fldp.Tally.empty(oracle)), version


def read_piece(data, path, oracle):
    """Read a file as every engine's workers do."""
    path.write_bytes(data)
    result = scan([Piece(str(path), len(data))], Job(oracle, VERSION)).result(skip_bad=False)
    return result.tally, result.survey


def outcome(read, *arguments):
    """Return what was read, or None for an error of ours; any other error is a failure."""
    try:
        return read(*arguments)
    except FldpError:
        return None


def flip(data, bits):
    flipped = bytearray(data)
    for bit in bits:
        flipped[bit // 8] ^= 1 << bit % 8
    return bytes(flipped)


def bits_of(data):
    """One bit of every byte, each of the eight by turns."""
    return [8 * byte + byte % 8 for byte in range(len(data))]


@pytest.mark.long
@pytest.mark.parametrize("name", FILES)
def test_no_flipped_bit_changes_a_tally(tmp_path, name):
    """One bit at a time, through both ways to read: an error of ours, or the same tally, oracle and survey."""
    oracle, groups = FILES[name]
    data, reports = written(oracle, groups)
    good = oracle.tally(reports), VERSION
    assert read_whole(data) == read_piece(data, tmp_path / "x.parquet", oracle) == good
    noticed, bits = 0, bits_of(data)
    for bit in bits:
        flipped = flip(data, [bit])
        whole = outcome(read_whole, flipped)
        piece = outcome(read_piece, flipped, tmp_path / "x.parquet", oracle)
        assert whole in (None, good), (bit, whole)
        assert piece in (None, good), (bit, piece)
        noticed += whole is None
    assert noticed > len(bits) / 2  # most bits matter, so this did look at what it reads


@pytest.mark.parametrize(
    "oracle", [fldp.GRR(1.0, 300), fldp.FHR(1.0, 300), fldp.OUE(1.0, 12)], ids=lambda one: one.name
)
def test_no_flipped_bit_of_a_page_header_changes_a_tally(tmp_path, oracle):
    """Every bit: a header that promises more values than there are would move the rows of the next row group."""
    data, reports = written(oracle, 3, 300)
    good, path = (oracle.tally(reports), VERSION), tmp_path / "x.parquet"
    for bit in header_bits(data):
        flipped = flip(data, [bit])
        assert outcome(read_whole, flipped) in (None, good), bit
        assert outcome(read_piece, flipped, path, oracle) in (None, good), bit


def header_bits(data, size=24):
    """Return the bits of the first bytes of every page of values: its header, and some of what follows."""
    footer = pq.read_metadata(io.BytesIO(data))
    for group in range(footer.num_row_groups):
        start = footer.row_group(group).column(0).data_page_offset
        yield from range(8 * start, 8 * (start + size))


TOTAL, GROUP, VALUES = range(3)


def numbers_of_rows(data):
    """Return what the footer says of the whole file, of its first row group and of the first column there."""
    footer = pq.read_metadata(io.BytesIO(data))
    group = footer.row_group(0)
    return footer.num_rows, group.num_rows, group.column(0).num_values


def bit_for(data, place, wanted):
    """Return the bit of the footer that changes one of its numbers of rows, and no other, to what is wanted."""
    changed = list(numbers_of_rows(data))
    changed[place] = wanted
    start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    for bit in range(8 * start, 8 * (len(data) - 8)):
        try:
            if numbers_of_rows(flip(data, [bit])) == tuple(changed):
                return bit
        except (OSError, ValueError, pa.ArrowException):
            continue  # the footer cannot be read with it
    raise AssertionError(f"no single bit makes it {changed}")


@pytest.mark.parametrize("places", [(TOTAL,), (GROUP,), (VALUES,), (TOTAL, GROUP)])
def test_a_footer_whose_numbers_of_rows_do_not_agree_is_refused(tmp_path, places):
    """No checksum is of the footer. Pages are intact, so nothing else would tell that 32 of 40 reports are read."""
    oracle, groups = FILES["grr"]
    data, _ = written(oracle, groups)
    assert numbers_of_rows(data) == (40, 40, 40)
    damaged = flip(data, [bit_for(data, place, 32) for place in places])
    with pytest.raises(WireError, match="the footer is damaged: its numbers of rows do not agree"):
        read_whole(damaged)
    assert outcome(read_piece, damaged, tmp_path / "x.parquet", oracle) is None
    assert parquet.counts_in(io.BytesIO(data), VERSION) == (40, 0)
    assert parquet.counts_in(io.BytesIO(damaged), VERSION) is None


def rewritten(data, meta):
    """Write the same rows with other metadata."""
    table = pq.read_table(io.BytesIO(data))
    file = io.BytesIO()
    pq.write_table(table.replace_schema_metadata({b"fldp": meta}), file)
    return file.getvalue()


def test_files_without_the_checksum_are_read_as_before():
    oracle, groups = FILES["grr"]
    data, reports = written(oracle, groups)
    old = b'{"format":1,"oracle":{"domain_size":50,"epsilon":1,"name":"grr"},"survey":"%s"}' % VERSION.encode()
    assert read_whole(rewritten(data, old)) == (oracle.tally(reports), VERSION)


def test_metadata_that_were_changed_are_refused():
    data, _ = written(*FILES["grr"])
    meta = pq.read_schema(io.BytesIO(data)).metadata[b"fldp"]
    with pytest.raises(WireError, match="the file's metadata are damaged: their checksum does not match"):
        read_whole(rewritten(data, meta.replace(b'"epsilon":1', b'"epsilon":3')))


def test_rows_that_another_program_rearranged_are_read(tmp_path):
    """The checksums are of pages and of what the file is about, so it may be written again in other pieces."""
    oracle, _ = FILES["grr"]
    data, reports = written(oracle, 1)
    table = pq.read_table(io.BytesIO(data))
    pq.write_table(table.take(pa.array(range(len(reports)))[::-1]), tmp_path / "x.parquet", row_group_size=7)
    assert tally(tmp_path).tally == oracle.tally(reports)


@pytest.mark.parametrize("read", [lambda path: read_cells(path, column="os"), read_rows], ids=["a column", "rows"])
def test_a_damaged_file_of_values_is_named(tmp_path, read):
    """Other programs wrote it; what pyarrow says of it is no error of ours, and has no name of a file."""
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table({"os": ["mac", "linux"] * 500}), path, use_dictionary=False)
    data = bytearray(path.read_bytes())
    data[4:40] = bytes(byte ^ 255 for byte in data[4:40])  # the header of its only page
    path.write_bytes(data)
    with pytest.raises(FldpError, match=r"people\.parquet: parquet: cannot be read: "):
        list(read(str(path)))
