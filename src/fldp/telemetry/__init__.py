"""Private telemetry for programs: declared metrics, one private report a period, and nothing without a yes.

    from fldp import telemetry

    telemetry.setup("metrics.toml")
    telemetry.record("theme", "dark")
    with telemetry.timed("startup"):
        ...

None of these ever raises, blocks, or slows a program. ``docs/telemetry.md`` has the rest.
"""

import atexit
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Any

from fldp.errors import DomainError, FldpError

if TYPE_CHECKING:
    from fldp.telemetry.agent import Agent

    mode: str
    reason: str

__all__ = ["flush", "mode", "reason", "record", "setup", "strict", "timed"]


class _Running:
    """The telemetry of this process: at most one program."""

    agent: "Agent | None" = None
    mode, reason = "off", "setup was not called"
    strict = False
    hooked = False


def setup(
    metrics: "str | os.PathLike[str] | Mapping[str, object]", *, notice: Callable[[str], object] | None = None
) -> None:
    """Begin telemetry as a ``metrics.toml`` declares it, if the person's mode allows; no network, no waiting.

    A relative name is looked for beside the file that calls, never in the folder in which the program is run.
    ``notice`` is called once, in the background, before the first report ever is sent, with what ``fldp telemetry
    view`` says.
    """
    try:
        _setup(metrics if isinstance(metrics, Mapping) else _beside_caller(os.fspath(metrics)), notice)
    except Exception as error:
        _refuse(f"metrics.toml cannot be used ({type(error).__name__}); fldp telemetry lint says why", error)


def _beside_caller(path: str) -> str:
    return os.path.join(os.path.dirname(os.path.abspath(sys._getframe(2).f_globals.get("__file__", path))), path)


def _setup(source: str | Mapping[str, Any], notice: Callable[[str], object] | None) -> None:
    from fldp.telemetry.metrics import metrics_of, read_metrics
    from fldp.telemetry.modes import mode_of

    _end()
    metrics = read_metrics(source) if isinstance(source, str) else metrics_of(source)
    chosen = mode_of(metrics.app, metrics.default)
    _Running.agent, _Running.mode, _Running.reason = None, chosen.mode, chosen.reason
    if chosen.mode == "off":
        return
    from fldp.telemetry.agent import Agent, Places

    _Running.agent = Agent(
        metrics,
        chosen,
        Places.of(metrics.app),
        notice=notice,
        decide=lambda: mode_of(metrics.app, metrics.default),
    )
    _hook()
    _Running.agent.start()


def _hook() -> None:
    """Be told of the end of the program and of forks, once."""
    if _Running.hooked:
        return
    _Running.hooked = True
    atexit.register(_end)
    if hasattr(os, "register_at_fork"):  # where processes fork
        from fldp.telemetry.fork_safety import after_fork, before_fork

        os.register_at_fork(before=before_fork, after_in_parent=after_fork, after_in_child=_forget)


def _refuse(why: str, error: Exception) -> None:
    _Running.agent, _Running.mode, _Running.reason = None, "off", why
    if _Running.strict:
        raise FldpError(f"telemetry: {why}: {error}") from error


def record(name: str, value: bool | float | str) -> None:
    """Record a value of a metric. What is not declared counts as ``other`` where that is, or else not at all."""
    agent = _Running.agent
    try:
        known = agent is None or agent.record(name, value)
    except Exception:
        known = False
    if not known and _Running.strict:
        raise DomainError(f"telemetry: metric {name!r:.80} must be declared, and the value one of it (not shown)")


@contextmanager
def timed(name: str) -> Iterator[None]:
    """Record how many milliseconds a block takes, in a metric of kind ``duration``."""
    start = perf_counter()
    try:
        yield
    finally:
        record(name, 1000 * (perf_counter() - start))


def strict(wanted: bool = True) -> None:
    """Raise what is ignored otherwise, such as a metric that is not declared; for the tests of a program."""
    _Running.strict = wanted


def flush(seconds: float = 2.0) -> bool:
    """Wait until what is due was sent, for some seconds at most; for programs that choose to wait before they end."""
    agent = _Running.agent
    return agent is None or agent.wait(seconds)


def _end() -> None:
    if _Running.agent is not None:
        _Running.agent.end()


def _forget() -> None:
    if _Running.agent is not None and not _Running.agent.forget():
        why = "the program was forked while telemetry had its files open"
        _Running.agent, _Running.mode, _Running.reason = None, "off", why


def __getattr__(name: str) -> str:
    """Return ``mode`` or ``reason``: what is true now."""
    if name in ("mode", "reason"):
        value: str = getattr(_Running.agent.mode if _Running.agent else _Running, name)
        return value
    raise AttributeError(f"module 'fldp.telemetry' has no attribute {name!r}")
