"""All cores of one machine, and the shell."""

import sys
import tracemalloc
from importlib import import_module

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import fldp
from fldp import FldpError, ParameterError, WireError, wire
from fldp.cli import COMMANDS, app
from fldp.distributed import tally
from fldp.distributed.engines import local
from fldp.distributed.lake.layout import day_file, find
from fldp.distributed.lake.scan import Job
from fldp.support.progress import ignore
from fldp.wire import files
from support.lake_files import FAMILIES, ONE, ORACLE, OTHER, flipped, reports, save


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    root = tmp_path_factory.mktemp("lake")
    for day in (1, 2, 3):
        save(day_file(root, ONE, f"2026-11-0{day}"), 2000, seed=day, survey=ONE, group=300)
    return root


def whole(*days):
    return sum(ORACLE.tally(reports(2000, day)) for day in days)


@pytest.mark.parametrize("workers", [1, 3, 100])
def test_any_number_of_threads_gives_the_same(lake, workers):
    done = []
    partial = local.tally_pieces(find(lake, size=1000), Job(ORACLE, ONE), done.append, workers=workers)
    assert partial.tally() == whole(1, 2, 3)
    sizes = [path.stat().st_size for path in lake.rglob("*.parquet")]
    assert sum(sizes) - len(done) <= sum(done) <= sum(sizes)  # shares are rounded down


@pytest.mark.parametrize("oracle", FAMILIES, ids=lambda oracle: oracle.name)
def test_a_lake_is_the_same_as_one_process(tmp_path, oracle):
    saved = [save(tmp_path / f"{seed}.parquet", 500, seed, oracle=oracle, group=99) for seed in range(3)]
    assert tally(tmp_path, workers=2).tally == oracle.tally(fldp.Reports.concatenate(saved))


def test_the_first_bad_one_ends_it(lake, tmp_path):
    for name in "abc":
        save(tmp_path / f"{name}.parquet", 100)
    (tmp_path / "a.parquet").write_text("damaged")
    read = []
    with pytest.raises(WireError, match=r"a.parquet: parquet: not a Parquet file"):
        local.tally_pieces(find(tmp_path), Job(ORACLE), read.append, workers=1).result(skip_bad=False)
    assert len(read) == 1  # the others were not touched
    pieces = find(tmp_path)
    (tmp_path / "b.parquet").unlink()
    with pytest.raises(FldpError, match=r"b.parquet: cannot be read: No such file or directory$"):
        local.tally_pieces(pieces, Job(ORACLE, skip_bad=True), read.append)


