"""Privatize a column of a frame, by the engine that the frame belongs to."""

from fldp.distributed.engines.registry import privatize_frame
from fldp.distributed.lake.row_privatizer import AnyFrame, Privatizer
from fldp.oracles.base.oracle import Oracle
from fldp.randomness.row_words import RunKey
from fldp.survey.survey import Survey


def privatize(
    frame: AnyFrame,
    column: str,
    identifier: str,
    oracle: Oracle | Survey,
    *,
    run_key: RunKey | None = None,
    check_unique: bool = True,
) -> AnyFrame:
    """Privatize a column of a frame of pandas, pyarrow, Dask or Spark; return a frame of reports of the same kind.

    ``identifier`` names the column that says who a row is about: integers, text or bytes. Integers of any width are
    the same people; ``1`` and ``"1"`` are two, so a column must not change its type between runs. Each person must have
    one row. Spark and Dask shuffle the identifiers once to see that; ``check_unique=False`` is for those who know it.

    The noise derives from ``run_key``, the column's name, the oracle or survey, the identifier and the value. Without
    a run key one is drawn and forgotten: **a second call is then a second report of the same people**. To go on with a
    run that broke off, keep ``bytes(run_key)`` and give it again.

    Frames of Spark and Dask are privatized when they are computed, as often as that happens, with the same result.

    >>> import fldp, pyarrow
    >>> people = pyarrow.table({"who": ["ann", "bob", "cy"], "browser": [2, 0, 2]})
    >>> reports = privatize(people, "browser", "who", fldp.FHR(epsilon=1.0, domain_size=1023))
    >>> reports.column_names, len(reports)
    (['plus', 'minus'], 3)
    """
    privatizer = Privatizer(column, identifier, oracle, RunKey() if run_key is None else run_key)
    return privatize_frame(frame, privatizer, check_unique)
