"""Notes on intervals: whether they hold for one look that was planned, or whenever somebody looks."""

from fldp.data.anytime_estimate import AnytimeEstimate
from fldp.data.anytime_intervals import AnytimeComparison
from fldp.data.comparison import Comparison
from fldp.data.estimate import Estimate
from fldp.data.number import Number
from fldp.oracles.sampled.tables import TableEstimate
from fldp.support.canonical_json import Json

ALL_LOOKS = "These intervals hold for all values and whenever you look."
QUESTION_LOOKS = "The intervals of a question hold for all of its answers at once, and whenever you look."
ONE_VALUE = "Every interval holds for its value alone, and whenever you look."
ONE_FIGURE = "Every interval holds for its figure alone, the interval of the CDF for all edges, and whenever you look."
CONDITIONS = (
    "This holds for days that were chosen before looking, and where reports were taken back, only if that did not "
    "depend on what they said."
)


def watched_facts(subject: Estimate | Comparison) -> dict[str, Json]:
    """Return what JSON says about looks: nothing where there is one."""
    if isinstance(subject, AnytimeEstimate):
        return {"anytime": {"planned": subject.planned}, "simultaneous": subject.simultaneous}
    if isinstance(subject, TableEstimate) and subject.planned is not None:
        return {"anytime": {"planned": subject.planned}, "simultaneous": True}
    if isinstance(subject, AnytimeComparison) or (isinstance(subject, Number) and subject.planned is not None):
        return {"anytime": {"planned": subject.planned}}
    return {}


def watched_notes(estimate: Estimate) -> list[str]:
    """Return what to tell people about looks."""
    if isinstance(estimate, Number) and estimate.planned is not None:
        return [f"{ONE_FIGURE} {CONDITIONS}"]
    if isinstance(estimate, TableEstimate) and estimate.planned is not None:
        return [f"{QUESTION_LOOKS} {CONDITIONS}"]
    if not isinstance(estimate, AnytimeEstimate):
        return []
    return [f"{ALL_LOOKS if estimate.simultaneous else ONE_VALUE} {CONDITIONS}"]
