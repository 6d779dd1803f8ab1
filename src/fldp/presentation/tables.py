"""Tables for people, CSV and JSON for programs: estimates, oracles, surveys, verifications."""

import csv
import io
import json
import re
import sys
from collections.abc import Collection, Iterable, Mapping
from fractions import Fraction
from shutil import get_terminal_size
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from rich.console import Console
from rich.table import Table

from fldp.data.estimate import Estimate
from fldp.data.reports import Tally
from fldp.estimation.combine import Combined
from fldp.oracles.base.analysis import analysis
from fldp.oracles.base.oracle import Oracle
from fldp.oracles.exposure import exposure
from fldp.presentation.interval_notes import watched_facts, watched_notes
from fldp.search.rounds import Round
from fldp.support.canonical_json import Json
from fldp.support.csv_cells import escape_row
from fldp.support.validation import counted, is_integer
from fldp.survey.survey import Survey
from fldp.wire.description import describe
from fldp.wire.files import Content

if TYPE_CHECKING:
    from fldp.privacy.verifier import Verification, Witness

_WIDTH = 120  # of what goes to no terminal
# What could move the cursor, colour a terminal, or turn the direction of a line around.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def console() -> Console:
    """Return the console on standard output; wide enough for a table if that is not a terminal."""
    width = None if sys.stdout.isatty() else _WIDTH
    return Console(width=width, markup=False, emoji=False, highlight=False)


def visible(text: str) -> str:
    r"""Return somebody's text for one line, with a mark for each character that could change the screen.

    >>> visible("red \x1b[31m\nline")
    'red �[31m�line'
    """
    return _UNSAFE.sub("\N{REPLACEMENT CHARACTER}", text)


def label(estimate: Estimate, value: int) -> str:
    """Return the label of a value, or its number."""
    return estimate.labels[value] if estimate.labels is not None else str(value)


def estimate_table(estimate: Estimate, level: float, k: int) -> Table:
    """Return the ``k`` largest estimates as a table."""
    size = len(estimate.counts)
    title = f"The {min(k, size):,} largest of {size:,} estimates"
    return estimate_rows_table(title, estimate_rows(estimate, level, k), level)


def estimate_rows_table(title: str, rows: Iterable[Mapping[str, Json]], level: float) -> Table:
    """Return rows of estimates as a table; labels are shown as they are, without markup."""
    table = Table(title=title, title_justify="left")
    table.add_column("value")
    for heading in ("estimate", "std. error", f"{100 * level:.4g} % interval", "share"):
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(
            visible(str(row["label"])),
            f"{row['count']:,.1f}",
            f"{row['stderr']:,.1f}",
            f"{row['low']:,.1f} .. {row['high']:,.1f}",
            f"{row['frequency']:.3%}",
        )
    return table


_INTERVALS = (
    "The intervals belong to the unbiased estimate.",
    "Rare values are drawn towards each other, and a value that is not clearly seen is shrunk: for one value, the top "
    "or a sum take the unbiased estimate. The intervals are credible ones, for all values on average.",
)


def estimate_notes(estimate: Estimate) -> list[str]:
    """Return the notes below an estimate: first of all whether reports are too few."""
    parts = estimate.parts if isinstance(estimate, Combined) else (estimate,)
    notes = [*([] if estimate.note is None else [estimate.note]), *map(_source, parts)]
    if estimate.convergence is not None:
        ended = "converged" if estimate.convergence.converged else "did NOT converge"
        notes.append(f"The iteration {ended} after {estimate.convergence.iterations} steps.")
    if not estimate.oracle.estimator.runs:
        rest = estimate.rest
        notes.append(f"None of these candidates: {rest.count:,.1f}, standard error {rest.stderr:,.1f}.")
    if estimate.original is not None:
        notes.append(f"By {estimate.method}: biased. {_INTERVALS[estimate.basis.posterior is not None]}")
    if estimate.basis.remark is not None:
        notes.append(estimate.basis.remark)
    return [*notes, *watched_notes(estimate), *dict.fromkeys(exposure(part.oracle) for part in parts)]


