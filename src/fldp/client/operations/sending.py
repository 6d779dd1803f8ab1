"""Operations of programs that hold many reports: send them, take them back, merge a tally."""

import io
from contextlib import ExitStack
from pathlib import Path

from fldp import wire
from fldp.client import replies, requests
from fldp.client.operations.requesting import DELETED, AnySurvey, ClientOperation, CollectedRefusals, Requesting
from fldp.client.requests import Day, version_of
from fldp.client.uploading import PIECE_BYTES, Run, Sent, Upload, UploadPart, checked_key, upload
from fldp.data.reports import Reports, Tally
from fldp.support.progress import Progress, ignore
from fldp.support.validation import fail
from fldp.survey.survey import Survey

_ABOUT_ALL_PIECES = frozenset({401, 403, DELETED})  # refusals of the token or the version, not of one piece


class Sending(Requesting):
    """Batches, files and tallies."""

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

        The keys of the pieces follow from the file and from ``sender``: two small files may be equal by chance, and
        both count only if their senders differ. ``progress`` is called with the number of reports just accepted.
        ``resume`` is a folder that records how far this came, and the next call goes on from there. With
        ``from_start`` it sends everything, for a collector that has lost what it acknowledged.
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

        If the collector refuses some pieces, the others are taken back, then the first refusal is raised. A refusal
        of the token or of the version holds for every piece and is raised at once.
        """
        work, withdrawn = self._line.transport.work, 0
        with ExitStack() as stack, CollectedRefusals(final=_ABOUT_ALL_PIECES) as refusals:
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
    async def merge(self, tally: Tally, survey: AnySurvey, *, key: str | None = None, day: Day | None = None) -> int:
        """Add a tally of another collector, filed under a UTC day, and return how many reports it brought.

        As with ``send``, a ``key`` of your own makes it safe to call again. Needs an admin token.
        """
        version = version_of(await self._resolved(survey))
        body = wire.encode_tally(tally, version)
        request = requests.asking("merge", version, body=body, key=checked_key(key), day=day)
        return await self._line.ask(request, lambda reply: replies.accepted(reply, tally.n))


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
