"""Every kind of file of reports, in every command that reads one, with the same options."""

import json
import os
import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fldp
from fldp import wire
from fldp.client import upload
from fldp.wire import files, parquet
from support.serving import run_here

ORACLE = fldp.GRR(epsilon=3.0, domain_size=5)
NAMED = ("--oracle", "grr", "--epsilon", "3", "--domain", "5")
REPORTS = ORACLE.privatize(np.arange(400) % 5, rng=7)
TALLY = ORACLE.tally(REPORTS)
FILES = {  # the file, and whether the oracle has to be named
    "reports.fldp": False,
    "tally.fldp": False,
    "reports.parquet": False,
    "foreign.parquet": True,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    (folder / "reports.fldp").write_bytes(wire.encode(REPORTS))
    (folder / "tally.fldp").write_bytes(wire.encode_tally(TALLY))
    with (folder / "reports.parquet").open("wb") as file:
        parquet.write(file, ORACLE, [REPORTS[:150], REPORTS[150:]])
    symbols = pa.array(REPORTS.data.astype(np.int64))
    pq.write_table(pa.table({"day": np.zeros(400), "symbol": symbols}), folder / "foreign.parquet")
    return folder


def options(name, always=True):
    return NAMED if always or FILES[name] else ()


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("named", [True, False], ids=["named", "unnamed"])
@pytest.mark.parametrize("pipe", [False, True], ids=["path", "pipe"])
class TestEveryFile:
    def run(self, folder, command, name, named, pipe, *more, code=0):
        source, stdin = ("-", (folder / name).read_bytes()) if pipe else (name, b"")
        return run_here(command, source, *options(name, named), *more, stdin=stdin, cwd=folder, code=code)

    def test_estimate(self, folder, name, named, pipe):
        out = json.loads(self.run(folder, "estimate", name, named, pipe, "--json").stdout)
        expected = ORACLE.estimate(TALLY).counts
        assert np.allclose([row["count"] for row in sorted(out["rows"], key=lambda row: row["value"])], expected)

    def test_inspect(self, folder, name, named, pipe):
        facts = json.loads(self.run(folder, "inspect", name, named, pipe, "--json").stdout)
        holds = {"reports.fldp": "reports", "tally.fldp": "tally"}.get(name, "parquet reports")
        assert (facts["holds"], facts["reports"], facts["oracle"]["name"]) == (holds, 400, "grr")

    def test_integrity(self, folder, name, named, pipe):
        facts = json.loads(self.run(folder, "integrity", name, named, pipe, "--json").stdout)
        assert facts["passed"]

    def test_tally(self, folder, tmp_path, name, named, pipe):
        target = tmp_path / "t"
        self.run(folder, "tally", name, named, pipe, "-o", target)
        assert target.read_bytes() == wire.encode_tally(TALLY)

    def test_merge(self, folder, tmp_path, name, named, pipe):
        target = tmp_path / "t"
        code = 0 if name == "tally.fldp" else 2
        done = self.run(folder, "merge", name, named, pipe, "-o", target, code=code)
        if code:
            assert b"not a tally; add reports up with fldp tally\n" in done.stderr
        else:
            assert target.read_bytes() == wire.encode_tally(TALLY)


def test_methods_on_reports_read_parquet(folder):
    oracle, named = fldp.FWR(1.0, 8, eta=0.5), ("--oracle", "fwr", "--epsilon", "1", "--domain", "8", "--eta", "0.5")
    reports = oracle.privatize(np.arange(300) % 8, rng=1)
    table = pa.Table.from_batches([parquet.batch(parquet.schema(oracle).remove_metadata(), reports.data)])
    pq.write_table(table, folder / "fwr.parquet")
    arguments = ("fwr.parquet", *named, "--method", "em", "--json")
    out = json.loads(run_here("estimate", *arguments, cwd=folder).stdout)
    assert (out["method"], out["n"]) == ("em", 300)


def test_a_file_of_nobody_needs_an_oracle(folder):
    for command in ("estimate", "inspect", "integrity", "tally"):
        done = run_here(command, "foreign.parquet", *(("-o", "t") if command == "tally" else ()), cwd=folder, code=2)
        assert b"the metadata name no oracle, so the oracle must be given" in done.stderr, command


def test_a_bad_row_is_named_alike(folder):
    pq.write_table(pa.table({"symbol": [0, 1, 9, 2]}), folder / "bad.parquet")
    complaints = {
        run_here(command, "bad.parquet", *NAMED, *more, cwd=folder, code=2).stderr.decode()
        for command, more in (("estimate", ()), ("inspect", ()), ("integrity", ()), ("tally", ("-o", "t")))
    }
    assert complaints == {f"bad.parquet: row 2 is not a report that {ORACLE!r} can produce\n"}


def test_a_tally_that_is_read_is_not_encoded_again(folder, monkeypatch):
    def fail(*arguments):
        raise AssertionError("encoded")

    path = str(folder / "tally.fldp")
    (folder / "same.fldp").write_bytes((folder / "tally.fldp").read_bytes())
    monkeypatch.setattr(wire, "encode_tally", fail)
    monkeypatch.setattr("fldp.wire.batch.encode_tally", fail)
    assert files.read(path).tally == TALLY
    with pytest.raises(fldp.WireError, match=r"same.fldp: holds the same as .*tally.fldp; counting it twice"):
        files.combine([path, str(folder / "same.fldp")], "tally")


def test_the_survey_of_a_foreign_file_is_the_one_that_was_named(folder):
    survey = "1" * 64
    assert files.read(str(folder / "foreign.parquet"), ORACLE, survey).survey == survey
    with pytest.raises(fldp.WireError, match=r"survey version none, where 1+ is expected"):
        files.read(str(folder / "reports.parquet"), ORACLE, survey)


def test_values_that_were_all_dropped_are_counted(folder):
    arguments = ("--unknown", "drop", *NAMED, "-o", "none.fldp")
    done = run_here("privatize", "-", *arguments, stdin=b"lynx\nlynx\n\n", cwd=folder, code=2)
    expected = b"-: holds no value to privatize: 3 of 3 dropped: 1 missing, 2 unknown\n"
    assert done.stderr == expected
    assert not (folder / "none.fldp").exists()


def test_parquet_comes_through_a_pipe(folder, tmp_path):
    """A real pipe cannot go back, and the footer of Parquet is at the end."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for name in ("reports.parquet", "foreign.parquet", "reports.fldp", "tally.fldp"):
        writer = threading.Thread(target=pipe.write_bytes, args=[(folder / name).read_bytes()])
        writer.start()
        assert files.read(str(pipe), ORACLE).tally == TALLY
        writer.join()


def test_reports_are_not_added_to_tallies_that_may_have_them(folder):
    for reports in ("reports.fldp", "reports.parquet"):
        done = run_here("tally", reports, "tally.fldp", "-o", "wrong", cwd=folder, code=2)
        assert done.stderr == b"tally.fldp: holds a tally, not reports; add tallies up with fldp merge\n"
    done = run_here("tally", "tally.fldp", "reports.fldp", "-o", "wrong", cwd=folder, code=2)
    assert done.stderr == b"reports.fldp: holds reports, not a tally; add reports up with fldp tally\n"
    assert not (folder / "wrong").exists()


def test_the_same_file_twice_is_refused_whatever_its_kind(folder):
    for name in ("reports.parquet", "foreign.parquet", "reports.fldp"):
        with pytest.raises(fldp.WireError, match="counting it twice would be wrong"):
            files.combine([str(folder / name)] * 2, files.REPORTS, ORACLE)


def test_a_client_sends_the_same_files(folder):
    survey = fldp.Survey("s", "q", ORACLE)
    for name in ("reports.fldp", "reports.parquet", "foreign.parquet"):
        with upload(str(folder / name), survey) as reports:
            assert (reports.total, reports.version) == (400, survey.version)
    with (
        pytest.raises(fldp.WireError, match=r"tally.fldp: holds a tally, not reports"),
        upload(str(folder / "tally.fldp"), survey),
    ):
        pass


def test_parquet_without_rows_is_an_empty_tally(folder):
    table = pa.table({"symbol": pa.array([], pa.uint8())})
    pq.write_table(table, folder / "empty.parquet")
    for oracle in (ORACLE, fldp.GRR(1.0, 300)):
        assert files.read(str(folder / "empty.parquet"), oracle).tally == fldp.Tally.empty(oracle)


def test_files_that_do_not_belong_together_are_told_apart(folder, tmp_path):
    other = fldp.GRR(epsilon=2.0, domain_size=5)
    (tmp_path / "other.fldp").write_bytes(wire.encode(other.privatize([0, 1], rng=1)))
    with pytest.raises(fldp.MergeError, match=r"other\.fldp: does not belong with .*reports\.fldp: GRR\(epsilon=2"):
        files.combine([str(folder / "reports.fldp"), str(tmp_path / "other.fldp")])
    with pytest.raises(fldp.FldpError, match="files: there must be at least one file"):
        files.combine([])


def test_two_empty_tallies_are_no_file_given_twice(tmp_path):
    for name in ("a.fldp", "b.fldp"):
        (tmp_path / name).write_bytes(wire.encode_tally(fldp.Tally.empty(ORACLE)))
    assert files.combine([str(tmp_path / "a.fldp"), str(tmp_path / "b.fldp")]).tally.n == 0


def test_what_is_no_file_is_no_parquet(tmp_path):
    assert not files.is_parquet(str(tmp_path))
    assert not files.is_parquet(str(tmp_path / "missing"))
