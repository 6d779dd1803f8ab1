"""What all operations share: how both clients call them, surveys by name or version, and single requests.

An operation is written as a coroutine. ``AsyncClient`` hands it to the caller; ``Client`` runs it to its end, since
its transport never yields control.
"""

import functools
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Concatenate, Generic, ParamSpec, TypeVar, overload

from fldp.client import replies, requests
from fldp.client.address import secret
from fldp.client.replies import Published
from fldp.client.requests import Day, version_of
from fldp.client.retry import Line
from fldp.client.uploading import UploadPart
from fldp.errors import CollectorError
from fldp.participant.participant import Participant
from fldp.support.identifiers import SURVEY_NAME, VERSION
from fldp.support.validation import fail
from fldp.survey.survey import Survey

if TYPE_CHECKING:
    from fldp.client import AsyncClient, Client
    from fldp.client.relay import RelayTransport


P = ParamSpec("P")
T = TypeVar("T")
S = TypeVar("S", bound="Requesting")

DELETED = 404  # status of a version that was deleted with all of its reports
AnySurvey = Survey | Published | str  # a survey, what ``survey()`` returned, a version or a name


class ClientOperation(Generic[P, T]):
    """A coroutine of both clients: plain to call on the one, to be awaited on the other."""

    def __init__(self, method: Callable[Concatenate[S, P], Coroutine[object, None, T]]) -> None:
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


def for_a_person(
    method: Callable[Concatenate[S, P], Coroutine[object, None, T]],
) -> Callable[Concatenate[S, P], Coroutine[object, None, T]]:
    """Let the ``participant`` of an operation remember the relay's keys."""

    @functools.wraps(method)
    async def asked(client: S, /, *arguments: P.args, **named: P.kwargs) -> T:
        async with client._asking_for(named.get("participant")):
            return await method(client, *arguments, **named)

    return asked


class Requesting:
    """Requests to a collector, and what they need: the connection, a survey's version, a ticket."""

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


def named_survey(survey: AnySurvey, version: str | None) -> tuple[str, str | None]:
    """Return the name of the survey that is asked for, and its version if that is fixed."""
    survey = survey.survey if isinstance(survey, Published) else survey
    if not isinstance(survey, Survey):
        return survey, None if version is None else version_of(version)
    if version not in (None, survey.version):
        raise fail("Client", "version", f"the version of the survey, {survey.version}", version)
    return survey.name, survey.version


class CollectedRefusals:
    """Refusals of single reports or pieces, set aside while the others are tried; the first is raised at the end."""

    def __init__(self, final: frozenset[int] = frozenset()) -> None:
        self._final, self._refusals = final, list[CollectorError]()

    def __enter__(self) -> "CollectedRefusals":
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
