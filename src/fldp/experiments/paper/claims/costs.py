"""Claims of section 5.2.3: what FHR costs."""

from math import ceil, log2

from fldp.experiments.paper.claims.claim import ClaimFinding, Outcome, claim, settle, undecided
from fldp.experiments.paper.costs import Cost, duration
from fldp.experiments.paper.evidence import Evidence

PART = "Its cost"
COMPETITORS = ("olh", "oue", "sue")
GROWS = 1.2  # a larger slowdown for ten times the reports is no accident


@claim("communication", PART, "A report of FHR takes 2r + 1 bits.", "5.1, Perturbation; Table 2", "costs")
def communication(evidence: Evidence) -> ClaimFinding:
    """The order of the two positions carries the sign."""
    size = evidence.population.domain_size
    r, bits = ceil(log2(size + 1)), evidence.oracle("fhr", size).report_format.bits
    return settle(
        bits == 2 * r + 1,
        bits == 2 * r,
        f"{bits} bits, not {2 * r + 1}",
        f"For {size:,} values, r = {r} and 2r + 1 = {2 * r + 1}. The pair ordered after the flip takes {bits} bits "
        "on the wire, 2r: its order is the sign, and the form with a sign bit gives the flip away (see message).",
    )


@claim(
    "communication-table",
    PART,
    "Table 2, communication: log n + log g for OLH, |I| for RAPPOR and OUE; FHR's is minimal.",
    "5.2.3, Table 2",
    "costs",
)
def communication_table(evidence: Evidence) -> ClaimFinding:
    """Least of those in the paper's table, not of all oracles."""
    sizes = {cost.oracle.name: cost.bits for cost in reversed(evidence.costs)}
    if not {"fhr", *COMPETITORS} <= sizes.keys():
        return undecided("costs of the oracles of the table")
    size = evidence.population.domain_size
    least = min(bits for name, bits in sizes.items() if name != "fhr")
    shorter = sorted({(bits, name) for name, bits in sizes.items() if bits < sizes["fhr"]})
    listing = ", ".join(f"{name} {bits:,}" for bits, name in shorter)
    return settle(
        sizes["fhr"] < least and sizes["oue"] == size,
        all(sizes["fhr"] < sizes[name] for name in COMPETITORS) and sizes["oue"] == sizes["sue"] == size,
        f"{sizes['fhr']} bits; {least} is the least",
        f"Bits for {size:,} values at epsilon {evidence.epsilon:g}: FHR {sizes['fhr']}, OLH {sizes['olh']} (a 64-bit "
        f"hash seed and a symbol), OUE and RAPPOR {sizes['oue']:,}. FHR is the least of these four; shorter are "
        f"{listing or 'none, of 0 others'}.",
    )


@claim(
    "server-work",
    PART,
    "Table 2, calculation: Omega(n|I|) for OLH, Omega(|I|) for RAPPOR, OUE and FHR.",
    "5.2.3, Table 2",
    "costs",
)
def server_work(evidence: Evidence) -> ClaimFinding:
    """All of them read every report; FHR then estimates all values by one transform."""
    measured = {name: evidence.cost(name) for name in ("fhr", "oue", "olh")}
    costs = {name: cost for name, cost in measured.items() if cost}
    if len(costs) < len(measured):
        return undecided("costs of the oracles of the table")
    fhr, growing = costs["fhr"], [cost.growth > GROWS for cost in costs.values()]
    if any(growing) != all(growing):
        return ClaimFinding(Outcome.OPEN, f"{sum(growing)} of 3 grow", f"{fhr.users:,} reports are too few to tell.")
    growth = ", ".join(f"{name.upper()} {cost.growth:.2g}" for name, cost in costs.items())
    return settle(
        not any(growing),
        fhr.estimate < costs["olh"].tally,
        f"{fhr.growth:.2g} times as long for 10 n",
        f"Slowdown of tallying for ten times the reports: {growth}. So there are n additions as well. FHR: "
        f"{_each(fhr)} a report, then one transform of {duration(fhr.estimate)} for all values; OLH: "
        f"{_each(costs['olh'])} a report.",
    )


def _each(cost: Cost) -> str:
    return duration(cost.tally / cost.users)


@claim("run-time", PART, "FHR has the shortest run time in the experiment.", "5.2.3", "costs")
def run_time(evidence: Evidence) -> ClaimFinding:
    """Of client and server together, for the paper's three oracles, and then for all of ours."""
    fhr, others = evidence.cost("fhr"), [evidence.cost(name) for name in COMPETITORS]
    if not fhr or not all(others):
        return undecided("costs of its competitors")
    times = ", ".join(f"{cost.oracle.title} {duration(cost.total)}" for cost in [fhr, *others] if cost)
    faster = [cost.oracle for cost in evidence.costs if cost.total < fhr.total]
    return settle(
        all(fhr.total < cost.total for cost in others if cost),
        False,
        f"{min(cost.total for cost in others if cost) / fhr.total:.2g} times as fast as the next",
        f"Client and server together, {fhr.users:,} users, {fhr.oracle.domain_size:,} values: {times}. Of all "
        f"{len(evidence.costs)} timed, {len(faster)} took less time than FHR.",
    )
