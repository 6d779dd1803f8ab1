"""The look of each series of a table of measurements."""

from fractions import Fraction

from fldp.experiments.runner.table import Table
from fldp.presentation.figure_style import Look


def looks(table: Table) -> dict[str, Look]:
    """Return the look of every series of a table, in its order."""
    columns = (table[name].tolist() for name in ("series", "oracle", "decoder", "eta"))
    rows = dict.fromkeys(zip(*columns, strict=True))
    return {series: Look(oracle, decoder, Fraction(eta)) for series, oracle, decoder, eta in rows}
