import gc
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fldp
from fldp import FldpError, WireError
from fldp.conformance import vectors
from fldp.support.atomic_files import open_output
from fldp.wire import parquet
from fldp.wire.cells import CHUNK, Encoder, read_cells
from support import cases


def cells(path, column=None):
    return [cell for chunk in read_cells(str(path), column) for cell in chunk]


def test_csv(tmp_path):
    path = tmp_path / "v.csv"
    path.write_text('﻿id,browser\n1,chrome\n2,"fire,fox"\n3,\n4\n\n5,"two\nlines"\n', encoding="utf-8")
    assert cells(path, "browser") == ["chrome", "fire,fox", None, None, "two\nlines"]
    path.write_text("browser\nchrome\n")
    assert cells(path) == ["chrome"]


def test_lines(tmp_path):
    path = tmp_path / "v.txt"
    path.write_text("a\n\nb\r\nlast", encoding="utf-8")
    assert cells(path) == ["a", None, "b", "last"]
    assert cells(path, "a") == [None, "b", "last"], "with a column it is CSV, whatever its name"


@pytest.mark.parametrize(
    ("content", "column", "expected"),
    [
        ('browser;n\nfirefox;1\n"a;b";2\n', "browser", ["firefox", "a;b"]),
        ("n\tbrowser\r\n1\tfire,fox\r\n", "browser", ["fire,fox"]),
        ("price, in euros;browser\n1,5;firefox\n", "browser", ["firefox"]),
        ("sep=;\nbrowser;n\nfirefox;1\n", "browser", ["firefox"]),
        ("SEP=\t\r\nbrowser\tn\r\nfirefox\t1\r\n", "browser", ["firefox"]),
        (" browser , n\nfirefox,1\n", "browser", ["firefox"]),
        ("browser\na;b\n", None, ["a;b"]),
        ("\n\nbrowser\nedge\n", None, ["edge"]),
    ],
)
def test_csv_as_spreadsheets_write_it(tmp_path, content, column, expected):
    path = tmp_path / "v.csv"
    path.write_text(content, newline="")
    assert cells(path, column) == expected


def test_columns_that_semicolons_separate_are_not_taken_for_one(tmp_path):
    path = tmp_path / "v.csv"
    path.write_text("browser;n\nfirefox;1\n")
    with pytest.raises(FldpError, match="has the columns browser, n: name one with --column"):
        cells(path)


def test_blank_lines(tmp_path):
    """In an only column a blank line is a value that is missing, unless it ends the file; elsewhere it is nobody's."""
    path = tmp_path / "v.csv"
    path.write_text("browser\n\nfirefox\n\n\nedge\n\n\n")
    assert cells(path) == [None, "firefox", None, None, "edge"]
    path.write_text("browser,n\n\nfirefox,1\n\n,2\n")
    assert cells(path, "browser") == ["firefox", None]


@pytest.mark.parametrize(
    ("name", "content", "place"),
    [
        ("v.csv", 'sep=,\nbrowser,n\n\n"yes",1\n\nmaybe,2\n', "v.csv, line 6"),
        ("v.csv", 'note,browser\n"two\nlines",yes\n"two\nlines",maybe\n', "v.csv, line 4"),
        ("v.csv", "browser\nyes\n\nno\n", "v.csv, line 3"),
        ("v.txt", "yes\nmaybe\n", "v.txt, line 2"),
    ],
)
def test_a_bad_cell_is_named_by_its_line(tmp_path, monkeypatch, name, content, place):
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(content)
    column = None if name.endswith("txt") or content.startswith("browser\n") else "browser"
    (chunk,) = read_cells(name, column)
    with pytest.raises(fldp.DomainError) as error:
        Encoder(LABELS.get).encode(chunk)
    assert str(error.value).startswith(f"{place} has ")


def test_a_bad_cell_of_parquet_is_named_by_its_row(tmp_path):
    path = tmp_path / "v.parquet"
    pq.write_table(pa.table({"s": ["yes", "maybe"]}), path)
    with pytest.raises(fldp.DomainError, match=r"v.parquet, row 2 has a value that is not a label \(not shown\)"):
        Encoder(LABELS.get).encode(next(read_cells(str(path))))


def test_blanks_around_a_label_do_not_matter_and_around_a_string_they_do():
    encoder = Encoder(LABELS.get, "drop")
    assert encoder.encode(["  yes", "no\t", "  ", "may be "]).tolist() == [0, 1]
    assert encoder.summary() == "2 of 4 dropped: 1 missing, 1 unknown"
    assert Encoder(lambda text: text, value_type=object).encode([" yes "]).tolist() == [" yes "]


def test_parquet_values(tmp_path):
    path = tmp_path / "v.parquet"
    pq.write_table(pa.table({"n": [3, None, 1], "s": ["x", "y", None]}), path)
    assert cells(path, "n") == ["3", None, "1"]
    assert cells(path, "s") == ["x", "y", None]


