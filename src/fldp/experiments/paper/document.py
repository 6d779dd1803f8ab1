"""The document: what was run, every claim with its verdict and its number, the tables, the figures."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

import fldp
from fldp.experiments.paper.attacks import Match
from fldp.experiments.paper.claims import CLAIMS, Outcome, Verdict
from fldp.experiments.paper.claims.measured_variances import measured
from fldp.experiments.paper.claims.panels import AHEAD, panels
from fldp.experiments.paper.costs import duration
from fldp.experiments.paper.evaluation import FOUR
from fldp.experiments.paper.evidence import Evidence
from fldp.experiments.paper.figures import PICTURES
from fldp.oracles.base.analysis import analysis

PARTS = ("The known oracles", "The notion", "The mechanism", "Its accuracy", "Its cost", "The experiments")
SIGNS = {Outcome.HOLDS: "yes", Outcome.CORRECTED: "below 1.76", Outcome.FAILS: "no", Outcome.OPEN: "open"}

Link = Callable[[str], str]


def verdicts(evidence: Evidence) -> list[Verdict]:
    """Return the verdict on every claim, in the order of the document."""
    ordered = sorted(CLAIMS.values(), key=lambda claim: PARTS.index(claim.part))
    return [claim.verdict(evidence) for claim in ordered]


def document(evidence: Evidence, results: list[Verdict], *, full: bool, folder: str, ending: str = "svg") -> str:
    """Return the document as Markdown; pictures are in ``folder``, whose names end as told."""

    def link(name: str) -> str:
        return f"{folder}/{name}.{ending}"

    parts = (
        _opening(evidence, results, full),
        _summary(results, link),
        _panel_tables(evidence),
        _gains(evidence),
        _fair(evidence),
        _costs(evidence),
        _pictures(link),
        _details(results),
    )
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Return the lines of a table.

    >>> table(["a", "b"], [[1, "x"]])
    ['| a | b |', '|---|---|', '| 1 | x |']
    """
    cells = [headings, *rows]
    lines = ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in cells]
    return [lines[0], "|" + "---|" * len(headings), *lines[1:]]


def _opening(evidence: Evidence, results: list[Verdict], full: bool) -> list[str]:
    main, count = evidence.evaluation.main, Counter(verdict.outcome for verdict in results)
    counts = ", ".join(f"{count[outcome]} {_said(outcome, count[outcome])}" for outcome in Outcome if count[outcome])
    how = "every user's own report, through the wire" if full else "`fldp.simulate`"
    datasets = table(
        ["dataset", "users", "values"], ([n, f"{a:,}", f"{b:,}"] for n, (a, b) in evidence.datasets.items())
    )
    return [
        "# The paper, reproduced",
        "",
        "A verdict on every claim of *FLDP: Flexible strategy for local differential privacy* (Zhao et al., arXiv "
        "2203.14875).",
        f"`fldp experiment paper` wrote this page and all its figures: fldp {fldp.__version__}, seed {main.seed}, "
        f"{main.runs} runs, epsilon from {min(main.epsilons):g} to {max(main.epsilons):g}, tallies from {how}. The "
        "same seed gives the same page, except for the times.",
        "",
        f"**Of {len(results)} claims, {counts}.** A number of this run decides each claim. The paper prints some "
        "results as pictures without numbers; for these only the trend can be compared, and the page says so.",
        "",
        *datasets,
    ]


def _said(outcome: Outcome, count: int) -> str:
    if count == 1:
        return outcome.value
    return {
        Outcome.HOLDS: "hold",
        Outcome.CORRECTED: "hold with a correction",
        Outcome.FAILS: "do not hold",
        Outcome.OPEN: "are not decided in this run",
    }[outcome]


def _summary(results: list[Verdict], link: Link) -> list[str]:
    lines = ["## Verdicts"]
    for part in PARTS:
        rows = [
            [
                f"`{v.name}`",
                v.claim,
                v.where,
                _bold(v.outcome),
                v.number,
                f"[{v.figure}]({link(v.figure)})" if v.figure else "",
            ]
            for v in results
            if CLAIMS[v.name].part == part
        ]
        headings = ["claim", "the paper says", "where", "verdict", "the number that decides", "figure"]
        lines += ["", f"### {part}", "", *table(headings, rows)]
    return lines


def _bold(outcome: Outcome) -> str:
    return outcome.value if outcome is Outcome.HOLDS else f"**{outcome.value}**"


def _panel_tables(evidence: Evidence) -> list[str]:
    lines = [
        "## Panel by panel",
        "",
        "Is FHR as published the best of the three? Each cell has the verdict, the number of epsilons at which its "
        "mean is the best, and its lead over the better of OUE and OLH in standard errors, below and above epsilon "
        f"1.76. A lead of {AHEAD:g} counts; by chance one panel in 44 has it. *yes*: as the paper says (for KLD and "
        "NCR at every epsilon, for SE and RE at most of them). *below 1.76*: ahead there, but at fewer epsilons than "
        "the paper says.",
    ]
    sizes = evidence.evaluation.main.top
    for metric in FOUR:
        by_place = {(panel.dataset, panel.k): panel for panel in panels(evidence, metric)}
        rows = []
        for k in sizes:
            cells = [by_place[dataset, k] for dataset in evidence.datasets]
            texts = [f"{SIGNS[p.outcome]}: {p.best} of {p.points}; {_lead(p.below)}, {_lead(p.above)}" for p in cells]
            rows.append([f"top {k}", *texts])
        lines += ["", *table([metric.upper(), *evidence.datasets], rows)]
    return lines


