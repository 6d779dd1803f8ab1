"""An engine is one entry in one registry: help, messages and frames follow from it."""

import inspect
from types import SimpleNamespace

import pyarrow as pa
import pytest

import fldp
from fldp.distributed import Part, PartialTally, privatize, tally
from fldp.distributed.engines import registry, spark
from fldp.distributed.engines.registry import ENGINES, Engine, choices, engine_of
from support.lake_files import ORACLE, reports, save


class AbacusFrame:
    __module__ = "abacus.frames"
    columns = ("plus", "minus")


@pytest.fixture
def abacus(monkeypatch):
    """An engine of somebody else, which hands everything to the local one."""
    local = ENGINES["local"]
    engine = SimpleNamespace(
        ABOUT="beads",
        FRAMES={"abacus": "Abacus"},
        tally_pieces=local.tally_pieces,
        tally_frame=lambda frame, job: PartialTally(job.oracle, "beads"),
        privatize_frame=lambda frame, privatizer, check_unique: "beads",
    )
    monkeypatch.setitem(ENGINES, "abacus", engine)
    return engine


def test_every_engine_follows_the_protocol():
    members = [name for name in vars(Engine) if not name.startswith("_")] + list(Engine.__annotations__)
    assert sorted(members) == ["ABOUT", "FRAMES", "privatize_frame", "tally_frame", "tally_pieces"]
    for engine in ENGINES.values():
        assert all(hasattr(engine, name) for name in members)
        assert list(inspect.signature(engine.tally_pieces).parameters)[:3] == ["pieces", "job", "progress"]
        assert list(inspect.signature(engine.tally_frame).parameters)[:2] == ["frame", "job"]
        assert list(inspect.signature(engine.privatize_frame).parameters) == ["frame", "privatizer", "check_unique"]


def test_one_entry_makes_an_engine(abacus, tmp_path):
    save(tmp_path / "x.parquet")
    assert tally(tmp_path, engine="abacus").tally == ORACLE.tally(reports(100))
    assert engine_of(AbacusFrame()) == "abacus"
    assert tally(AbacusFrame(), ORACLE, engine="abacus").survey == "beads"
    assert privatize(AbacusFrame(), "plus", "minus", ORACLE) == "beads"


def test_help_and_messages_follow_from_the_registry(abacus):
    assert choices() == "local (all cores), dask (a Dask cluster), spark (a Spark cluster) or abacus (beads)"
    with pytest.raises(fldp.ParameterError, match=r"one of 'local', 'dask', 'spark', 'abacus', got 'fingers'$"):
        tally("lake", engine="fingers")
    with pytest.raises(fldp.DomainError, match=r"must be of pandas, pyarrow, Dask, Spark or Abacus, got list$"):
        privatize([], "value", "who", ORACLE)
    with pytest.raises(fldp.ParameterError, match=r"^tally: engine must be 'local' for this frame, got 'abacus'$"):
        tally(pa.table({"plus": [1]}), ORACLE, engine="abacus")


def test_a_partial_tally_has_its_earlier_name_still():
    assert Part is PartialTally
    assert registry.get_engine("local") is ENGINES["local"]


def test_spark_without_java_says_what_to_install(monkeypatch):
    monkeypatch.setattr(spark.shutil, "which", lambda _: None)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(fldp.FldpError, match="spark: Java 17 or newer must be on the path, or JAVA_HOME must name it"):
        spark._start_session(None, "local[2]")


class Session:
    """What is asked of a session about its size; Spark Connect has no context."""

    def __init__(self, cores):
        self.conf = {"spark.sql.shuffle.partitions": "200"}
        if cores:
            self.sparkContext = SimpleNamespace(defaultParallelism=cores)


@pytest.mark.parametrize(
    ("cores", "size", "tasks"),
    [
        (None, 2**40, 200),  # as configured
        (4, 2**20, 16),  # a few for each core
        (4, 0, 4),  # one for each core, where a state is larger than what is read
        (4, 2**40, 200),  # many, for executors that are still to come
    ],
)
def test_tasks_follow_from_the_cores_and_from_what_is_read(cores, size, tasks):
    job = SimpleNamespace(oracle=ORACLE)
    assert spark._TASKS_PER_CORE * 4 == 16
    assert spark.task_count(Session(cores), [SimpleNamespace(bytes=size)], job) == tasks


class Builder:
    """A builder of sessions that keeps what it is told."""

    def __init__(self):
        self.told = {}

    def config(self, name, value):
        self.told[name] = value
        return self

    def master(self, master):
        self.told["master"] = master
        return self

    def appName(self, name):
        return self

    def getOrCreate(self):
        return self.told


@pytest.mark.parametrize(
    ("master", "ours"), [("local[2]", True), ("local-cluster[2,1,1024]", True), ("spark://x:1", False)]
)
def test_java_of_a_local_session_compiles_little(monkeypatch, master, ours):
    """Compiling its own code as fast as can be took Java a third of a job; a cluster has the options of its owner."""
    monkeypatch.setenv("JAVA_HOME", "/somewhere")
    told = spark._start_session(Builder(), master)
    options = [told.get(f"spark.{part}.defaultJavaOptions", "") for part in ("driver", "executor")]
    assert [("-XX:TieredStopAtLevel=1" in each) for each in options] == [ours, ours]
    assert "GC" not in " ".join(options)  # beside another garbage collector, such as of JAVA_TOOL_OPTIONS, Java ends
