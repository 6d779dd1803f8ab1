"""Shared set-up: compile every kernel once, before the workers start."""

import compileall
import gc
import os
import sys
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import settings

TESTS = str(Path(__file__).parent)
sys.path.insert(0, TESTS)
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (TESTS, os.environ.get("PYTHONPATH"))))  # of processes, too

from support import needs, process_logs  # noqa: E402

settings.register_profile("fldp", deadline=None, derandomize=True)  # a first example may load Numba
settings.load_profile("fldp")


# Files whose tests share a server, a browser, a cluster or a computation: on one worker each, it is made once.
# A fixture of a module is made anew after a test of another module: where it is data alone, its scope is the session.
ON_ONE_WORKER = (
    "test_browser_",
    "test_cli_collector",
    "test_client",
    "test_collector_",
    "test_deploy_nginx",
    "test_distributed_dask",
    "test_distributed_object_store",
    "test_distributed_spark",
    "test_document",
    "test_figures",
    "test_javascript",
    "test_rehearsal",
    "test_rooms",
    "test_verdict",
)


# Of those the ones that take long with few tests: nothing else may have to wait for them in the end.
FIRST = (
    "test_collector_hostile",
    "test_collector_memory",
    "test_collector_slow",
    "test_distributed_spark",
    "test_rehearsal",
)

SHARES = 64  # into which the tests of one function are dealt out


def _together(path):
    return Path(path).name.startswith(ON_ONE_WORKER)


def _turn(path, tests):
    return not Path(path).name.startswith(FIRST), -len(tests), path


guard = needs.Guard()


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Keep the garbage collector from what stays to the end: it took two fifths of the time to collect tests."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_finish():
    guard.install()  # whatever is imported by then would call it, thousands of times


def pytest_ignore_collect(collection_path, config):
    """Look for examples neither in conftest.py, a name that one module alone can have, nor in what is run elsewhere."""
    elsewhere = collection_path.match("*_acceptance.py") and "*_acceptance.py" not in config.getini("python_files")
    return True if elsewhere or collection_path.name == "conftest.py" else None


@pytest.hookimpl(tryfirst=True)
def pytest_itemcollected(item):
    """Mark what needs a server, and what needs time, so that `make check` leaves it out."""
    if needs.is_serving(item):
        item.add_marker("serving")
    if needs.is_long(item):
        item.add_marker("long")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    guard.test = None if item.get_closest_marker("serving") else item.nodeid
    try:
        return (yield)
    finally:
        guard.test = None


def pytest_sessionfinish():
    """Write what was covered at once: a worker that takes ten seconds to end is killed, and its data would be lost."""
    measuring = sys.modules.get("coverage")
    if measuring and (current := measuring.Coverage.current()):
        current.save()


def pytest_addoption(parser):
    parser.addoption("--cases", type=int, help="run at most so many cases of each test, drawn by their names")


def _drawn(items, most):
    """Return at most so many cases of each test, the same on every worker."""
    tests = {}
    for item in sorted(items, key=lambda item: crc32(item.nodeid.encode())):
        tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
    drawn = {item for cases in tests.values() for item in cases[:most]}
    return [item for item in items if item in drawn]


def pytest_collection_modifyitems(config, items):
    """Spread those files, the longest first, over all the others: their tests wait while the others compute."""
    if most := config.getoption("cases"):
        every, items[:] = items[:], _drawn(items, most)
        config.hook.pytest_deselected(items=list(set(every).difference(items)))
    files = {}
    for item in items:
        path = item.nodeid.partition("::")[0]
        files.setdefault(path if _together(path) else None, []).append(item)
    others = files.pop(None, [])
    step = len(others) // (len(files) + 1)
    ordered = []
    for number, path in enumerate(sorted(files, key=lambda path: _turn(path, files[path]))):
        ordered += files[path] + others[number * step : (number + 1) * step]
    items[:] = ordered + others[len(files) * step :]


def pytest_xdist_make_scheduler(config, log):
    """Deal tests out in that order, those files as a whole, and of tests with many parameters some at a time.

    What dealing out takes grows with the square of the number of parts.
    """
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            path = nodeid.partition("::")[0]
            return path if _together(path) else f"{nodeid.partition('[')[0]} {crc32(nodeid.encode()) % SHARES}"

    if config.getvalue("dist") != "load":
        return None
    config.option.loadscopereorder = False
    return Scheduling(config, log)


@pytest.fixture(autouse=True)
def _interpreted_as_in_a_client():
    """A collector within this process makes all kernels run compiled from then on; the next test begins anew."""
    from fldp.numerics import kernels

    kernels._mode.always_compiled = False


@pytest.fixture(autouse=True)
def _log_as_before():
    with process_logs.as_before():
        yield


def _write_bytecode(config):
    """Compile all sources and tests before the workers start: in a new clone each of them would."""
    from _pytest.assertion import rewrite

    sources = Path(TESTS).parent / "src"
    for folder in (sources, Path(TESTS, "support"), Path(TESTS, "soak"), Path(TESTS, "acceptance")):
        compileall.compile_dir(folder, quiet=2)
    for path in Path(TESTS).rglob("test_*.py"):
        cached = rewrite.get_cache_dir(path) / f"{path.stem}{rewrite.PYC_TAIL}"
        if rewrite._read_pyc(path, cached) is None and rewrite.try_makedirs(cached.parent):
            stamp, code = rewrite._rewrite_test(path, config)
            rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, stamp, cached)


def pytest_sessionstart(session):
    if not hasattr(session.config, "workerinput") and "PYTEST_XDIST_WORKER" not in os.environ:
        if session.config.args_source is pytest.Config.ArgsSource.TESTPATHS and not sys.dont_write_bytecode:
            _write_bytecode(session.config)
        import numpy as np

        from fldp import wire
        from support import cases

        for _, oracle in (*cases.CASES.values(), *cases.STRING_CASES.values()):
            reports = oracle.privatize(np.zeros(2, np.int64))
            oracle.estimate(oracle.tally(reports) + oracle.tally(wire.decode(wire.encode(reports), oracle)))
