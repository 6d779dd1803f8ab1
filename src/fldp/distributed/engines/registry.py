"""The registry of engines, and the protocol that every engine follows."""

from collections.abc import Callable, Sequence
from typing import Any, Concatenate, Protocol

from fldp.distributed.engines import dask, local, spark
from fldp.distributed.lake.layout import Piece
from fldp.distributed.lake.partial_tally import PartialTally
from fldp.distributed.lake.row_privatizer import AnyFrame, Privatizer
from fldp.distributed.lake.scan import Job
from fldp.errors import DomainError, ParameterError
from fldp.support.progress import Progress
from fldp.support.validation import one_of


class Engine(Protocol):
    """A module that scans a lake, and works on the frames of its libraries."""

    ABOUT: str
    """Where the work is done, for help texts."""

    FRAMES: dict[str, str]
    """The libraries whose frames it takes, by the name of their package."""

    @property
    def tally_pieces(self) -> Callable[Concatenate[Sequence[Piece], Job, Progress, ...], PartialTally]:
        """Tally pieces of a lake; keywords are options of the engine."""

    @property
    def tally_frame(self) -> Callable[Concatenate[Any, Job, ...], PartialTally]:
        """Tally the report columns of a frame; keywords are options of the engine."""

    @property
    def privatize_frame(self) -> Callable[[Any, Privatizer, bool], Any]:
        """Privatize a column of a frame; the flag says whether to check that identifiers are unique."""


ENGINES: dict[str, Engine] = {"local": local, "dask": dask, "spark": spark}


def choices() -> str:
    """Return the engines for a help text.

    >>> choices()
    'local (all cores), dask (a Dask cluster) or spark (a Spark cluster)'
    """
    return _listed([f"{name} ({engine.ABOUT})" for name, engine in ENGINES.items()])


def get_engine(name: str) -> Engine:
    """Return an engine by its name."""
    return ENGINES[one_of(*ENGINES)("tally", "engine", name)]


def engine_of(frame: object) -> str | None:
    """Return the name of the engine that takes a frame; None if it is no frame.

    >>> import pyarrow
    >>> engine_of(pyarrow.table({})), engine_of("lake/")
    ('local', None)
    """
    package = type(frame).__module__.split(".")[0] if hasattr(frame, "columns") else ""
    return next((name for name, engine in ENGINES.items() if package in engine.FRAMES), None)


def tally_frame(frame: object, job: Job, engine: str, **options: object) -> PartialTally:
    """Tally the report columns of a frame; ``engine`` must be the one that takes it."""
    own = engine_of(frame)
    if engine != own:
        raise ParameterError(f"tally: engine must be {own!r} for this frame, got {engine!r}")
    return get_engine(engine).tally_frame(frame, job, **options)


def privatize_frame(frame: AnyFrame, privatizer: Privatizer, check_unique: bool) -> AnyFrame:
    """Privatize a column of a frame, by the engine that takes it."""
    own = engine_of(frame)
    if own is None:
        libraries = _listed([title for engine in ENGINES.values() for title in engine.FRAMES.values()])
        raise DomainError(f"privatize: frame must be of {libraries}, got {type(frame).__name__}")
    privatizer.check(frame)
    reports: AnyFrame = ENGINES[own].privatize_frame(frame, privatizer, check_unique)
    return reports


def _listed(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"
