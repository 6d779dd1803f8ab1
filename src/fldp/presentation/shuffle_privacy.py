"""What a crowd adds to privacy: sentences, JSON, a plot."""

from pathlib import Path

from fldp.oracles.base.oracle import Oracle
from fldp.oracles.shuffle_privacy import MIN_PEOPLE, Shuffled, shuffled, stated
from fldp.presentation.card import crowd_facts
from fldp.presentation.card_text import TWO_LOOKS, in_a_crowd, number, short
from fldp.presentation.figure_style import logarithmic
from fldp.presentation.plot import INK, colour_of, figure, save
from fldp.support.canonical_json import Json
from fldp.survey.survey import Survey
from fldp.wire.description import describe

_MAX_DRAWN = 10**9  # reports
_NAMES = {"collector_epsilon": "epsilon, for the collector", "epsilon": "epsilon, for totals", "honest": "honest share"}
CONDITIONS = (
    "This holds for published totals alone: not for the collector, nor for its database.",
    TWO_LOOKS,
    "Fakes hide nobody from those who sent them, so only honest answers count: --honest says how many at least.",
)


def unsaid(survey: Survey | None, crowd: Shuffled, oracle: Oracle) -> str | None:
    """Return why people must not be told of the crowd; None where they may."""
    if survey is not None and survey.repeat != "once":
        return "People answer this survey again and again; a crowd hides one report of each, and not all of them."
    if survey is not None and survey.derives and survey.pass_terms is None:
        return "Tickets decide a part of each report, which tells their maker who sent it: a crowd adds nothing."
    if not stated(crowd, oracle):
        least = f"at least {MIN_PEOPLE:,} honest answers that bring epsilon to half or less"
        return f"Too few to speak of a crowd: it takes {least}; these are {crowd.people:,}."
    return None


def facts(crowd: Shuffled, oracle: Oracle, survey: Survey | None) -> dict[str, Json]:
    """Return the numbers, whether they may be told, and the sentences."""
    reason = unsaid(survey, crowd, oracle)
    return {
        "oracle": describe(oracle),
        "survey": survey.version if survey else None,
        "eta": float(oracle.eta),
        "collector_epsilon": oracle.epsilon,
        **crowd_facts(crowd),
        "stated": reason is None,
        "words": list(words(crowd, oracle, survey)),
    }


def words(crowd: Shuffled, oracle: Oracle, survey: Survey | None) -> tuple[str, ...]:
    """Return what may be told of a crowd, with its conditions; or why nothing may."""
    reason = unsaid(survey, crowd, oracle)
    return (reason,) if reason else (in_a_crowd(crowd, oracle.epsilon), *CONDITIONS)


def shown(facts: dict[str, Json]) -> dict[str, Json]:
    """Return the facts as people read them: digits that matter, and nothing that is not there."""
    rows: dict[str, Json] = {name: value for name, value in facts.items() if name not in ("words", "stated")}
    rows |= {name: number(float(str(facts[name]))) for name in ("epsilon", "gamma")}
    rows["delta"], rows["eta"] = short(float(str(facts["delta"]))), number(float(str(facts["eta"])))
    return {_NAMES.get(name, name): value for name, value in rows.items() if value is not None}


def save_curve(crowd: Shuffled, oracle: Oracle, path: Path) -> None:
    """Save epsilon against the number of reports, with the same delta and share of honest people, as PNG or SVG."""
    sizes = [size for power in range(3, 10) for size in (10**power, 3 * 10**power) if size <= _MAX_DRAWN]
    points = [shuffled(oracle, size, delta=crowd.delta, honest=crowd.honest).epsilon for size in sizes]
    drawn, axes = figure(7.0, 4.4)
    axes.plot(sizes, points, "o-", color=colour_of(oracle.name), markersize=3, label="who sees totals only")
    axes.axhline(oracle.epsilon, color=INK, linestyle="--", linewidth=1.2, label="the collector")
    axes.plot(crowd.reports, crowd.epsilon, "o", color=colour_of(oracle.name), markeredgecolor=INK, zorder=4)
    axes.set(xscale="log", yscale="log", xlabel="reports", ylabel="epsilon")
    logarithmic(axes.xaxis)
    title = f"{oracle.title}, delta {short(crowd.delta)}, {100 * crowd.honest:g} % of all answers honest"
    axes.set_title(title, loc="left", fontsize=10, color=INK)
    axes.legend(frameon=False, fontsize=8.5)
    save(drawn, path)
