"""What ``fldp estimate`` prints and saves: counts, a number, or the tables of several questions."""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import typer

from fldp.cli.number import Figures, show_number
from fldp.cli.options import note
from fldp.errors import ParameterError

if TYPE_CHECKING:
    from fldp.data.estimate import Estimate
    from fldp.data.number import Number
    from fldp.oracles.sampled.tables import Tables

_ROWS = 20  # of a table, unless the caller asks for another number


class TableChoice(NamedTuple):
    """Which tables of several questions are asked for: all single ones if no field is set."""

    question: str | None
    cross: tuple[str, str] | None
    associations: bool
    consistent: bool

    def refuse(self) -> None:
        """Refuse these options where there is one question."""
        for name, value in self._asdict().items():
            if value:
                raise ParameterError(f"fldp: --{name} is for surveys of several questions; give one as --survey")


class EstimateOutput(NamedTuple):
    """How estimates are shown; if reports are ``planned``, intervals hold at every look."""

    level: float
    top: int | None
    planned: int | None
    form: str
    plot: Path | None

    def number(self, number: "Number", asked: Figures) -> None:
        """Print a number, and save its picture."""
        watched = number if self.planned is None else number.watched(self.planned)
        show_number(watched, asked, self.level, self.form)
        self._save(watched)

    def counts(self, estimate: "Estimate") -> None:
        """Print the estimates of all values, or of the largest, and save a picture."""
        from fldp.presentation import tables

        watched = self._watched(estimate)
        if self.form == "json":
            typer.echo(tables.as_json(watched, self.level, self.top))
        elif self.form == "csv":
            typer.echo(tables.as_csv(watched, self.level, self.top), nl=False)
        else:
            tables.show(tables.estimate_table(watched, self.level, self.top or _ROWS), *tables.estimate_notes(watched))
        self._save(watched)

    def tables(self, tables: "Tables", choice: TableChoice) -> None:
        """Print tables: all questions, one, two together, or which go together; save a picture of one."""
        from fldp.data.postprocess import postprocess
        from fldp.presentation import questions as view

        if self.planned is not None and (choice.cross or choice.associations or choice.consistent):
            raise ParameterError(
                "fldp: --anytime is for single questions, unbiased: cross-tables and tests have one look"
            )
        shown = postprocess(tables, "consistent") if choice.consistent else tables
        if self.plot is not None:
            if choice.question is None:
                raise ParameterError("fldp: --plot draws one question; name it with --question")
            self._save(view.estimate_of(shown, choice.question))
        if self.form == "text":
            self._show_tables(shown, choice)
        else:
            asked = view.AskedTables(*choice[:3], self.level, self.top, planned=self.planned)
            typer.echo(view.encoded(shown, self.form, asked).decode(), nl=self.form == "json")

    def _show_tables(self, shown: "Tables", choice: TableChoice) -> None:
        from fldp.presentation import questions as view
        from fldp.presentation import tables

        rows = self.top or _ROWS
        if choice.associations:
            tables.show(view.associations_table(shown.associations(self.level)), *view.notes(shown))
        elif choice.cross:
            tables.show(*view.cross_parts(shown.cross(*choice.cross), self.level))
        elif choice.question:
            one = view.estimate_of(shown, choice.question, self.planned)
            tables.show(tables.estimate_table(one, self.level, rows), *tables.estimate_notes(one))
        else:
            tables.show(*view.parts(shown, self.level, rows, self.planned))

    def _watched(self, estimate: "Estimate") -> "Estimate":
        if self.planned is None:
            return estimate
        from fldp.data.anytime_estimate import watch

        return watch(estimate, self.planned)

    def _save(self, estimate: "Estimate") -> None:
        if self.plot is not None:
            from fldp.presentation.plot import save_bars

            save_bars(estimate, self.plot, level=self.level, k=self.top or _ROWS)
            note(f"saved {self.plot}")