def _lead(lead: float | None) -> str:
    return "none" if lead is None else f"{lead:+.1f}"


def _gains(evidence: Evidence) -> list[str]:
    """Tell apart what the weaker notion gains and what the mechanism gains."""
    name = evidence.population.name
    series = ("OUE", "FWR, eta 1", "FWR, eta 1/2", "FHR, full", "FHR, paper")
    variances = {
        label: {row.epsilon: row for row in measured(evidence, label) if row.dataset == name} for label in series
    }
    rows = []
    for epsilon in evidence.evaluation.main.epsilons:
        values = [variances[label][epsilon].value for label in series]
        plain, weak, full, paper = values[1:]
        gains = (plain / weak, paper / full, paper / weak)
        rows.append([f"{epsilon:g}", *(f"{value:.3g}" for value in values), *(f"{gain:.3g}" for gain in gains)])
    headings = ["epsilon", "OUE, eta 1", *series[1:3], "FHR full, eta 1/2", "FHR published, eta 1/2"]
    return [
        "## The gain of the notion, and the gain of the mechanism",
        "",
        f"Variance of a count divided by the number of users, averaged over all values, measured on {name}. Gains "
        "are ratios. Notion: FWR at eta 1 to FWR at eta 1/2. Decoder: the paper's decoder to the full one, on the same "
        "FHR reports. Mechanism: FHR as published to FWR, at the same eta.",
        "",
        *table([*headings, "notion", "decoder", "mechanism"], rows),
    ]


def _fair(evidence: Evidence) -> list[str]:
    """Compare each weaker promise with plain LDP of the same error."""
    rows = [row for match in evidence.matches for row in _matched_rows(match)]
    before = f"{100 * evidence.attacks[0].informed.before:.1f} %" if evidence.attacks else "unknown"
    blind = sum(match.weak.blind.after < match.plain.blind.after for match in evidence.matches)
    informed = sum(match.weak.informed.after < match.plain.informed.after for match in evidence.matches)
    return [
        "## The same error, and what an attacker gets",
        "",
        "An epsilon with eta 1/2 is not the same promise as an epsilon alone. Here each oracle is compared with OUE, "
        "which is plain LDP, at the epsilon with the same error. Blind: by what factor a report improves the best "
        f"guess if nothing else is known. Informed: how often it is right if the population of "
        f"{evidence.population.name} is known (without a report: {before}). Values left: how many values a report "
        "leaves possible on average. Blind, the "
        f"attacker gets less from the weaker notion than from plain LDP in {blind} of {len(evidence.matches)} pairs; "
        f"informed, in {informed}. Only the weaker notion rules out values for certain.",
        "",
        *table(["oracle", "epsilon", "eta", "error", "guess, blind: factor", "guess, informed", "values left"], rows),
    ]


def _matched_rows(match: Match) -> Iterator[list[object]]:
    """Yield the row of a weaker promise, and that of plain LDP with the same error."""
    decoders = match.weak.oracle.estimator.decoders
    name = f"{match.weak.oracle.title}, {match.decoder}" if decoders else match.weak.oracle.title
    sides = (name, match.weak, match.decoder), ("OUE of the same error", match.plain, "linear")
    for label, attack, decoder in sides:
        oracle = attack.oracle
        guesses = (f"{attack.blind.gain:.3g}", f"{100 * attack.informed.after:.1f} %", f"{attack.blind.left:,.0f}")
        yield [label, f"{oracle.epsilon:.3g}", oracle.eta, f"{attack.errors[decoder]:.3g}", *guesses]


def _costs(evidence: Evidence) -> list[str]:
    users = evidence.costs[0].users if evidence.costs else 0
    rows = [
        [
            f"{cost.oracle.title}, eta {cost.oracle.eta}",
            f"{cost.bits:,}",
            duration(cost.client / users),
            duration(cost.tally / users),
            duration(cost.estimate),
            analysis(cost.oracle).server_work,
        ]
        for cost in evidence.costs
    ]
    return [
        "## Complexity, measured",
        "",
        f"{evidence.population.domain_size:,} values, epsilon {evidence.epsilon:g}, {users:,} users in a batch, one "
        "core, CPU time, the least of several runs. These times are the only figures on this page that differ from "
        "run to run.",
        "",
        *table(
            ["oracle", "bits", "client, per report", "server, per report", "server, all values", "server's work"], rows
        ),
    ]


def _pictures(link: Link) -> list[str]:
    lines = ["## Figures"]
    for picture in PICTURES.values():
        lines += ["", f"### {picture.name}", "", picture.caption, "", f"![{picture.caption}]({link(picture.name)})"]
    return lines


def _details(results: list[Verdict]) -> list[str]:
    lines = ["## How each was decided"]
    for verdict in results:
        lines += ["", f"**`{verdict.name}`** ({verdict.where}): {verdict.outcome.value}. {verdict.evidence}"]
    return lines
