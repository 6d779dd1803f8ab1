"""Lakes for the tests of engines, and what every engine must do with them."""

import os
from contextlib import contextmanager, suppress
from pathlib import Path
from unittest.mock import patch

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fldp
from fldp.distributed import tally
from fldp.distributed.engines.registry import get_engine
from fldp.distributed.engines.spark import open_session
from fldp.distributed.lake.layout import Piece
from fldp.distributed.lake.scan import Job
from fldp.support.progress import ignore
from fldp.wire import parquet
from fldp.wire.arrow_reports import reports_of
from support.fatal_oracle import Fatal

ORACLE = fldp.GRR(epsilon=1.0, domain_size=5000)
FHR = fldp.FHR(epsilon=1.0, domain_size=1023)
ORACLES = [
    FHR,
    ORACLE,
    fldp.OUE(epsilon=1.0, domain_size=100),
    fldp.OLH(epsilon=1.0, domain_size=50),
    fldp.LWR(epsilon=0.5, domain_size=100, epsilon_permanent=1.0),
    fldp.Sampled(epsilon=2.0, answers=[4, 3, 2], views=2),
]
GROUP = 1 << 15
# Java that lives for a minute is not worth compiling well: this halves what Spark takes.
SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@contextmanager
def spark_cluster():
    """Start Spark with two executors of a core each, in processes of their own that find the modules of the tests."""
    path = os.pathsep.join(filter(None, (str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH"))))
    variables = {"PYTHONPATH": path, "JAVA_TOOL_OPTIONS": SHORT_LIVED}
    with patch.dict(os.environ, variables), open_session(None, "local-cluster[2,1,1024]") as session:
        yield session


@contextmanager
def dask_cluster():
    """Start Dask with two processes of a thread each."""
    import distributed

    with (
        distributed.LocalCluster(2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0") as cluster,
        distributed.Client(cluster, set_as_default=False, timeout="120s") as client,
    ):
        yield client


def build(root, reports, files=12, oracle=ORACLE):
    """Write a lake of reports, in files of several row groups, without metadata as another program would."""
    rest = reports // files
    for number in range(files):
        count = rest if number else reports - (files - 1) * rest
        data = oracle.privatize(values_of(oracle, count), rng=number).data
        table = pa.Table.from_batches([parquet.batch(parquet.schema(oracle).remove_metadata(), data)])
        pq.write_table(table, root / f"{number:02}.parquet", row_group_size=GROUP)
    return root


def values_of(oracle, count):
    """Return random values, or records of answers where the oracle asks several questions."""
    answers, generator = getattr(oracle, "answers", None), np.random.default_rng(1)
    if answers is None:
        return generator.integers(0, oracle.domain_size, count)
    return generator.integers(0, answers, (count, len(answers)))


def spoil(root):
    """Write a lake of 3 files and return it: two rows are bad, and one file is none."""
    build(root, 3000, files=3)
    bad = pq.read_table(root / "01.parquet").to_pandas().astype("int64")
    bad.loc[7, "symbol"], bad.loc[500, "symbol"] = 5000, -1
    bad.to_parquet(root / "01.parquet", row_group_size=100)
    (root / "02.parquet").write_bytes(b"PAR1 is all that is left")
    return root


def check_killed(root, marker, **options):
    """A process is killed in the middle of a run: the tally is that of one process that nobody killed."""
    fatal = Fatal(ORACLE.epsilon, ORACLE.domain_size, str(marker), options.pop("victim", "self"))
    result = tally(root, fatal, **options).tally
    assert Path(marker).exists(), "nobody was killed"
    expected = tally(root, ORACLE, workers=1).tally
    assert result.n == expected.n
    assert np.array_equal(result.state, expected.state)


def check_same(root, oracle, **options):
    """The tally of a lake is that of its reports in one call, bit for bit, at any number of tasks."""
    build(root, 3000, files=3, oracle=oracle)
    tables = [pq.read_table(path) for path in sorted(root.iterdir())]
    rows = pa.concat_tables(tables).combine_chunks().to_batches()[0]
    data, bad = reports_of(oracle, rows)
    expected = oracle.tally(data)
    assert (bad, expected.n) == (None, 3000)
    for tasks in (None, 2):
        assert tally(root, oracle, tasks=tasks, **options).tally == expected


def check_bad(root, **options):
    """What is bad fails the run, with its path and row; or all of it is left out, counted and listed."""
    with pytest.raises(fldp.WireError, match=r"0[12]\.parquet: (row 7 has a number that does not fit|.*not a Parquet)"):
        tally(root, ORACLE, **options)
    result, expected = tally(root, ORACLE, skip_bad=True, **options), tally(root, ORACLE, skip_bad=True)
    assert result == expected
    assert [(Path(bad.path).name, bad.row) for bad in result.bad] == [
        ("01.parquet", 7),
        ("01.parquet", 500),
        ("02.parquet", -1),
    ]
    assert (result.bad_rows, result.bad_files, result.tally.n) == (2, 1, 1998)


def check_lost(root, **options):
    """What a worker cannot read is one line, and what was wrong is in it."""
    pieces = [Piece(str(root / "gone.parquet"), 1000)]
    engine = get_engine(options.pop("engine"))
    with pytest.raises(fldp.FldpError, match=r"^[^\n]*gone.parquet: cannot be read: No such file or directory$"):
        engine.tally_pieces(pieces, Job(ORACLE), ignore, **options)


def people(count, most=9, seed=1):
    """Return a table of people, each with a value."""
    values = np.random.default_rng(seed).integers(0, most, count)
    return pa.table({"who": [f"person {k}" for k in range(count)], "value": values, "other": np.ones(count)})


def in_order(frame):
    """Return reports as sorted tuples: what a frame holds, without the order."""
    table = frame if isinstance(frame, pa.Table) else pa.Table.from_pandas(frame, preserve_index=False)
    return sorted(tuple(row.values()) for row in table.to_pylist())


def python_children():
    """Return the numbers of all Python processes below this one; those that have ended are passed over."""
    workers = []
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            workers += [child.pid] if "python" in Path(child.exe()).name else []
    return workers


def peak_megabytes(process="self"):
    """Return the most memory that a process ever had, in MB."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024
