"""Files of the web pages, which come with the package, under headers that admit nothing from elsewhere."""

import hashlib
import html
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable

from starlette.requests import Request
from starlette.responses import Response

KINDS = {"css": "text/css", "html": "text/html", "js": "text/javascript", "svg": "image/svg+xml"}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'{beside}; "
    "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'; frame-ancestors "
)
_COLLECTOR, _GATEWAY = 'name="fldp-collector" content=', 'name="fldp-gateway" content='


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


def policy(origins: Sequence[str], issuer: str | None = None) -> str:
    """Return the content security policy of a page that these origins may frame; it asks nobody else but an issuer.

    >>> policy(["https://a.example"]).rpartition("; ")[2]
    'frame-ancestors https://a.example'
    """
    return _POLICY.format(beside="" if issuer is None else f" {issuer}") + (" ".join(origins) or "'none'")


def page(
    name: str,
    origins: Sequence[str] = (),
    status: int = 200,
    *,
    collector: str = "",
    issuer: str | None = None,
    has_gateway: bool = False,
) -> Response:
    """Return a page. Only these origins can frame it, and no other page keeps a handle on its window.

    Where others serve it, ``collector`` tells the page whose surveys it asks. ``issuer`` is who else it may ask.
    ``has_gateway`` tells the dashboard that surveys can be answered through a relay.
    """
    headers = {
        "Content-Security-Policy": policy(origins, issuer),
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cache-Control": "no-cache",
    }
    named = f'{_COLLECTOR}"{html.escape(collector)}"'.encode()
    data = files()[name].data.replace(f'{_COLLECTOR}""'.encode(), named)
    if has_gateway:
        data = data.replace(f'{_GATEWAY}""'.encode(), f'{_GATEWAY}"yes"'.encode())
    return Response(data, status, headers, media_type="text/html")


def static_file(request: Request) -> Response | None:
    """Return the file that a request names, None if there is none; a browser asks each time whether it has changed."""
    file = files().get(request.path_params["file"])
    if file is None or file.kind == KINDS["html"]:
        return None
    headers = {"ETag": file.tag, "Cache-Control": "no-cache"}
    if request.headers.get("if-none-match") == file.tag:
        return Response(status_code=304, headers=headers)
    return Response(file.data, headers=headers, media_type=file.kind)
