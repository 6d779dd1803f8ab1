"""Cache of answers by entity tag, so that polling costs hardly anything while nothing has changed.

Only answers that need a token are cached. Without one, the entity tag would act as a cookie: a collector could give
everybody a different tag, and recognise people by it.
"""

import re
import threading
from collections import OrderedDict
from dataclasses import replace

from fldp.client.messages import Reply, Request

MAX_ANSWERS, MAX_BYTES = 16, 1 << 23
_TAG = re.compile(r'(W/)?"[\x21\x23-\x7e]{0,200}"', re.ASCII)
_Asked = tuple[str, tuple[tuple[str, str], ...]]


class Remembered:
    """The latest answers, at most ``MAX_BYTES`` in all.

    >>> known, question = Remembered(), Request("GET", "/v1/surveys", remembered=True)
    >>> known.keep(question, Reply(200, {"etag": '"1"'}, b"[]"))
    >>> known.find(question).body
    b'[]'
    """

    def __init__(self) -> None:
        self._answers, self._lock = OrderedDict[_Asked, Reply](), threading.Lock()

    def find(self, request: Request) -> Reply | None:
        """Return the answer that a request had before."""
        with self._lock:
            return self._answers.get(_asked(request)) if request.remembered else None

    def keep(self, request: Request, reply: Reply) -> None:
        """Keep an answer that has a tag, and drop the oldest ones beyond the limit."""
        if not request.remembered or not _TAG.fullmatch(reply.headers.get("etag", "")) or len(reply.body) > MAX_BYTES:
            return
        with self._lock:
            self._answers[_asked(request)] = reply
            self._answers.move_to_end(_asked(request))
            while (
                len(self._answers) > MAX_ANSWERS or sum(len(held.body) for held in self._answers.values()) > MAX_BYTES
            ):
                self._answers.popitem(last=False)


def unless(request: Request, held: Reply | None) -> Request:
    """Return the request that asks for an answer only if it is not the one that is held."""
    if held is None:
        return request
    return replace(request, headers={**request.headers, "If-None-Match": held.headers["etag"]})


def _asked(request: Request) -> _Asked:
    return request.path, tuple(request.query.items())
