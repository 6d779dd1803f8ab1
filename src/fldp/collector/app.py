"""The ASGI application: it routes every operation of the interface to the handler of the same name."""

from collections.abc import Sequence
from inspect import iscoroutinefunction
from types import ModuleType

from starlette.requests import Request
from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send

from fldp.collector.http import audit
from fldp.collector.http.calls import Handler, call_of
from fldp.collector.http.middleware import Gate
from fldp.collector.routes import (
    compare,
    estimates,
    gateway,
    integrity,
    pages,
    passes,
    plan,
    reports,
    surveys,
    tokens_and_health,
)
from fldp.collector.service.collector import Collector
from fldp.interface.operations import OPERATIONS, Operation

MODULES = (compare, estimates, gateway, integrity, pages, passes, plan, reports, surveys, tokens_and_health)


def create_app(collector: Collector, operations: Sequence[Operation] = OPERATIONS) -> Gate:
    """Return the ASGI application of a collector."""
    handlers, paths = handlers_of(operations), dict[str, dict[str, tuple[Operation, Handler]]]()
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method] = operation, handlers[operation.name]
    routes = [_route(collector, path, paths[path]) for path in sorted(paths, key=_busiest_first)]
    return Gate(Router(routes, redirect_slashes=False), collector)


def handlers_of(operations: Sequence[Operation]) -> dict[str, Handler]:
    """Return the handler of every operation: the public coroutine of that name in the routes. They must match 1:1."""
    handlers = {
        name: handler for module in MODULES for name, handler in vars(module).items() if _is_handler(module, name)
    }
    if odd := handlers.keys() ^ {operation.name for operation in operations}:
        raise LookupError(f"an operation and its handler must have one name, got {sorted(odd)}")
    return handlers


def _is_handler(module: ModuleType, name: str) -> bool:
    member = getattr(module, name)
    return iscoroutinefunction(member) and not name.startswith("_") and member.__module__ == module.__name__


def _busiest_first(path: str) -> tuple[bool, str]:
    """Sort key: reports come most often, so the router tries their path first."""
    return not path.endswith("/reports"), path


def _route(collector: Collector, path: str, methods: dict[str, tuple[Operation, Handler]]) -> Route:
    """Return one route for all methods of a path, so that a wrong method is answered with those that are allowed."""
    return Route(path.replace("{file}", "{file:path}"), _Endpoint(collector, path, methods), methods=list(methods))


class _Endpoint:
    """All methods of one path, as an ASGI application below the middleware."""

    def __init__(self, collector: Collector, path: str, methods: dict[str, tuple[Operation, Handler]]) -> None:
        self._collector, self._path, self._methods = collector, path, methods

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["state"]["route"] = self._path
        operation, handler = self._methods["GET" if scope["method"] == "HEAD" else scope["method"]]
        audit.begin(scope, operation)
        response = await handler(await call_of(self._collector, Request(scope, receive, send), operation))
        await response(scope, receive, send)