def _source(estimate: Estimate) -> str:
    """Say which reports an estimate comes from."""
    oracle = estimate.oracle
    decoder = estimate.options.get("decoder", *oracle.estimator.decoders[:1]) if oracle.estimator.decoders else None
    reports = counted(estimate.n, "report")
    return f"{reports} of {oracle!r}, eta {oracle.eta}" + (f", decoder {decoder}" if decoder else "")


def estimate_rows(estimate: Estimate, level: float, top: int | None) -> list[dict[str, Json]]:
    """Return estimates as rows of JSON values, with their labels."""
    rows = estimate.table(level) if top is None else estimate.top(top, level)
    named = []
    for row in rows:
        cells = {name: row[name].item() for name in row.dtype.names}
        named.append({"value": cells.pop("value"), "label": label(estimate, int(row["value"])), **cells})
    return named


def _rest(estimate: Estimate) -> dict[str, Json]:
    """Return the estimated number of people outside the candidates, for an oracle over strings."""
    if estimate.oracle.estimator.runs:
        return {}
    rest = estimate.rest
    return {"rest": {"count": rest.count, "stderr": rest.stderr}}


def as_json(estimate: Estimate, level: float, top: int | None, more: Mapping[str, Json] = MappingProxyType({})) -> str:
    """Return an estimate as JSON, with ``more`` that is known of its reports."""
    oracle = estimate.oracle
    return json.dumps(
        {
            "oracle": describe(oracle),
            "eta": float(oracle.eta),
            "anonymity": oracle.anonymity,
            "n": estimate.n,
            **more,
            "options": dict(estimate.options),
            "method": estimate.method,
            "biased": estimate.biased,
            "level": level,
            **({} if estimate.note is None else {"note": estimate.note}),
            **({} if estimate.basis.remark is None else {"remark": estimate.basis.remark}),
            **_rest(estimate),
            **watched_facts(estimate),
            "rows": estimate_rows(estimate, level, top),
        },
        ensure_ascii=False,
        indent=1,
    )


def as_csv(estimate: Estimate, level: float, top: int | None) -> str:
    """Return an estimate as CSV."""
    rows = estimate_rows(estimate, level, top)
    return csv_text(rows[0], rows)


class _Lines(io.StringIO):
    r"""Lines that end in ``\n``. The writer has to use ``\r\n``, since it quotes only cells with its line ending."""

    def write(self, line: str) -> int:
        return super().write(line.removesuffix("\r\n") + "\n")


