"""Operations: all that can be asked of a collector, once for both clients.

An operation is written as a coroutine. ``AsyncClient`` hands it to the caller; ``Client`` runs it to its end, since
there it never waits for anything but what blocks by itself.
"""

import functools
import io
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Concatenate, Generic, ParamSpec, TypeVar, overload

from fldp import wire
from fldp.client import replies, requests
from fldp.client.address import secret
from fldp.client.download import MAX_ESTIMATES, MAX_EXPORT, Saved, format_of
from fldp.client.messages import Request, clean
from fldp.client.replies import Published, Token
from fldp.client.requests import Day, version_of
from fldp.client.retry import Line
from fldp.client.uploading import PIECE_BYTES, Run, Sent, Upload, UploadPart, checked_key, upload
from fldp.data.anytime_estimate import watch
from fldp.data.estimate import Estimate
from fldp.data.postprocess import BAYES, postprocess
from fldp.data.reports import Reports, Tally
from fldp.distributed.lake.layout import THERE, TOO_FEW, WRITTEN, Window
from fldp.distributed.lake.writing import counts_in, day_name, remove_output, whole_output
from fldp.errors import CollectorError, WireError
from fldp.oracles.base.oracle import Oracle
from fldp.participant.choice import Choice
from fldp.participant.participant import Answer, Confirm, Participant
from fldp.participant.stored_answer import StoredAnswer
from fldp.support import canonical_json
from fldp.support.atomic_files import open_output
from fldp.support.canonical_json import Json
from fldp.support.identifiers import SURVEY_NAME, VERSION
from fldp.support.progress import Progress, ignore
from fldp.support.validation import fail, integer, number
from fldp.support.web_origin import origin_of
from fldp.survey.survey import Survey, SurveyError

if TYPE_CHECKING:
    from fldp.client import AsyncClient, Client
    from fldp.client.relay import RelayTransport

P = ParamSpec("P")
T = TypeVar("T")

_DELAY = number(0, 7 * 86_400)  # seconds
_DELETED = 404  # a version that is not there any more, with all of its reports
_ABOUT_ALL_PIECES = frozenset({401, 403, _DELETED})  # refusals of the token or the version, not of one piece

AnySurvey = Survey | Published | str  # as it is, as ``survey()`` returned it, or its version or name


class ClientOperation(Generic[P, T]):
    """A coroutine of both clients: plain to call on the one, to be awaited on the other."""

    def __init__(self, method: "Callable[Concatenate[Operations, P], Coroutine[object, None, T]]") -> None:
        self._method = method

    @overload
    def __get__(self, client: None, owner: type) -> Callable[..., Coroutine[object, None, T]]: ...
    @overload
    def __get__(self, client: "Client", owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, client: "AsyncClient", owner: type) -> Callable[P, Coroutine[object, None, T]]: ...
    def __get__(self, client: "Client | AsyncClient | None", owner: type) -> object:
        if client is None:
            return self._method
        bound = self._method.__get__(client)
        return functools.wraps(bound)(lambda *arguments, **named: client._finish(bound(*arguments, **named)))


def _for_a_person(
    method: "Callable[Concatenate[Operations, P], Coroutine[object, None, T]]",
) -> "Callable[Concatenate[Operations, P], Coroutine[object, None, T]]":
    """Have the ``participant`` of an operation remember the keys of the relay."""

    @functools.wraps(method)
    async def asked(client: "Operations", /, *arguments: P.args, **named: P.kwargs) -> T:
        async with client._asking_for(named.get("participant")):
            return await method(client, *arguments, **named)

    return asked


