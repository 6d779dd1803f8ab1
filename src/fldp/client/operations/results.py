"""Operations of analysts: estimates, tallies, raw reports."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from fldp.client import replies, requests
from fldp.client.download import MAX_ESTIMATES, MAX_EXPORT, Saved, format_of
from fldp.client.messages import Request
from fldp.client.operations.requesting import AnySurvey, ClientOperation, Requesting
from fldp.client.requests import Day, version_of
from fldp.data.anytime_estimate import watch
from fldp.data.estimate import Estimate
from fldp.data.postprocess import BAYES, postprocess
from fldp.data.reports import Tally
from fldp.distributed.lake.layout import THERE, TOO_FEW, WRITTEN, Window
from fldp.distributed.lake.writing import counts_in, day_name, remove_output, whole_output
from fldp.errors import CollectorError
from fldp.oracles.base.oracle import Oracle
from fldp.support.atomic_files import open_output
from fldp.support.canonical_json import Json
from fldp.support.progress import Progress, ignore
from fldp.support.validation import fail
from fldp.survey.survey import Survey


class Results(Requesting):
    """What a collector has counted, as objects and as files."""

    @ClientOperation
    async def estimates(
        self,
        survey: AnySurvey,
        *,
        top: int | None = None,
        level: float | None = None,
        decoder: str | None = None,
        post: str | None = None,
        since: Day | None = None,
        until: Day | None = None,
        candidates: Iterable[str] | None = None,
        method: str | None = None,
        anytime: bool = False,
        prior: Iterable[float] | None = None,
    ) -> dict[str, Json]:
        """Return estimates as the collector's JSON, of some UTC days or all. Needs a token that may read.

        They are of all values, or if answers are strings, of ``candidates``, by a ``method`` of the oracle. With
        ``anytime``, intervals hold at every look, like the dashboard's. With ``post="bayes"`` (biased), ``prior`` are
        public counts or shares that were expected, one for each value or candidate.
        """
        options = {"top": top, "level": level, "decoder": decoder, "post": post, "since": since, "until": until}
        options |= {"anytime": anytime}
        request = requests.estimating(await self._resolved(survey), "json", candidates, prior, method=method, **options)
        return await self._line.ask(replace(request, remembered=request.method == "GET"), replies.estimated)

    @ClientOperation
    async def estimate(
        self,
        survey: AnySurvey,
        *,
        decoder: str | None = None,
        method: str | None = None,
        post: str | None = None,
        since: Day | None = None,
        until: Day | None = None,
        candidates: Iterable[str] | None = None,
        anytime: bool = False,
        prior: Iterable[float] | None = None,
    ) -> Estimate:
        """Return an ``Estimate`` with labels, of some UTC days or all. Needs a token that may read.

        It is computed here, from the collector's tally, so it is a full ``Estimate``: sums with exact errors,
        comparisons, tables, pictures. For fewer reports than the survey's minimum the collector serves no tally, which
        raises ``CollectorError``. If answers are strings, name ``candidates``::

            with fldp.Client("https://collector.example", token="fldp_read_...") as client:
                week = client.estimate("coffee", since="2026-11-09", until="2026-11-15")
            print(week)
            week.plot().savefig("week.png")

        With ``anytime`` its intervals hold at every look, planned like the dashboard's; of several questions,
        ``tables["load"].watched(survey.planned)`` does that. ``prior`` is the one of ``fldp.postprocess``, for
        ``post="bayes"``.
        """
        known = await self._specified(survey)
        tally = await self._tally(known, known.oracle, since, until)
        options = {"decoder": decoder, "method": method, "candidates": candidates}
        chosen = {name: value for name, value in options.items() if value is not None}
        return await self._line.transport.work(lambda: _estimated(known, tally, chosen, post, prior, anytime=anytime))

    @ClientOperation
    async def tally(
        self,
        survey: AnySurvey,
        *,
        since: Day | None = None,
        until: Day | None = None,
        oracle: Oracle | None = None,
    ) -> Tally:
        """Return the tally of some UTC days or all; ``survey.estimate`` turns it into an estimate."""
        resolved = await self._resolved(survey)
        return await self._tally(resolved, resolved.oracle if isinstance(resolved, Survey) else oracle, since, until)

    async def _tally(self, survey: Survey | str, oracle: Oracle | None, since: Day | None, until: Day | None) -> Tally:
        request = requests.asking("tally", version_of(survey), since=since, until=until)
        request = replace(request, remembered=True, most=requests.MAX_TALLY)
        return await self._line.ask(request, lambda reply: replies.tally_of(reply, version_of(survey), oracle))

    @ClientOperation
    async def save_estimates(
        self,
        /,
        survey: AnySurvey,
        path: str | Path,
        *,
        format: str | None = None,  # noqa: A002
        candidates: Iterable[str] | None = None,
        prior: Iterable[float] | None = None,
        progress: Progress = ignore,
        **asked: object,
    ) -> int:
        """Save estimates in a file, as CSV, Parquet or JSON by its name or by ``format``; return how many bytes.

        Other options are as for ``estimates``. ``progress`` is called with the number of new bytes. A path of ``-`` is
        standard output.
        """
        form = format_of(path, format)
        request = requests.estimating(await self._resolved(survey), form, candidates, prior, **asked)
        return await self._saved(replace(request, most=MAX_ESTIMATES), path, form, progress)

    @ClientOperation
    async def export(
        self,
        survey: AnySurvey,
        path: str | Path,
        *,
        since: Day | None = None,
        until: Day | None = None,
        progress: Progress = ignore,
    ) -> int:
        """Save the raw reports of some UTC days or all as Parquet, and return how many bytes that took."""
        version = version_of(await self._resolved(survey))
        request = requests.asking("export", version, since=since, until=until)
        return await self._saved(replace(request, most=MAX_EXPORT), path, "parquet", progress)

    @ClientOperation
    async def days(self, survey: AnySurvey) -> list[tuple[str, int | None]]:
        """Return the UTC days that have reports, and how many; None of those below the survey's minimum."""
        return await self._line.ask(requests.asking("days", version_of(await self._resolved(survey))), replies.days)

    @ClientOperation
    async def export_lake(
        self,
        survey: AnySurvey,
        folder: str | Path,
        *,
        since: Day | None = None,
        until: Day | None = None,
        progress: Progress = ignore,
    ) -> dict[str, str]:
        """Save the raw reports of every UTC day that is over in a file of its own, and return what became of each day.

        A day is ``"written"``, ``"there already"`` with all of its reports, or has ``"too few reports"``. Call it again
        after an interruption: files appear whole or not at all, and no day is in two of them. The folder may be an
        address for fsspec, such as ``s3://bucket/lake``.
        """
        window, today = Window.of(None, since, until), datetime.now(UTC).date().isoformat()
        resolved = await self._resolved(survey)
        days = await self._line.ask(requests.asking("days", version_of(resolved)), replies.days_with_withdrawn)
        past = [row for row in days if row[0] < today and window.has(f"day={row[0]}")]
        return {row[0]: await self._saved_day(resolved, folder, row, progress) for row in past}

    async def _saved_day(
        self, survey: Survey | str, folder: str | Path, row: tuple[str, int | None, int], progress: Progress
    ) -> str:
        """Save a day unless it is there with all of its reports; remove it if too few reports are left."""
        day, n, withdrawn = row
        name = day_name(folder, version_of(survey), day)
        there = counts_in(name, version_of(survey))
        if n is None:
            if there is not None:
                remove_output(name)
            return TOO_FEW
        if there == (n, withdrawn):
            return THERE
        request = requests.asking("export", version_of(survey), since=day, until=day)
        try:
            with whole_output(name) as file:
                await self._into(file, replace(request, most=MAX_EXPORT), "parquet", progress)
        except CollectorError as error:
            if error.kind is None or not error.kind.endswith("too-few"):  # with merged tallies there were enough
                raise
            return TOO_FEW
        return WRITTEN

    async def _saved(self, request: Request, path: str | Path, form: str, progress: Progress) -> int:
        with open_output(str(path)) as file:
            return await self._into(file, request, form, progress)

    async def _into(self, file: BinaryIO, request: Request, form: str, progress: Progress) -> int:
        saved = Saved(file, form, progress)
        await self._line.ask(replace(request, sink=saved), lambda _: saved.check())
        return saved.size


def _estimated(
    survey: Survey,
    tally: Tally,
    options: Mapping[str, str | Iterable[str]],
    post: str | None,
    prior: Iterable[float] | None,
    *,
    anytime: bool,
) -> Estimate:
    expected = None if prior is None else list(prior)
    if expected is not None and post != BAYES:
        raise fail("Client", "prior", "left out, unless post is 'bayes'", post)
    estimate = survey.estimate(tally, **options)
    estimate = estimate if post is None else postprocess(estimate, post, prior=expected)
    if anytime and survey.questions:
        raise fail("Client", "anytime", "left out of several questions: tables[...].watched(survey.planned)", anytime)
    return watch(estimate, survey.planned) if anytime else estimate
