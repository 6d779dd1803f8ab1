"""Results of the attacks on an oracle: facts, a table, JSON, a picture."""

import json
from pathlib import Path

from rich.table import Table

from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.exposure import exposure
from fldp.presentation.plot import FAINT, INK, Axes, colour_of, figure, save
from fldp.privacy.attacker import Attack
from fldp.privacy.bayes_attack import Averaging, Guess
from fldp.privacy.elimination_attack import Repeats
from fldp.support.canonical_json import Json
from fldp.wire.description import describe

ADVICE = (
    "A client that answers once and repeats that same answer stays at one report; "
    "one that draws a new answer each time does not."
)
SIMULATED = "Rows are simulated: where they differ by a few standard errors or less, the difference may be chance."


def facts(results: Attack) -> dict[str, Json]:
    """Return what one report gives away, and how many reveal the value."""
    return {**guess_facts(results.guess), "known for certain": _known(results.repeats)}


def guess_facts(guess: Guess) -> dict[str, Json]:
    """Return what one report gives away."""
    oracle = guess.oracle
    sure = "exact" if guess.exact else f"standard error {_percent(guess.stderr)}"
    least = f"at least {oracle.anonymity:,} of {oracle.domain_size:,}"
    return {
        **_about(oracle),
        "best guess, no report": f"right in {_percent(guess.before)}",
        "best guess, one report": f"right in {_percent(guess.after)}, {guess.gain:.3g} times as often ({sure})",
        "values left by a report": f"{least}, {guess.left:,.1f} on average",
    }


def repeats_facts(repeats: Repeats) -> dict[str, Json]:
    """Return how many reports reveal the value for certain."""
    return {**_about(repeats.oracle), "known for certain": _known(repeats)}


def averaging_parts(averaging: Averaging) -> list[object]:
    """Return what to show of guesses after many reports: the oracle, and a table."""
    return [_about(averaging.oracle), "", _guesses(averaging, _columns(averaging))]


def _about(oracle: FrequencyOracle) -> dict[str, Json]:
    return {"oracle": describe(oracle), "eta": str(oracle.eta), "gives away": exposure(oracle)}


def _known(repeats: Repeats) -> str:
    median, most = repeats.within(0.5), repeats.within(0.99)
    if median is None:
        return "never: no number of reports leaves one value alone possible"
    often = f"99 % within {most}" if most is not None else "99 % within none that was tried"
    how = "exact" if repeats.exact else f"of {repeats.trials:,} trials"
    return f"after {median} independent reports in the median, {often} ({how}), whatever epsilon is"


def averaging_table(results: Attack) -> Table:
    """Return a table of the success of the best guess by the number of reports, independent or repeated."""
    return _guesses(results.averaging, _rows(results))


_MORE = {"certain": "known for certain", "repeated": "the same repeated"}


def _guesses(averaging: Averaging, rows: list[dict[str, float]]) -> Table:
    title = f"How often the best guess is right, over {averaging.trials:,} trials"
    table = Table(title=title, title_justify="left")
    more = [name for name in _MORE if name in rows[0]]
    for heading in ("reports", "independent", "std. error", *(_MORE[name] for name in more)):
        table.add_column(heading, justify="right")
    for row in (row for row in rows if int(row["reports"]).bit_count() == 1 or row is rows[-1]):
        error = _percent(row["stderr"]) if row["stderr"] >= 1e-4 else "< 0.01 %"
        table.add_row(f"{row['reports']:,}", _percent(row["success"]), error, *(_percent(row[name]) for name in more))
    return table


def as_json(results: Attack) -> str:
    """Return the results as JSON."""
    guess, repeats, oracle = results.guess, results.repeats, results.oracle
    content = {
        "oracle": describe(oracle),
        "eta": float(oracle.eta),
        "anonymity": oracle.anonymity,
        "one_report": {
            "before": guess.before,
            "after": guess.after,
            "gain": guess.gain,
            "left": guess.left,
            "exact": guess.exact,
            "stderr": guess.stderr,
        },
        "known": {
            "median": repeats.within(0.5),
            "within_99": repeats.within(0.99),
            "mean": repeats.mean,
            "exact": repeats.exact,
            "trials": repeats.trials,
        },
        "averaging": _rows(results),
        "trials": results.averaging.trials,
    }
    return json.dumps(content, ensure_ascii=False, indent=1)


def save_picture(results: Attack, path: Path) -> None:
    """Save the attacker's success against the number of reports, as PNG or SVG."""
    drawn, axes = figure(7.5, 4.4)
    guess, oracle, averaging = results.guess, results.oracle, results.averaging
    colour, reports = colour_of(oracle.name), averaging.reports
    new, same = "a new answer each time", "the same answer each time"
    axes.fill_between(
        reports,
        averaging.success - 2 * averaging.stderr,
        averaging.success + 2 * averaging.stderr,
        color=colour,
        alpha=0.25,
    )
    axes.plot(reports, averaging.success, "o-", color=colour, markersize=3.5, label=f"{new}: the best guess is right")
    if results.certain.any():
        axes.plot(reports, results.certain, "--", color=colour, label=f"{new}: no other value is possible")
    axes.axhline(guess.after, color=INK, linewidth=1.8, zorder=1.8, label=f"{same}: {_percent(guess.after)} right")
    axes.axhline(
        guess.before, color=FAINT, linewidth=1.8, zorder=1.7, label=f"no answer: {_percent(guess.before)} right"
    )
    _scale(axes, reports.tolist())
    axes.set_title(_title(oracle), loc="left", fontsize=10, color=INK)
    drawn.legend(frameon=False, fontsize=8.5, loc="outside lower center", ncols=2)
    save(drawn, path)


def _scale(axes: Axes, reports: list[int]) -> None:
    """Label the axes: numbers of reports that are powers of two, and chances in percent."""
    axes.set(xscale="log", ylim=(-0.02, 1.04), xlabel="answers of one person", ylabel="chance")
    axes.set_xticks(*zip(*((count, f"{count:,}") for count in reports if count.bit_count() == 1), strict=True))
    axes.set_xticks([], minor=True)
    axes.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f} %")


def _title(oracle: FrequencyOracle) -> str:
    """Return what is attacked, and what one report rules out."""
    some = f"leaves at least {oracle.anonymity:,} possible"
    left = "rules out none" if oracle.anonymity == oracle.domain_size else some
    values = f"{oracle.domain_size:,} values"
    return f"{oracle.title} at epsilon {oracle.epsilon:g}, eta {oracle.eta}, {values}; a report {left}"


def _rows(results: Attack) -> list[dict[str, float]]:
    more = zip(_columns(results.averaging), results.certain.tolist(), strict=True)
    return [{**row, "certain": certain, "repeated": results.guess.after} for row, certain in more]


def _columns(averaging: Averaging) -> list[dict[str, float]]:
    columns = (averaging.reports.tolist(), averaging.success.tolist(), averaging.stderr.tolist())
    return [dict(zip(("reports", "success", "stderr"), row, strict=True)) for row in zip(*columns, strict=True)]


def _percent(share: float) -> str:
    return ">99.9 %" if 0.9995 <= share < 1 else f"{100 * share:.3g} %"
