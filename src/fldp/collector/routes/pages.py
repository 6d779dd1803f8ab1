"""Web pages: files that come with the collector, under headers that admit nothing from elsewhere."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable

from starlette.responses import Response

from fldp.collector.http.calls import Call
from fldp.collector.service.problems import Problem, not_found
from fldp.interface.models import Query

KINDS = {"css": "text/css", "html": "text/html", "js": "text/javascript", "svg": "image/svg+xml"}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'; frame-ancestors "
)


@dataclass(frozen=True)
class File:
    """A file of the pages, with its media type and entity tag."""

    data: bytes
    kind: str

    @property
    def tag(self) -> str:
        """The entity tag."""
        return f'"{hashlib.sha256(self.data).hexdigest()[:32]}"'


@cache
def files() -> dict[str, File]:
    """Return all files by their paths, vendored ones included.

    >>> files()["shared/page.css"].kind, files()["vendor/d3.js"].kind
    ('text/css', 'text/javascript')
    """
    served: dict[str, File] = {}
    _collect(resources.files("fldp.collector") / "static", "", served)
    return served


def _collect(folder: Traversable, prefix: str, served: dict[str, File]) -> None:
    """Add the files of a folder and of the folders in it, by their paths."""
    for entry in folder.iterdir():
        kind = KINDS.get(entry.name.rpartition(".")[2])
        if entry.is_dir():
            _collect(entry, f"{prefix}{entry.name}/", served)
        elif kind is not None:
            served[prefix + entry.name] = File(entry.read_bytes(), kind)


def policy(origins: Sequence[str]) -> str:
    """Return the content security policy of a page that these origins may frame.

    >>> policy(["https://a.example"]).rpartition("; ")[2]
    'frame-ancestors https://a.example'
    """
    return _POLICY + (" ".join(origins) or "'none'")


def _page(name: str, origins: Sequence[str], status: int = 200) -> Response:
    """Return a page. Only these origins can frame it, and no other page keeps a handle on its window."""
    headers = {
        "Content-Security-Policy": policy(origins),
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cache-Control": "no-cache",
    }
    return Response(files()[name].data, status, headers, media_type="text/html")


async def static(call: Call[Query, None]) -> Response:
    """Return a file of the pages; a browser asks each time whether it has changed."""
    file = files().get(call.request.path_params["file"])
    if file is None or file.kind == KINDS["html"]:
        raise not_found("file")
    headers = {"ETag": file.tag, "Cache-Control": "no-cache"}
    if call.request.headers.get("if-none-match") == file.tag:
        return Response(status_code=304, headers=headers)
    return Response(file.data, headers=headers, media_type=file.kind)


async def dashboard(call: Call[Query, None]) -> Response:
    """Return the dashboard. It holds nothing; what it shows it fetches with the token that somebody enters."""
    del call
    return _page("dashboard/dashboard.html", [])


async def answer_page(call: Call[None, None]) -> Response:
    """Return the page on which a survey is answered. It is the same for all; what it asks it fetches itself."""
    surveys, name = call.collector.surveys, call.request.path_params["name"]
    try:
        _, terms = await surveys.shown(name, call.collector.now)
        origins, status = terms.origins, 200
    except Problem as problem:
        if problem.status != 404:
            raise
        origins, status = (), 404
    return _page("answer/answer.html", origins, status)
