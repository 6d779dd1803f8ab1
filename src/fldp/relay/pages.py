"""The answer page from a relay: the collector never sees the browser, and the code is not the collector's.

The name of the survey stands after ``#``, which no browser sends, and everybody fetches the same files. So the relay
does not learn what is asked.
"""

from collections.abc import Awaitable, Callable
from functools import partial

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from fldp.client.address import Address
from fldp.collector.http.headers import HEADERS
from fldp.collector.http.page_files import page, static_file

_PARTS = ("answer/", "shared/", "fldp")  # of the files of all pages
_Answering = Callable[[Request], Awaitable[Response]]


def page_routes(collector: Address, issuer: str | None) -> list[Route]:
    """Return the routes of the answer page, for the surveys of a collector, and passes of an issuer."""
    routes: dict[str, _Answering] = {
        "/s": _moved,
        "/s/": partial(_answer_page, str(collector), issuer),
        "/static/{file:path}": _file,
    }
    return [Route(path, route, methods=["GET"]) for path, route in routes.items()]


async def _moved(_request: Request) -> Response:
    """Send on to where relative addresses lead to the relay's files, behind whatever path it is."""
    return _complete(Response(status_code=308, headers={"Location": "s/", "Cache-Control": "no-cache"}))


async def _answer_page(collector: str, issuer: str | None, _request: Request) -> Response:
    return _complete(page("answer/answer.html", collector=collector, issuer=issuer))


async def _file(request: Request) -> Response:
    file = static_file(request) if request.path_params["file"].startswith(_PARTS) else None
    if file is None:
        raise HTTPException(404, "there is no such file")
    return _complete(file)


def _complete(response: Response) -> Response:
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    return response
