"""Operations of a person: answer a survey, get a pass for it, withdraw the answer."""

import functools
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace

from fldp.client import replies, requests
from fldp.client.address import secret
from fldp.client.messages import clean
from fldp.client.operations.requesting import (
    DELETED,
    AnySurvey,
    ClientOperation,
    CollectedRefusals,
    Requesting,
    for_a_person,
    named_survey,
)
from fldp.client.requests import version_of
from fldp.client.retry import Line
from fldp.client.uploading import UploadPart
from fldp.errors import CollectorError, WireError
from fldp.participant.choice import Choice
from fldp.participant.participant import Answer, Confirm, Participant
from fldp.participant.stored_answer import StoredAnswer
from fldp.support.canonical_json import Json
from fldp.support.validation import number
from fldp.support.web_origin import origin_of
from fldp.survey.survey import SurveyError

_DELAY = number(0, 7 * 86_400)  # seconds


class Answering(Requesting):
    """What a ``Participant`` does at a collector."""

    @ClientOperation
    @for_a_person
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
        """Answer a survey for a person. If they answered it before, the stored report is sent again.

        The specification is fetched and checked first: one that does not match its version, is not the requested one
        or is not open is refused before anything is spent. The idempotency key is stored with the answer, so that the
        report counts once, however often this is called, even after a crash. ``confirm`` is as for
        ``Participant.answer``.

        ``labels`` or ``version`` say what the program was written for: a collector that offers anything else is
        refused, whatever the answer is. An answer outside ``labels`` raises ``DomainError`` before any request. One
        that the survey lacks is privatized as ``otherwise``, or else as a random value (``Participant.answer``): the
        collector learns nothing of the answer but through the mechanism.

        If the survey takes passes, ``ticket`` is exchanged for one, unless ``obtain_pass`` did that before. Earlier is
        better: the less time lies between the two, the easier it is to see who answers.

        With ``delay``, the stored report is sent after a random time of up to this many seconds, so that its arrival
        says less about the sender. That moment is drawn once and stored: a call after a crash waits for it, or not at
        all if it has passed.
        """
        name, wanted = named_survey(survey, version)
        origin, work = self._line.address.origin, self._line.transport.work
        longest = _DELAY("Client", "delay", delay)
        own = Choice.of(label, labels=labels, otherwise=otherwise).labels  # the program's mistakes: nothing is asked
        self._checked_ticket(ticket)
        specification, offered, state = await self._offered(name, wanted, participant)
        submit = replies.submit(specification)
        if submit == "pass":
            ticket = await self._pass(specification, offered, participant, ticket if state == "open" else None)
        self._answerable(name, state, submit, ticket)
        await self._check_way(name, offered, participant)
        draw = functools.partial(participant.answer, specification, label, origin=origin, version=offered)
        try:
            answer = await work(lambda: draw(labels=own, otherwise=otherwise, confirm=confirm, ticket=ticket))
        except SurveyError as error:
            raise CollectorError(f"{self._line.address}: the answer is not a survey: {clean(error)}") from None
        if self._relay is not None:
            await work(lambda: participant.keep_relayed(offered, origin=origin))
        if longest:
            moment = await work(lambda: participant.due(answer, offered, origin=origin, longest=longest))
            await self._line.transport.pause(max(0.0, moment - time.time()))
        await self._post(offered, UploadPart(0, 1, answer.report, answer.key), ticket, token=submit == "token")
        return answer

    async def _offered(
        self, name: str, wanted: str | None, participant: Participant
    ) -> tuple[Mapping[str, Json], str, str]:
        """Fetch the survey to answer: its specification, version and state; refuse one that was not asked for."""
        request = requests.asking("survey", requests.survey_name(name), version=wanted)
        specification, offered, state = await self._line.ask(request, lambda r: replies.published(r, name, None))
        if wanted not in (None, offered):
            origin = self._line.address.origin
            await self._line.transport.work(lambda: participant.count_refusal(origin=origin))
            raise CollectorError(f"{self._line.address}: the answer is not about version {wanted}")
        if replies.needs_relay(specification) and self._relay is None:
            raise CollectorError(f"{self._line.address}: {name} is answered through a relay only; give relay=")
        return specification, offered, state

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

    async def _check_way(self, name: str, version: str, participant: Participant) -> None:
        """Refuse to send directly, or to take back, what went through a relay: that would tell who sent it."""
        origin, work = self._line.address.origin, self._line.transport.work
        if self._relay is None and await work(lambda: participant.is_relayed(version, origin=origin)):
            raise CollectorError(f"{self._line.address}: {name} was answered through a relay; give relay=")

    @ClientOperation
    @for_a_person
    async def obtain_pass(
        self, survey: AnySurvey, ticket: str | None = None, *, participant: Participant, version: str | None = None
    ) -> None:
        """Exchange a ticket for a pass, if the survey takes passes. The participant stores it, ``answer`` uses it.

        The issuer signs it blindly, so nobody can tell later which ticket it came from. Do this as soon as the person
        has the ticket, and answer later. If it fails on the way, call it again. Once the pass is there, the ticket is
        worthless.
        """
        name, wanted = named_survey(survey, version)
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
        """Return the stored pass to a survey, or a new one for a ticket; None without either."""
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
            raise CollectorError(f"{self._line.address}: gives no valid pass: {clean(error)}") from None

    def _line_to_issuer(self, issuer: str | None) -> Line:
        """Return the way to the issuer of passes; with a relay, never past it to the collector's own origin."""
        if issuer is None or (self._relay is not None and origin_of(issuer) == self._line.address.origin):
            return self._line
        return self._line_to(issuer)

    async def _issued(self, issuer: str | None, version: str, body: bytes, ticket: str) -> bytes:
        """Request the signature, from the collector or from a separate issuer."""
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
    @for_a_person
    async def withdraw(
        self, survey: AnySurvey, *, participant: Participant, version: str | None = None, ticket: str | None = None
    ) -> int:
        """Take back a person's answers to a survey, all of them or those to one version; return how many reports.

        The participant marks the answers first and does not send them again; their cost stays in the ledger, since the
        reports were seen. If it fails on the way, call it again: twice is the same as once. A deleted version has
        nothing to take back. Results published before may still contain the reports. Give the ``ticket`` again if
        answering needed one and the answer never arrived.
        """
        name, wanted = named_survey(survey, version)
        origin, work = self._line.address.origin, self._line.transport.work
        charges = await work(participant.history)
        answered = {charge.version for charge in charges if (charge.origin, charge.name) == (origin, name)}
        versions = sorted(answered if wanted is None else answered & {wanted})
        return await self._withdraw_all([(name, each) for each in versions], participant, ticket)

    @ClientOperation
    @for_a_person
    async def repeat_withdrawals(self, *, participant: Participant) -> int:
        """Repeat a person's earlier withdrawals here, because a collector restored from a backup has the reports again.

        Return how many reports were taken out. The collector sees that they come from one sender.
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
        """Withdraw the answers to several versions; go on after a failure, and raise the first one at the end."""
        withdrawn, failures = 0, list[CollectorError]()
        for name, version in places:
            try:
                withdrawn += await self._withdraw_version(name, version, participant, ticket)
            except CollectorError as error:
                failures.append(error)
        if failures:
            raise failures[0]
        return withdrawn

    async def _withdraw_version(self, name: str, version: str, participant: Participant, ticket: str | None) -> int:
        origin, work = self._line.address.origin, self._line.transport.work
        await self._check_way(name, version, participant)
        try:
            specification = (await self._published(name, version)).survey.canonical
        except CollectorError as error:
            await work(lambda: participant.withdraw(version, origin=origin))  # from here on it is not sent again
            if error.status == DELETED:
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
        with CollectedRefusals() as refusals:
            for answer in answers:
                with refusals.collect():
                    part = UploadPart(0, 1, answer.report, answer.key)
                    withdrawn += await self._take_back(version, part, ticket, token=token)
        return withdrawn