@pytest.mark.parametrize(
    ("name", "content", "column", "message"),
    [
        ("v.csv", b"a,b\n1,2\n", None, "has the columns a, b: name one with --column"),
        ("v.csv", b"a,b\n1,2\n", "c", "has the columns a, b: --column must name one, got 'c'"),
        ("v.csv", b"a,a\n1,2\n", "a", "has the columns a, a: --column must name one, got 'a'"),
        ("v.csv", b"", "a", "is empty, a row of column names is needed"),
        ("v.csv", b'a\n"1\n', "a", "is not CSV: unexpected end of data"),
        ("v.csv", b"a\n\xff\n", "a", "is not UTF-8 text"),
        ("v.txt", b"\xff\n", None, "is not UTF-8 text"),
        ("v.parquet", b"PAR1 nonsense", "a", "is not Parquet: "),
    ],
)
def test_bad_files(tmp_path, name, content, column, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(FldpError) as error:
        cells(path, column)
    assert str(error.value).startswith(f"{path}: {message}")
    assert "\n" not in str(error.value)


def test_missing_extras_are_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(FldpError, match=r"needs pyarrow.parquet, install it with: pip install 'fldp\[parquet\]'"):
        cells(tmp_path / "v.parquet")


def test_long_files_come_in_chunks(tmp_path):
    path = tmp_path / "v.txt"
    path.write_text("1\n" * (CHUNK + 5))
    assert [len(chunk) for chunk in read_cells(str(path))] == [CHUNK, 5]


LABELS = {"yes": 0, "no": 1}


def test_unknown_cells():
    encoder = Encoder(LABELS.get)
    encoder.encode(["yes", "no"])
    with pytest.raises(fldp.DomainError, match=r"row 5 has a value that is not a label \(not shown\); see --unknown"):
        encoder.encode(["yes", "no", "maybe"])
    with pytest.raises(fldp.DomainError, match="row 1 has a missing value; see --unknown"):
        Encoder(LABELS.get).encode([None])
    encoder = Encoder(LABELS.get, "no")
    assert encoder.encode(["yes", "maybe", None]).tolist() == [0, 1, 1]
    assert encoder.summary() == "2 of 3 counted as no: 1 missing, 1 unknown"
    assert Encoder(LABELS.get).summary() == ""
    with pytest.raises(fldp.DomainError, match="--unknown must be error, drop, or a label of the survey, got 'other'"):
        Encoder(LABELS.get, "other")


@pytest.mark.parametrize("name", [name for name in cases.CASES if name.endswith("-1.0")])
def test_reports_go_to_parquet_and_back(tmp_path, name):
    oracle = cases.CASES[name][1]
    reports = oracle.privatize(np.arange(300) % oracle.domain_size)
    path = tmp_path / "r.parquet"
    with path.open("wb") as file:
        assert parquet.write(file, oracle, [reports[:100], reports[100:]], vectors.SURVEY) == 300
    with path.open("rb") as file:
        stored, survey, batches = parquet.read(file, oracle, vectors.SURVEY)
        assert (stored, survey) == (oracle, vectors.SURVEY)
        assert fldp.Reports.concatenate(batches) == reports
    assert pq.read_table(path).num_rows == 300


@pytest.mark.long
def test_parquet_of_something_else(tmp_path):
    oracle, path = fldp.FHR(1.0, 7), tmp_path / "r.parquet"

    def refused(message, **expected):
        with path.open("rb") as file, pytest.raises(WireError, match=message):
            list(parquet.read(file, **expected)[2])
        gc.collect()

    path.write_bytes(b"PAR1")
    refused("parquet: not a Parquet file")
    pq.write_table(pa.table({"plus": [1], "minus": [2]}), path)
    refused("the metadata name no oracle, so the oracle must be given")
    form = parquet.schema(oracle)
    pq.write_table(pa.table({"plus": [1], "minus": ["2"]}).replace_schema_metadata(form.metadata), path)
    refused("there must be a column minus of uint8, got plus int64, minus string")
    pq.write_table(pa.table([pa.array([1, 3], pa.uint8()), pa.array([2, 3], pa.uint8())], schema=form), path)
    refused(r"^row 1 is not a report that FHR.* can produce$")
    pq.write_table(pa.table([pa.array([1], pa.uint8()), pa.array([2], pa.uint8())], schema=form), path)
    refused("of FHR.*, where FHR.* is expected", oracle=fldp.FHR(2.0, 7))
    refused("for survey version none, where .* is expected", survey=vectors.SURVEY)


def test_output_appears_whole_or_not_at_all(tmp_path):
    path = tmp_path / "out"
    path.write_bytes(b"before")

    def fail():
        with open_output(str(path)) as file:
            file.write(b"half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]
    with open_output(str(path)) as file:
        file.write(b"after")
    assert path.read_bytes() == b"after"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(FldpError, match="cannot be written: No such file or directory"), open_output("/nowhere/x"):
        pass