def test_memory_does_not_grow_with_the_file(tmp_path):
    """A report of OUE on 80,000 values takes 10 kB, the row group 30 MB; a batch of rows 1 MiB, and so does a page."""
    oracle = fldp.OUE(epsilon=1.0, domain_size=80_000)
    few = oracle.privatize(np.arange(100), rng=1)
    with (tmp_path / "x.parquet").open("wb") as file:
        fldp.parquet.write(file, oracle, [fldp.Reports.concatenate([few] * 30)])
    job, pieces = Job(oracle), find(tmp_path)
    local.tally_pieces(pieces, job, ignore, workers=1)  # what is made once
    before, pool = pa.default_memory_pool(), pa.proxy_memory_pool(pa.default_memory_pool())
    tracemalloc.start()
    pa.set_memory_pool(pool)
    try:
        partial = local.tally_pieces(pieces, job, ignore, workers=1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        pa.set_memory_pool(before)
        tracemalloc.stop()
    assert partial.n == 3000
    assert peak < 6e6
    assert 1e6 < pool.max_memory() < 12e6


def test_only_the_columns_of_the_oracle_are_read(tmp_path):
    """A damaged page of another column does not matter."""
    save(tmp_path / "x.parquet")
    table = pq.read_table(tmp_path / "x.parquet").append_column("zone", [np.arange(100)])
    pq.write_table(table, tmp_path / "x.parquet", write_page_checksum=True, use_dictionary=False)
    page = pq.ParquetFile(tmp_path / "x.parquet").metadata.row_group(0).column(2)
    flipped(tmp_path / "x.parquet", page.data_page_offset + page.total_compressed_size // 2)
    with pytest.raises(OSError, match="CRC"):
        pq.read_table(tmp_path / "x.parquet", page_checksum_verification=True)
    assert tally(tmp_path).tally == ORACLE.tally(reports(100))


def test_engines_have_names(lake, monkeypatch):
    with pytest.raises(ParameterError, match=r"^tally: engine must be one of 'local', 'dask', 'spark', got 'abacus'$"):
        tally(lake, engine="abacus")
    monkeypatch.setitem(sys.modules, "fsspec", None)
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(FldpError, match=r"install it with: pip install 'fldp\[lake\]'$"):
        tally("s3://bucket/lake")


# -- the shell -------------------------------------------------------------------------------------------------


def shell(*arguments):
    """Run a command in this process; return what it said, or raise what it complained of."""
    for module in COMMANDS:
        import_module(f"fldp.cli.{module}")
    done = CliRunner().invoke(app, list(map(str, arguments)))
    if isinstance(done.exception, FldpError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stderr.splitlines()


def test_the_shell_reads_lakes_patterns_and_files_together(lake, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "more.fldp").write_bytes(wire.encode(reports(50, 9), ONE))
    shell("tally", lake, f"{lake}/*/day=2026-11-0[12]/x.parquet", "more.fldp", "-o", "t")
    written = files.read(str(tmp_path / "t"))
    assert (written.tally, written.survey) == (whole(1, 2, 3) + ORACLE.tally(reports(50, 9)), ONE)
    shell("tally", lake, "--since", "2026-11-02", "--until", "2026-11-02", "--survey-version", ONE, "-o", "t")
    assert files.read(str(tmp_path / "t")).tally == whole(2)


def test_the_shell_lists_what_it_leaves_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    saved = save(tmp_path / "lake" / "b.parquet", 400, group=100)
    page = pq.ParquetFile(tmp_path / "lake" / "b.parquet").metadata.row_group(1).column(0)
    flipped(tmp_path / "lake" / "b.parquet", page.dictionary_page_offset + page.total_compressed_size * 2 // 3)
    (tmp_path / "lake" / "a.parquet").write_text("damaged")
    named = ("--oracle", "fhr", "--epsilon", 1, "--domain", 300)
    with pytest.raises(WireError, match=r"^lake/a.parquet: parquet: not a Parquet file"):
        shell("tally", "lake", *named, "-o", "t")
    said = shell("tally", "lake", *named, "--skip-bad", "-o", "t")
    assert said[0] == "left out: 100 rows, and 1 files whole"
    assert said[1].startswith("  lake/a.parquet: parquet: not a Parquet file")
    assert said[2].startswith("  lake/b.parquet: rows 100 to 199 parquet: cannot be read")
    assert files.read(str(tmp_path / "t")).tally == ORACLE.tally(saved[:100]) + ORACLE.tally(saved[200:])


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("no-such",), "no-such: cannot be read: No such file or directory"),
        (("*.none",), "lake: there is no file of reports in *.none"),
        (("lake", "r.fldp"), "lake: does not belong with r.fldp: it is of another survey"),
        (
            ("r.fldp", "--since", "2026-11-01"),
            "r.fldp: is not of a lake; --since, --until and --skip-bad are about lakes",
        ),
        (("lake", "--survey-version", OTHER), "lake: there is no file of reports in lake"),
        (("lake", "--engine", "abacus"), "tally: engine must be one of 'local', 'dask', 'spark', got 'abacus'"),
    ],
    ids=lambda case: case if isinstance(case, str) and " " not in case else None,
)
def test_the_shell_complains_in_one_line(lake, tmp_path, monkeypatch, arguments, complaint):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.fldp").write_bytes(wire.encode(reports(50)))
    (tmp_path / "lake").symlink_to(lake)
    with pytest.raises(FldpError) as told:
        shell("tally", *arguments, "-o", "t")
    assert str(told.value) == complaint
    assert not (tmp_path / "t").exists()


def test_a_bad_row_of_a_frame_is_named_by_its_place_in_all_of_it():
    oracle = fldp.GRR(epsilon=1.0, domain_size=5)
    frame = pa.concat_tables(pa.table({"symbol": symbols}) for symbols in ([0, 1, 2], [3, 5]))
    result = tally(frame, oracle, skip_bad=True)
    assert [(one.path, one.row) for one in result.bad] == [("frame", 4)]
    assert result.tally.n == 4