class Operations:
    """What both clients can do.

    Where an operation takes a survey, that is a ``Survey``, what ``survey()`` returned, a version of 64 hexadecimal
    digits, or a name. A name stands for the newest version that is open, else for the newest.
    """

    _line: Line
    _allow_insecure: bool
    _relay: "RelayTransport | None" = None

    def _line_to(self, url: str) -> Line:
        raise NotImplementedError

    async def _released(self, line: Line) -> None:
        raise NotImplementedError

    def _asking_for(self, person: object) -> AbstractAsyncContextManager[None]:
        """Where there is a relay, have the person remember its keys from one run to the next."""
        if self._relay is None or not isinstance(person, Participant):
            return nullcontext()
        return self._relay.kept_by(person)

    @ClientOperation
    async def surveys(self) -> list[dict[str, Json]]:
        """List all surveys, newest first. Needs a token that may read."""
        return await self._line.ask(requests.asking("surveys"), replies.listed)

    @ClientOperation
    async def survey(self, name: str, *, version: str | None = None) -> Published:
        """Return the newest open version of a survey, or another one; one that is not what it claims is refused."""
        return await self._published(name, version)

    @ClientOperation
    async def versions(self, name: str) -> list[dict[str, Json]]:
        """List all versions that a survey ever had, newest first; of deleted ones, that they were there."""
        return await self._line.ask(requests.asking("versions", requests.survey_name(name)), replies.versions)

    async def _published(self, name: str, version: str | None) -> Published:
        request = requests.asking("survey", requests.survey_name(name), version=version)
        return await self._line.ask(request, lambda reply: replies.verified(reply, name, version))

    async def _resolved(self, survey: AnySurvey) -> Survey | str:
        """Return a survey, or its version; the collector is asked for the version of a name."""
        if isinstance(survey, Published):
            return survey.survey
        if isinstance(survey, Survey) or VERSION.matches(survey):
            return survey
        if SURVEY_NAME.matches(survey):
            return (await self._published(survey, None)).survey
        rule = "a Survey, what survey() returned, a name, or a version of 64 hexadecimal digits"
        raise fail("Client", "a survey", rule, survey)

    async def _specified(self, survey: AnySurvey) -> Survey:
        """Return a survey; of a bare version, the list of surveys says the name."""
        resolved = await self._resolved(survey)
        if isinstance(resolved, Survey):
            return resolved
        for row in await self._line.ask(requests.asking("surveys"), replies.listed):
            if row["version"] == resolved:
                return (await self._published(str(row["name"]), resolved)).survey
        raise CollectorError(f"{self._line.address}: there is no survey version {resolved}")

    @ClientOperation
    async def create(self, survey: Survey) -> dict[str, Json]:
        """Publish a survey; publishing the same one again changes nothing. Needs an admin token."""
        if not isinstance(survey, Survey):
            raise fail("Client", "survey", "a Survey", survey)
        request = replace(requests.asking("create_survey"), body=canonical_json.dumps(survey.canonical))
        return await self._line.ask(request, lambda reply: replies.created(reply, survey))

    @ClientOperation
    async def close(self, name: str, *, version: str | None = None) -> dict[str, Json]:
        """Close all versions of a survey, or one. Needs an admin token."""
        request = requests.asking("close_survey", requests.survey_name(name), version=version)
        return await self._line.ask(request, lambda reply: replies.closed(reply, name, version))

    @ClientOperation
    async def reopen(self, name: str, *, version: str | None = None) -> dict[str, Json]:
        """Open the newest version of a survey again that was closed, or the one that is named. Needs an admin token.

        What was reported stays, and a report that was counted before is not counted again. A survey whose own closing
        date has passed stays closed, and so does a round of a search.
        """
        request = requests.asking("reopen_survey", requests.survey_name(name), version=version)
        return await self._line.ask(request, lambda reply: replies.reopened(reply, name, version))

    @ClientOperation
    async def delete(self, name: str, *, version: str | None = None, all: bool = False) -> None:  # noqa: A002
        """Delete one version of a survey, or all of them, with everything that was collected. Needs an admin token."""
        if (version is None) == (not all):
            raise fail("Client", "what is deleted", "version=, or all=True", (version, all))
        request = requests.asking("delete_survey", requests.survey_name(name), version=version, all=all)
        await self._line.ask(request, replies.done)

    @ClientOperation
    async def send(
        self,
        reports: Reports | bytes,
        survey: AnySurvey | None = None,
        *,
        key: str | None = None,
        ticket: str | None = None,
    ) -> int:
        """Send reports, or a batch as bytes that names its survey, and return how many were accepted.

        Within one call they count once, whatever happens on the way. To be able to call again after a crash, give a
        ``key`` of your own (``fldp.client.derived_key``) and the same bytes; without one it is drawn at random.
        """
        count, body, version = _batch(reports, None if survey is None else await self._resolved(survey))
        return await self._post(version, UploadPart(0, count, body, checked_key(key)), ticket)

    @ClientOperation
    async def send_file(
        self,
        path: str | Path | Upload,
        survey: AnySurvey | None = None,
        *,
        sender: str = "",
        piece_bytes: int = PIECE_BYTES,
        progress: Progress = ignore,
        resume: str | Path | None = None,
        from_start: bool = False,
    ) -> Sent:
        """Send a file of reports in pieces. Call it again after an interruption: nothing counts twice.

        The keys of the pieces follow from the file, and from ``sender``: two small files can hold the same by chance,
        and count both only if their senders differ. ``progress`` is told how many more reports were accepted.
        ``resume`` is a folder in which it is noted how far this came: then the next call goes on from there, unless
        ``from_start`` is true, which a collector needs that has lost what it acknowledged.
        """
        work = self._line.transport.work
        with ExitStack() as stack:
            if not isinstance(path, Upload):
                known = None if survey is None else await self._resolved(survey)
                path = await work(lambda: stack.enter_context(upload(str(path), known)))
            run = Run(path, str(self._line.address), sender, piece_bytes, resume)
            sent, resumed = 0, await work(lambda: run.begin(from_start))
            progress(resumed)
            while piece := await work(run.next):
                progress(await self._post(path.version, piece, None))
                sent += 1
                await work(run.acknowledged)
            await work(run.end)
            return Sent(path.total, sent, path.version, resumed)

    @ClientOperation
    @_for_a_person
    async def withdraw(
        self, survey: AnySurvey, *, participant: Participant, version: str | None = None, ticket: str | None = None
    ) -> int:
        """Take back what a person answered to a survey: all versions and days, or one version; return how many reports.

        The participant marks the answers first, and gives them no more; what they cost stays in its ledger, since the
        reports were seen. Whatever happens on the way, call it again: twice is the same as once. A version that was
        deleted has nothing to take back. Results that were published before may still contain them. ``ticket`` is
        needed where one was needed to answer, and the answer never arrived.
        """
        name, wanted = _wanted(survey, version)
        origin, work = self._line.address.origin, self._line.transport.work
        charges = await work(participant.history)
        answered = {charge.version for charge in charges if (charge.origin, charge.name) == (origin, name)}
        versions = sorted(answered if wanted is None else answered & {wanted})
        return await self._withdraw_all([(name, each) for each in versions], participant, ticket)

    @ClientOperation
    @_for_a_person
    async def repeat_withdrawals(self, *, participant: Participant) -> int:
        """Withdraw once more what a person withdrew here before: a collector restored from a backup may have it again.

        Return how many reports that were. The collector sees that these reports come from one sender.
        """
        origin, work = self._line.address.origin, self._line.transport.work
        charges = await work(participant.history)
        places = {(charge.name, charge.version) for charge in charges if charge.origin == origin}
        marked = functools.partial(participant.withdrawn, origin=origin)
        taken = [place for place in sorted(places) if await work(functools.partial(marked, place[1]))]
        return await self._withdraw_all(taken, participant, None)

    async def _withdraw_all(
        self, places: Iterable[tuple[str, str]], participant: Participant, ticket: str | None
    ) -> int:
        """Withdraw the answers to some versions, the others too where one fails; that is raised in the end."""
        withdrawn, failures = 0, list[CollectorError]()
        for name, version in places:
            try:
                withdrawn += await self._withdraw_version(name, version, participant, ticket)
            except CollectorError as error:
                failures.append(error)
        if failures:
            raise failures[0]
        return withdrawn

    async def _check_way(self, name: str, version: str, participant: Participant) -> None:
        """Refuse to send directly, or to take back, what went through a relay: that would tell who sent it."""
        origin, work = self._line.address.origin, self._line.transport.work
        if self._relay is None and await work(lambda: participant.is_relayed(version, origin=origin)):
            raise CollectorError(f"{self._line.address}: {name} was answered through a relay; give relay=")

    async def _withdraw_version(self, name: str, version: str, participant: Participant, ticket: str | None) -> int:
        origin, work = self._line.address.origin, self._line.transport.work
        await self._check_way(name, version, participant)
        try:
            specification = (await self._published(name, version)).survey.canonical
        except CollectorError as error:
            await work(lambda: participant.withdraw(version, origin=origin))  # from here on it is not sent again
            if error.status == _DELETED:
                return 0
            raise
        if replies.needs_relay(specification) and self._relay is None:
            raise CollectorError(f"{self._line.address}: {name} is answered through a relay only; give relay=")
        answers = await work(lambda: participant.withdraw(version, origin=origin))
        ticket = await work(lambda: participant.pass_to(version, origin=origin)) or ticket
        token = replies.submit(specification) == "token"
        return await self._take_back_all(version, answers, ticket, token=token)

    async def _take_back_all(
        self, version: str, answers: Iterable[StoredAnswer], ticket: str | None, *, token: bool
    ) -> int:
        """Take back the reports of all days, going on past refusals."""
        withdrawn = 0
        with _Refusals() as refusals:
            for answer in answers:
                with refusals.collect():
                    part = UploadPart(0, 1, answer.report, answer.key)
                    withdrawn += await self._take_back(version, part, ticket, token=token)
        return withdrawn

    @ClientOperation
    async def withdraw_batch(
        self,
        reports: Reports | bytes,
        survey: AnySurvey | None = None,
        *,
        key: str,
        ticket: str | None = None,
        day: Day | None = None,
    ) -> int:
        """Take back what ``send`` sent under a key; return how many reports were taken out, now or before.

        What a collector of an earlier release counted needs the UTC ``day`` on which it was sent.
        """
        count, body, version = _batch(reports, None if survey is None else await self._resolved(survey))
        return await self._take_back(version, UploadPart(0, count, body, checked_key(key)), ticket, day)

    @ClientOperation
    async def withdraw_file(
        self,
        path: str | Path | Upload,
        survey: AnySurvey | None = None,
        *,
        sender: str = "",
        piece_bytes: int = PIECE_BYTES,
        day: Day | None = None,
        progress: Progress = ignore,
    ) -> int:
        """Take back what ``send_file`` sent, with the same ``sender`` and ``piece_bytes``; return how many reports.

        If the collector refuses some pieces, the others are taken back and the first refusal is raised in the end.
        A refusal that holds for every piece is raised at once: the token is not accepted or the version is not there.
        """
        work, withdrawn = self._line.transport.work, 0
        with ExitStack() as stack, _Refusals(final=_ABOUT_ALL_PIECES) as refusals:
            if not isinstance(path, Upload):
                known = None if survey is None else await self._resolved(survey)
                path = await work(lambda: stack.enter_context(upload(str(path), known)))
            pieces = path.pieces(piece_bytes, sender)
            while piece := await work(lambda: next(pieces, None)):
                with refusals.collect():
                    withdrawn += await self._take_back(path.version, piece, None, day)
                progress(piece.count)
        return withdrawn

    @ClientOperation
    @_for_a_person
    async def answer(
        self,
        survey: AnySurvey,
        label: str,
        *,
        participant: Participant,
        version: str | None = None,
        labels: Iterable[str] | None = None,
        otherwise: str | None = None,
        confirm: Confirm | None = None,
        ticket: str | None = None,
        delay: float = 0.0,
    ) -> Answer:
        """Answer a survey, by its name or as it is, for a person; what was answered before is sent again as it was.

        The specification is fetched first: one that is not what its version says, not the one that was asked for, or
        not open is refused before anything is spent. The key it is sent under is stored with the answer, so that it
        counts once, however often this is called, and after a crash. ``confirm`` is as for ``Participant.answer``.

        ``labels`` or ``version`` are what the program was written for: a collector that offers anything else is
        refused, whatever the answer is. An answer outside ``labels`` is a ``DomainError`` before anything is asked.
        One that the survey lacks is drawn as ``otherwise``, or else at random, as ``Participant.answer`` has it: what
        the collector sees of a call never depends on the answer but through the mechanism.

        Where the survey takes passes, ``ticket`` buys one, unless ``obtain_pass`` has got it before, which is better:
        the less time lies between the two, the easier it is to see who answers.

        With ``delay``, the stored report is sent after a random time of up to this many seconds, so that the moment
        tells less about who sends. That moment is drawn once and stored, too: called again after a crash, this waits
        until then, or not at all if it has passed.
        """
        name, wanted = _wanted(survey, version)
        longest = _DELAY("Client", "delay", delay)
        own = Choice.of(label, labels=labels, otherwise=otherwise).labels  # the program's mistakes: nothing is asked
        self._checked_ticket(ticket)
        request = requests.asking("survey", requests.survey_name(name), version=wanted)
        specification, offered, state = await self._line.ask(request, lambda r: replies.published(r, name, None))
        origin, work = self._line.address.origin, self._line.transport.work
        if wanted not in (None, offered):
            await work(lambda: participant.count_refusal(origin=origin))
            raise CollectorError(f"{self._line.address}: the answer is not about version {wanted}")
        submit = replies.submit(specification)
        if replies.needs_relay(specification) and self._relay is None:
            raise CollectorError(f"{self._line.address}: {name} is answered through a relay only; give relay=")
        if submit == "pass":
            ticket = await self._pass(specification, offered, participant, ticket if state == "open" else None)
        self._answerable(name, state, submit, ticket)
        await self._check_way(name, offered, participant)
        asked = functools.partial(participant.answer, specification, label, origin=origin, version=offered)
        try:
            answer = await work(lambda: asked(labels=own, otherwise=otherwise, confirm=confirm, ticket=ticket))
        except SurveyError as error:
            raise CollectorError(f"{self._line.address}: the answer is not a survey: {clean(error)}") from None
        if self._relay is not None:
            await work(lambda: participant.keep_relayed(offered, origin=origin))
        if longest:
            moment = await work(lambda: participant.due(answer, offered, origin=origin, longest=longest))
            await self._line.transport.pause(max(0.0, moment - time.time()))
        await self._post(offered, UploadPart(0, 1, answer.report, answer.key), ticket, token=submit == "token")
        return answer

    @ClientOperation
    @_for_a_person
    async def obtain_pass(
        self, survey: AnySurvey, ticket: str | None = None, *, participant: Participant, version: str | None = None
    ) -> None:
        """Get the pass to a survey that takes passes, for a ticket; the participant keeps it, and ``answer`` uses it.

        The issuer signs it blindly: when it comes back, nobody can tell that it is the one of this ticket. Do it as
        soon as the person has the ticket, and answer later. Whatever happens on the way, call it again; when the pass
        is there, the ticket is of no use any more.
        """
        name, wanted = _wanted(survey, version)
        self._checked_ticket(ticket)
        request = requests.asking("survey", requests.survey_name(name), version=wanted)
        specification, offered, _ = await self._line.ask(request, lambda r: replies.published(r, name, wanted))
        if replies.submit(specification) != "pass":
            raise CollectorError(f"{self._line.address}: survey {name} takes no passes")
        if await self._pass(specification, offered, participant, ticket) is None:
            raise CollectorError(f"{self._line.address}: survey {name} gives a pass for a ticket; give ticket=")

    async def _pass(
        self, specification: Mapping[str, Json], version: str, participant: Participant, ticket: str | None
    ) -> str | None:
        """Return the pass to a survey: the one that is kept, or a new one for a ticket; None without either."""
        origin, work = self._line.address.origin, self._line.transport.work
        kept = await work(lambda: participant.pass_to(version, origin=origin))
        if kept is not None or ticket is None:
            return kept
        if replies.needs_relay(specification) and self._relay is None:
            raise CollectorError(f"{self._line.address}: the survey is answered through a relay only; give relay=")
        place = {"origin": origin, "version": version}
        try:
            body = await work(lambda: participant.pass_request(specification, **place))
            reply = await self._issued(replies.issuer(specification), version, body, ticket)
            return await work(lambda: participant.keep_pass(specification, reply, **place))
        except (SurveyError, WireError) as error:
            raise CollectorError(f"{self._line.address}: gives no good pass: {clean(error)}") from None

    def _line_to_issuer(self, issuer: str | None) -> Line:
        """Return the way to the issuer of passes; with a relay, never past it to the collector's own origin."""
        if issuer is None or (self._relay is not None and origin_of(issuer) == self._line.address.origin):
            return self._line
        return self._line_to(issuer)

    async def _issued(self, issuer: str | None, version: str, body: bytes, ticket: str) -> bytes:
        """Ask for the signature: the collector, in the way that everything takes, or who issues in its place."""
        line = self._line_to_issuer(issuer)
        secret("a ticket", ticket, line.address, self._allow_insecure)
        request = requests.asking("issue_pass", version_of(version), body=body)
        request = replace(request, headers={**request.headers, **requests.ticketed(ticket)}, token=False)
        try:
            return await line.ask(request, lambda reply: reply.body)
        finally:
            if line is not self._line:
                await self._released(line)

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
        """Return estimates as JSON says them, of some UTC days or all. Needs a token that may read.

        Where answers are strings, the estimates of ``candidates``, by a ``method`` of the oracle; else of all values.
        With ``anytime``, intervals hold at every look, like the dashboard's. With ``post="bayes"``, ``prior``
        are public counts or shares that were expected, one for each value or candidate, which are mixed in: biased.
        """
        asked = {"top": top, "level": level, "decoder": decoder, "post": post, "since": since, "until": until}
        asked |= {"anytime": anytime}
        request = requests.estimating(await self._resolved(survey), "json", candidates, prior, method=method, **asked)
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

        It is made here, from the collector's tally, so it has all that an estimate has: sums with exact errors,
        comparisons, tables, pictures. The collector serves no tally of fewer reports than the survey's minimum; that is
        a ``CollectorError``. Where answers are strings, name ``candidates``::

            with fldp.Client("https://collector.example", token="fldp_read_...") as client:
                week = client.estimate("coffee", since="2026-11-09", until="2026-11-15")
            print(week)
            week.plot().savefig("week.png")

        With ``anytime`` its intervals hold at every look, planned like the dashboard's; of several questions,
        ``tables["load"].watched(survey.planned)`` does that. ``prior`` is the one of ``fldp.postprocess``, for
        ``post="bayes"``.
        """
        asked = await self._specified(survey)
        tally = await self._tally(asked, asked.oracle, since, until)
        options = {"decoder": decoder, "method": method, "candidates": candidates}
        chosen = {name: value for name, value in options.items() if value is not None}
        return await self._line.transport.work(lambda: _estimated(asked, tally, chosen, post, prior, anytime=anytime))

    @ClientOperation
    async def tally(
        self,
        survey: AnySurvey,
        *,
        since: Day | None = None,
        until: Day | None = None,
        oracle: Oracle | None = None,
    ) -> Tally:
        """Return the tally of some UTC days or all; ``survey.estimate`` makes estimates of it."""
        asked = await self._resolved(survey)
        return await self._tally(asked, asked.oracle if isinstance(asked, Survey) else oracle, since, until)

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

        Days are ``"written"``, ``"there already"`` with all of their reports, or have ``"too few reports"``. What was
        interrupted can be called again: files are whole or not there, and a day is never in two of them. The folder may
        be an address that fsspec knows, such as ``s3://bucket/lake``.
        """
        window, today = Window.of(None, since, until), datetime.now(UTC).date().isoformat()
        asked = await self._resolved(survey)
        days = await self._line.ask(requests.asking("days", version_of(asked)), replies.days_with_withdrawn)
        past = [row for row in days if row[0] < today and window.has(f"day={row[0]}")]
        return {row[0]: await self._saved_day(asked, folder, row, progress) for row in past}

    async def _saved_day(
        self, survey: Survey | str, folder: str | Path, row: tuple[str, int | None, int], progress: Progress
    ) -> str:
        """Save a day unless it is there with all of its reports; remove one of which too few are left."""
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

    @ClientOperation
    async def merge(self, tally: Tally, survey: AnySurvey, *, key: str | None = None, day: Day | None = None) -> int:
        """Add a tally of another collector, filed under a UTC day, and return how many reports it brought.

        As with ``send``, a ``key`` of your own makes it safe to call again. Needs an admin token.
        """
        version = version_of(await self._resolved(survey))
        body = wire.encode_tally(tally, version)
        request = requests.asking("merge", version, body=body, key=checked_key(key), day=day)
        return await self._line.ask(request, lambda reply: replies.accepted(reply, tally.n))

    @ClientOperation
    async def tickets(self, survey: AnySurvey, count: int) -> list[str]:
        """Make single-use tickets for a survey that takes them. Needs an admin token."""
        wanted = integer(1, 100_000)("Client", "count", count)
        version = version_of(await self._resolved(survey))
        request = requests.asking("create_tickets", version, body={"count": wanted})
        return await self._line.ask(request, lambda reply: replies.tickets(reply, wanted))

    @ClientOperation
    async def create_issuer(self) -> str:
        """Make a key of the collector that signs passes, and return it as ``issuer_key`` of one survey to come.

        Needs an admin token that is good for all surveys.
        """
        return await self._line.ask(requests.asking("create_issuer"), replies.issuer_key)

    @ClientOperation
    async def tokens(self) -> list[Token]:
        """List all tokens, without their texts. Needs an admin token."""
        return await self._line.ask(requests.asking("tokens"), replies.tokens)

    @ClientOperation
    async def create_token(self, scope: str, *, survey: str | None = None, expires: str | None = None) -> Token:
        """Make a token that may ``admin``, ``read`` or ``send``, of one survey or all. Needs an admin token."""
        request = requests.asking("create_token", body={"scope": scope, "survey": survey, "expires": expires})
        return await self._line.ask(request, lambda reply: replies.created_token(reply, scope, survey))

    @ClientOperation
    async def revoke_token(self, token_id: str) -> None:
        """Revoke a token; twice is the same as once. Needs an admin token."""
        await self._line.ask(requests.asking("revoke_token", requests.token_id(token_id)), replies.done)

    def _answerable(self, name: str, state: str, submit: str, ticket: str | None) -> None:
        """Refuse a survey that would refuse the answer, before anything is spent on it."""
        refusal = None
        if state != "open":
            refusal = "it is not open"
        elif submit in ("ticket", "pass") and ticket is None:
            refusal = "it needs a ticket"
        elif submit == "token" and self._line.token is None:
            refusal = "it needs a token"
        if refusal:
            raise CollectorError(f"{self._line.address}: survey {name} takes no answer now: {refusal}")

    async def _post(self, version: str, piece: UploadPart, ticket: str | None, *, token: bool = True) -> int:
        self._checked_ticket(ticket)
        request = requests.asking("send_reports", version_of(version), body=piece.body, key=piece.key)
        request = replace(request, headers={**request.headers, **requests.ticketed(ticket)}, token=token)
        return await self._line.ask(request, lambda reply: replies.accepted(reply, piece.count))

    async def _take_back(
        self, version: str, piece: UploadPart, ticket: str | None, day: Day | None = None, *, token: bool = True
    ) -> int:
        self._checked_ticket(ticket)
        request = requests.asking("withdraw_reports", version_of(version), body=piece.body, key=piece.key, day=day)
        request = replace(request, headers={**request.headers, **requests.ticketed(ticket)}, token=token)
        return await self._line.ask(request, replies.withdrawn)

    def _checked_ticket(self, ticket: str | None) -> None:
        secret("a ticket", ticket, self._line.address, self._allow_insecure)


