"""Estimates of a survey's tallies, comparisons of them, and tests of their integrity, as queries ask for them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fldp import privacy
from fldp.collector.service.answers import checkpoint
from fldp.collector.service.problems import Problem
from fldp.collector.storage.protocol import Days
from fldp.data.anytime_estimate import watch
from fldp.data.estimate import Estimate
from fldp.data.postprocess import postprocess
from fldp.data.reports import Reports, Tally
from fldp.errors import DomainError, ParameterError
from fldp.interface.models import CompareQuery, EstimatesQuery
from fldp.oracles.sampled.tables import Tables
from fldp.presentation import comparison, questions
from fldp.presentation.integrity import facts as integrity_facts
from fldp.support.canonical_json import Json
from fldp.survey.survey import Survey

Strings = tuple[str, ...]
SHARED_NOISE = (
    "The same people report again and again, and their reports share what their devices keep. So intervals over more "
    "than one day are too narrow, and hold for no look: choose one day."
)


def estimate(
    survey: Survey,
    tally: Tally,
    query: EstimatesQuery,
    days: Days,
    candidates: Strings | None = None,
    prior: Sequence[float] | None = None,
) -> Estimate:
    """Estimate the counts of all labels, or of the candidates where the answers are strings."""
    counts = _counts(survey, tally, _options(query.decoder, query.method), candidates)
    checkpoint()
    counts = postprocess(counts, query.post, prior=prior) if query.post else counts
    if survey.keeps and days[0] != days[1]:
        return replace(counts, basis=replace(counts.basis, remark=SHARED_NOISE))
    return watch(counts, survey.planned) if query.anytime else counts


def encoded_tables(survey: Survey, tally: Tally, query: EstimatesQuery, form: str, facts: Mapping[str, Json]) -> bytes:
    """Estimate the tables of several questions, and write those that are asked for in a format."""
    cross = None if query.cross is None else tuple(query.cross.split(","))
    if cross is not None and len(cross) != 2:
        raise Problem(422, "parameter", "cross must name two questions, as in os,plan")
    try:
        asked = questions.AskedTables(
            query.question,
            cross,
            bool(query.associations),
            query.level,
            query.top,
            survey.collect["minimum"],
            survey.planned if query.anytime else None,
        )
        tables = _tables(survey, tally, _options(query.decoder, query.method))
        method = query.post or ("consistent" if query.consistent else None)
        return questions.encoded(postprocess(tables, method) if method else tables, form, asked, facts)
    except questions.TooFewError as error:
        raise _too_few(survey, error) from None
    except ParameterError as error:
        raise Problem(422, "parameter", str(error)) from None


def integrity(survey: Survey, tally: Tally, reports: Reports | None, *, anytime: bool) -> dict[str, Json]:
    """Test whether reports, or their tally where there are none, look as honest ones do."""
    return integrity_facts(privacy.integrity(reports or tally, tally=tally, anytime=anytime), survey.label)


def compare(
    survey: Survey, tallies: tuple[Tally, Tally], query: CompareQuery, candidates: Strings | None = None
) -> comparison.Change:
    """Compare two tallies of a survey; of several questions, the one that is named."""
    if query.question is None:
        before, after = (_counts(survey, tally, _options(query.decoder), candidates) for tally in tallies)
    else:
        before, after = (_of_question(survey, tally, query) for tally in tallies)
    planned = survey.planned if query.anytime else None
    change = comparison.facts(before, after, query.level, top=query.top, anytime=planned)
    if query.question is not None:
        change["question"] = query.question
    return change


def _options(decoder: str | None, method: str | None = None) -> dict[str, str]:
    return {name: value for name, value in {"decoder": decoder, "method": method}.items() if value}


def _counts(survey: Survey, tally: Tally, options: Mapping[str, object], candidates: Strings | None) -> Estimate:
    if candidates is None:
        return survey.estimate(tally, **options)
    try:
        return survey.estimate(tally, candidates=candidates, **options)
    except DomainError as error:  # too many candidates, or too much alike
        raise Problem(422, "candidates", str(error)) from None


def _tables(survey: Survey, tally: Tally, options: Mapping[str, object]) -> Tables:
    tables: object = survey.estimate(tally, **options)
    assert isinstance(tables, Tables)
    return tables


def _of_question(survey: Survey, tally: Tally, query: CompareQuery) -> Estimate:
    """Estimate one of several questions, which enough reports must be about."""
    name = query.question or ""
    tables = _tables(survey, tally, {})
    try:
        questions.AskedTables(name, level=query.level, minimum=survey.collect["minimum"]).require(tables, [name])
    except questions.TooFewError as error:
        raise _too_few(survey, error) from None
    return questions.estimate_of(tables, name)


def _too_few(survey: Survey, error: questions.TooFewError) -> Problem:
    return Problem(403, "too-few", str(error), minimum=survey.collect["minimum"])