def csv_text(names: Collection[str], rows: Iterable[dict[str, Json]]) -> str:
    """Return rows as CSV with a header; cells that a spreadsheet would run as formulas are escaped."""
    out = _Lines()
    writer = csv.DictWriter(out, names, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(map(escape_row, rows))
    return out.getvalue()


def show(*renderables: object) -> None:
    """Print tables and sentences for people."""
    _print(console(), renderables)


def rendered(*renderables: object) -> str:
    """Return tables, sentences and named facts as ``show`` prints them, without colours."""
    target = Console(
        file=io.StringIO(), width=screen_width(), color_system=None, force_jupyter=False,
        markup=False, emoji=False, highlight=False,
    )  # fmt: skip
    with target.capture() as captured:
        _print(target, renderables)
    return "\n".join(line.rstrip() for line in captured.get().rstrip("\n").split("\n"))


def screen_width() -> int:
    """Return the width of the terminal, or one that is wide enough for a table."""
    return get_terminal_size((_WIDTH, 0)).columns if sys.stdout is not None and sys.stdout.isatty() else _WIDTH


def _print(target: Console, renderables: Iterable[object]) -> None:
    for renderable in renderables:
        for part in fact_lines(renderable) if isinstance(renderable, dict) else [renderable]:
            target.print(part, soft_wrap=isinstance(part, str), highlight=False, markup=False)


def show_facts(facts: dict[str, Json], as_json: bool) -> None:
    """Print named facts, one per line, or as JSON."""
    show(json.dumps(facts, ensure_ascii=False, indent=1) if as_json else facts)


def fact_lines(facts: Mapping[str, Json]) -> list[str]:
    """Return named facts as lines of two columns.

    >>> fact_lines({"reports": 1000, "eta": "1"})
    ['reports  1,000', 'eta      1']
    """
    width = max(map(len, facts)) + 2
    return [f"{name:<{width}}{fact_text(value)}" for name, value in facts.items()]


def fact_text(value: Json) -> str:
    """Return a fact as text for people."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {fact_text(part) if isinstance(part, str) else part}" for name, part in value.items())
    return f"{value:,}" if is_integer(value) else visible(str(value))


def oracle_facts(oracle: Oracle) -> dict[str, Json]:
    """Return what an oracle costs and gives away."""
    return {
        "oracle": describe(oracle),
        "eta": str(oracle.eta),
        "anonymity": "all strings" if _is_of_strings(oracle) else oracle.anonymity,
        "bits a report": oracle.report_format.bits,
        "gives away": exposure(oracle),
    }


def _is_of_strings(oracle: Oracle) -> bool:
    about = analysis(oracle)
    return about.domain_size is None and about.answers is None


def tally_facts(tally: Tally) -> dict[str, Json]:
    """Return what a tally counts."""
    return {"reports": tally.n, **oracle_facts(tally.oracle)}


def content_facts(content: Content) -> dict[str, Json]:
    """Return what a file holds."""
    counted = tally_facts(content.tally)
    named = content.survey or "none named"
    return {"holds": content.kind, "reports": counted.pop("reports"), "survey": named, **counted}


def verification_facts(
    verification: "Verification", oracle: Oracle | None, at: Iterable[float] = (), *, exactly: bool = True
) -> dict[str, Json]:
    """Return the results of a verification, with the deltas at some epsilons: ``exactly``, or in words."""
    enumerated, scope = _enumerated(verification, oracle)
    facts: dict[str, Json] = {
        **({"oracle": describe(oracle)} if oracle else {}),
        **enumerated,
        "epsilon": verification.epsilon,
        **{f"epsilon of {name}": epsilon for name, epsilon in verification.lasting.items()},
        "eta": str(verification.eta) if exactly else _share(verification.eta),
        "eta by mass": str(verification.eta_mass) if exactly else _share(verification.eta_mass),
        "kind": _kind(verification),
        "delta": float(verification.delta),
        **{f"delta at {epsilon:g}": float(verification.delta_at(epsilon)) for epsilon in at},
        "values left": f"at least {verification.anonymity}, {float(verification.anonymity_mean):g} on average, "
        f"of {verification.domain_size:,}",
        "witness": str(verification.witness) if exactly else witness_text(verification.witness),
    }
    return facts | (
        {}
        if verification.notion is None
        else {"claim": str(verification.judgement), "verdict": _verdict(verification, scope)}
    )


def _enumerated(verification: "Verification", oracle: Oracle | None) -> tuple[dict[str, Json], str]:
    """Return which values a verification is about, where these are not all, and what that leaves of its verdict."""
    size, whole = verification.domain_size, analysis(oracle).domain_size if oracle else None
    if verification.oracle and analysis(verification.oracle).candidates is not None:
        return {"among": f"{size:,} strings"}, ""
    if verification.oracle and oracle and (compared := analysis(verification.oracle).compared(oracle)):
        return {**compared}, " on these records"
    if whole in (None, size):
        return {}, ""
    same = verification.oracle and oracle and analysis(verification.oracle).coin == analysis(oracle).coin
    coins = "with the same coin" if same else "with a coin of their own"
    scope = "" if same else f" on {size} values; for {whole:,} it is not proved"
    return {"enumerated": f"on {size} values, {coins}: the law of {whole:,} is too large"}, scope


def _share(share: Fraction) -> str:
    """Return a share as a short fraction, or as a decimal number.

    >>> _share(Fraction(2, 3)), _share(Fraction(2480546785415990427, 4611686018427387904))
    ('2/3', 'about 0.537883')
    """
    return str(share) if share.denominator < 10_000 else f"about {float(share):.6g}"


def witness_text(witness: "Witness") -> str:
    """Say which report distinguishes which two values best, and how well.

    >>> from fldp import Witness
    >>> witness_text(Witness(0, 1, 0, None, Fraction(3)))
    'report 0 is 3 times as likely from value 0 as from value 1'
    """
    report = "a report" if witness.report is None else f"report {_short(witness.report)}"
    if witness.public is not None:
        report += f" with {_short(witness.public)}"
    if witness.ratio is None:
        return f"{report} can come from value {witness.value}, and cannot come from value {witness.other}"
    times = f"{float(witness.ratio):.6g} times as likely"
    return f"{report} is {times} from value {witness.value} as from value {witness.other}"


def _short(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= 60 else f"{text[:56]} ..."


def _kind(verification: "Verification") -> str:
    if verification.eta == 1:
        return "plain LDP: any two values share all reports"
    if verification.strong:
        return "strong FLDP: any two values share reports, but some reports rule out values for certain"
    return "weak FLDP: some values share no report, so a report tells them apart for certain"


def _verdict(verification: "Verification", scope: str = "") -> str:
    if verification.holds:
        return f"holds{scope}"
    if verification.judgement.holds and not verification.keeps_eta:
        least = float(min(verification.eta, verification.eta_mass))
        return f"DOES NOT HOLD: two values can share {least:.3g} of their reports, less than the oracle says"
    if verification.judgement.holds:
        return f"DOES NOT HOLD: a report can leave {verification.anonymity} values possible, fewer than the oracle says"
    return "DOES NOT HOLD"


def survey_facts(survey: Survey) -> dict[str, Json]:
    """Return what a survey asks, and what an answer gives away."""
    labels = survey.labels or ()
    shown = ", ".join(labels[:8]) + (", ..." if len(labels) > 8 else "")
    collect: Mapping[str, Any] = dict(survey.collect)
    return {
        "name": survey.name,
        "version": survey.version,
        "question": survey.question,
        **_values(survey, f": {shown}" if labels else ""),
        **({} if survey.search is None else {"search": _stage(survey.search)}),
        **oracle_facts(survey.oracle),
        "collect": {name: value for name, value in collect.items() if value not in (None, [])},
    }


def _stage(question: Round) -> str:
    of = f"round {question.number} of at most {question.search.rounds + 1}"
    return of if question.is_last else f"{of}, goes on after {question.search.quota:,} reports"


def _values(survey: Survey, shown: str) -> dict[str, Json]:
    """Return what may be answered; of several questions each, and how they are asked."""
    if not survey.questions:
        return {"values": _how_many(survey) + shown}
    sizes = {each.name: f"{each.size:,} answers{', one of them none' * each.optional}" for each in survey.questions}
    return {
        "questions": sizes,
        "asks": "all questions" if survey.ask == "all" else "the questions that chance draws",
    }


def _how_many(survey: Survey) -> str:
    return "strings" if survey.domain_size is None else f"{survey.domain_size:,}"


def text_bars(estimate: Estimate, truth: ArrayLike, k: int = 20, width: int = 60) -> str:
    """Draw bars with error bars as text: = up to the low end, ~ over the interval, | the truth.

    >>> import fldp
    >>> oracle = fldp.GRR(epsilon=4.0, domain_size=3)
    >>> print(text_bars(oracle.estimate(fldp.Tally(oracle, [600, 300, 100], 1000)), [600, 300, 100], width=30))
    0   =============================|
    1   ==============|
    2   ====~|
    """
    rows, real = estimate.top(k), np.asarray(truth)
    scale = width / max(float(np.max(rows["high"])), 1.0)
    lines = []
    for row in rows:
        low, high = (max(0, round(float(row[end]) * scale)) for end in ("low", "high"))
        bar = list("=" * low + "~" * (high - low)) + [" "] * (width + 1 - high)
        bar[min(width, max(0, round(float(real[row["value"]]) * scale)))] = "|"
        lines.append(f"{label(estimate, int(row['value'])):<4}" + "".join(bar).rstrip())
    return "\n".join(lines)
