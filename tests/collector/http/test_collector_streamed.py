"""Answers that are read from a file while they are sent.

Of 2,000 exports by four clients at once, 5 to 24 were cut short or were a bare 500 while Starlette listened beside the
sending, none of 6,000 since.
"""

import asyncio
import io

from fldp.collector.http.file_answers import PIECE, FileAnswer


class Direct:
    """As much of a collector as an answer needs: its threads."""

    async def quick(self, function, *arguments):
        return function(*arguments)


async def never():
    raise AssertionError("the answer listened to the client, which Granian takes for the end of the request")


def test_nobody_listens_while_a_file_is_sent():
    sent, file = [], io.BytesIO(bytes(2 * PIECE + 5))

    async def send(message):
        sent.append(message)

    asyncio.run(FileAnswer(Direct(), file, "application/x-any")({"type": "http"}, never, send))
    assert sent[0]["status"] == 200
    assert [len(message["body"]) for message in sent[1:]] == [PIECE, PIECE, 5, 0]
    assert [message["more_body"] for message in sent[1:]] == [True, True, True, False]
    assert file.closed
