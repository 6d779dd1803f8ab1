"""A Spark session: the user's, which is left as it is, or one of our own, which is stopped."""

import os
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fldp.errors import FldpError, ParameterError
from fldp.extras import load

_LOOPBACK = "127.0.0.1"
_LOCAL = {"spark.driver.host": _LOOPBACK, "spark.driver.bindAddress": _LOOPBACK}
_LOCAL_VARIABLES = {"SPARK_LOCAL_IP": _LOOPBACK, "PYSPARK_PYTHON": sys.executable}
_SAID = re.compile(r"^(?:[\w.]*\.)?([A-Z]\w*(?:Error|Exception): .+)$", re.MULTILINE)
_OURS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.network.timeout": "600s",  # a busy machine is not a dead one; one that died is noticed at once
    "spark.python.authenticate.socketTimeout": "120s",
}


@contextmanager
def opened(session: Any, address: str | None) -> Iterator[Any]:
    """Give a session: the one that is given, the one that is active, or a new one that ends with this."""
    builder = load("pyspark.sql", "spark").SparkSession
    found = session or builder.getActiveSession()
    if found is not None and address is not None:
        raise ParameterError(f"spark: address must be None where there is a session already, got {address!r}")
    made = None if found else _made(builder.builder, address or "local[*]")
    try:
        with one_line():
            yield found or made
    finally:
        if made is not None:
            made.stop()


def _made(builder: Any, master: str) -> Any:
    """Start a session. One on this machine keeps to it, and its workers run this Python."""
    local = master.startswith("local")
    for name, value in {**_OURS, **(_LOCAL if local else {})}.items():
        builder = builder.config(name, value)
    with one_line(), _variables(_LOCAL_VARIABLES if local else {}):
        return builder.master(master).appName("fldp").getOrCreate()


@contextmanager
def _variables(wanted: dict[str, str]) -> Iterator[None]:
    """Set those of the variables that are not set, for as long as this takes."""
    missing = {name: value for name, value in wanted.items() if name not in os.environ}
    os.environ.update(missing)
    try:
        yield
    finally:
        for name in missing:
            del os.environ[name]


@contextmanager
def one_line() -> Iterator[None]:
    """Say in one line what Spark says in a hundred: the last words of the worker that failed.

    What it says about new versions of pandas is left out: it loads pandas for what is done here, and uses none of it.
    """
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
            yield
    except FldpError:
        raise
    except Exception as error:
        if type(error).__module__.split(".")[0] not in ("pyspark", "py4j"):
            raise
        raise FldpError(f"spark: {last_words(str(error))}") from error


def last_words(text: str) -> str:
    r"""Return what an exception on a worker said, or else the first line.

    >>> last_words("Job aborted.\nTraceback (most recent call last):\n  File ...\nOSError: disk on fire\n")
    'OSError: disk on fire'
    """
    said = _SAID.findall(text.partition("Traceback")[2])
    return str(said[0]) if said else (text.strip().splitlines() or ["no reason given"])[0]


def parallel(session: Any) -> int:
    """Return in how many tasks work is cut: enough for all cores, and for a few of them to be slow."""
    known = int(session.conf.get("spark.sql.shuffle.partitions"))
    try:
        return max(known, 4 * int(session.sparkContext.defaultParallelism))
    except Exception:  # Spark Connect does not tell
        return known
