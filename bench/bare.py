"""The limits of the collector: the same HTTP server around a function that does next to nothing.

    python bare.py constant|asgi|tally PORT SURVEY

``constant`` reads the body and gives the same answer to everybody, and so does ``asgi``, by the interface that the
collector uses instead of Granian's own. ``tally`` also decodes the batch and adds it up.
All have no framework, no limits, no keys, and store nothing.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from granian.constants import HTTPModes, Interfaces
from granian.server.embed import Server

from fldp import Survey, wire
from fldp.collector.server import loop_factory

Application = Callable[..., Awaitable[None]]
HEADERS = [("content-type", "application/json")]
RAW_HEADERS = [(name.encode(), value.encode()) for name, value in HEADERS]
ANSWER = b'{"accepted":1}'


async def constant(scope: object, proto: Any) -> None:
    del scope
    await proto()
    proto.response_bytes(200, HEADERS, ANSWER)


async def asgi(scope: object, receive: Any, send: Any) -> None:
    del scope
    await receive()
    await send({"type": "http.response.start", "status": 200, "headers": RAW_HEADERS})
    await send({"type": "http.response.body", "body": ANSWER})


def tallying(survey: Survey) -> Application:
    async def tally(scope: object, proto: Any) -> None:
        del scope
        body = await proto()
        reports = wire.decode(body, survey.oracle, survey.version)
        survey.oracle.tally(reports)
        proto.response_bytes(200, HEADERS, b'{"accepted":%d}' % len(reports))

    return tally


async def serve(application: Application, port: int) -> None:
    server = Server(
        application,
        port=port,
        interface=Interfaces.ASGINL if application is asgi else Interfaces.RSGI,
        http=HTTPModes.http1,
        websockets=False,
        backlog=1024,
        backpressure=1024,
        log_enabled=False,
    )
    print(f"listening on {port}", flush=True)
    await server.serve()


if __name__ == "__main__":
    kind, port, file = sys.argv[1:]
    survey = Survey.parse(Path(file).read_text(), is_json=True)
    application = {"constant": constant, "asgi": asgi, "tally": tallying(survey)}[kind]
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(serve(application, int(port)))