class _Refusals:
    """Refusals of single reports or pieces. The first one is raised when all others have been taken back."""

    def __init__(self, final: frozenset[int] = frozenset()) -> None:
        self._final, self._refusals = final, list[CollectorError]()

    def __enter__(self) -> "_Refusals":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and self._refusals:
            raise self._refusals[0]

    @contextmanager
    def collect(self) -> Iterator[None]:
        """Set a refusal aside. Any other failure ends the work: a collector out of reach fails for the rest too."""
        try:
            yield
        except CollectorError as error:
            if not error.refused or error.status in self._final:
                raise
            self._refusals.append(error)


def _wanted(survey: AnySurvey, version: str | None) -> tuple[str, str | None]:
    """Return the name of the survey that is asked for, and its version if that is fixed."""
    survey = survey.survey if isinstance(survey, Published) else survey
    if not isinstance(survey, Survey):
        return survey, None if version is None else version_of(version)
    if version not in (None, survey.version):
        raise fail("Client", "version", f"the version of the survey, {survey.version}", version)
    return survey.name, survey.version


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


def _batch(reports: Reports | bytes, survey: Survey | str | None) -> tuple[int, bytes, str]:
    """Return how many reports these are, their bytes, and the version that they name."""
    if isinstance(reports, Reports):
        if survey is None:
            raise fail("Client", "survey", "the one that the reports answer", survey)
        return len(reports), wire.encode(reports, version_of(survey)), version_of(survey)
    known = survey.oracle if isinstance(survey, Survey) else None
    reader = wire.Reader(io.BytesIO(reports), known, None if survey is None else version_of(survey))
    count = sum(len(part) for part in reader)
    return count, bytes(reports), version_of(reader.survey or "")
