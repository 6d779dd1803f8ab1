"""Operations on surveys, tickets and tokens."""

from dataclasses import replace

from fldp.client import replies, requests
from fldp.client.operations.requesting import AnySurvey, ClientOperation, Requesting
from fldp.client.replies import Published, Token
from fldp.client.requests import version_of
from fldp.support import canonical_json
from fldp.support.canonical_json import Json
from fldp.support.validation import fail, integer
from fldp.survey.survey import Survey


class Managing(Requesting):
    """Surveys, tickets and tokens: look them up, make them, end them."""

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
    async def tickets(self, survey: AnySurvey, count: int) -> list[str]:
        """Make single-use tickets for a survey that takes them. Needs an admin token."""
        wanted = integer(1, 100_000)("Client", "count", count)
        version = version_of(await self._resolved(survey))
        request = requests.asking("create_tickets", version, body={"count": wanted})
        return await self._line.ask(request, lambda reply: replies.tickets(reply, wanted))

    @ClientOperation
    async def create_issuer(self) -> str:
        """Make a key of the collector that signs passes, and return it as ``issuer_key`` of one survey to come.

        Needs an admin token that is valid for all surveys.
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
