"""A collector that misbehaves: the part of the contract that sending needs, and faults on request.

The first part of a path is the fault: ``http://127.0.0.1:PORT/busy`` is the address of a collector that is busy at
first. All of them share surveys and counts. Run as ``python -m support.collector_double PORT``.
"""

import asyncio
import hashlib
import json
import sys
from collections import Counter

from starlette.applications import Starlette
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from fldp import Survey, WireError, wire

OPEN = {"created": "2026-11-01T00:00:00Z", "closed": None, "state": "open"}
surveys, answers, counts, seen, times = {}, {}, Counter(), [], Counter()


def problem(status, detail, headers=None, **more):
    body = {"type": "about:blank", "title": "no", "status": status, "detail": detail, **more}
    return Response(json.dumps(body), status, {**(headers or {})}, "application/problem+json")


def specification(survey):
    return {"version": survey.version, "survey": survey.canonical, "state": "open"}


async def create(request):
    survey = Survey.from_dict(await request.json())
    surveys[survey.version] = survey
    return JSONResponse({"name": survey.name, "version": survey.version, "submit": "open", **OPEN}, 201)


async def listed(request):
    more = {"decoders": [], "methods": [], **OPEN}
    rows = [{"name": s.name, "version": v, "question": s.question, "n": counts[v], **more} for v, s in surveys.items()]
    return JSONResponse(rows[::-1])


async def show(request):
    wanted = request.query_params.get("version")
    matching = [s for v, s in surveys.items() if s.name == request.path_params["name"] and wanted in (None, v)]
    return JSONResponse(specification(matching[-1])) if matching else problem(404, "no such survey")


async def reports(request):
    version, body = request.path_params["version"], await request.body()
    scope, digest = (version, request.headers["idempotency-key"]), hashlib.sha256(body).digest()
    if version not in surveys:
        return problem(404, "no such version")
    if scope in answers and answers[scope][0] != digest:
        return problem(409, "this key was used for something else")
    if scope not in answers:
        try:
            count = len(wire.decode(body, surveys[version].oracle, version))
        except WireError as error:
            return problem(422, str(error), index=3)
        answers[scope] = (digest, count)
        counts[version] += count
    return JSONResponse({"accepted": answers[scope][1]})


CONTRACT = {
    ("POST", "surveys"): create,
    ("GET", "surveys"): listed,
    ("GET", "survey"): show,
    ("POST", "reports"): reports,
}


async def plain(request):
    parts = request.path_params["path"].split("/")
    request.path_params.update({"name": parts[-1], "version": parts[-2]})
    kind = "survey" if parts[1:2] == ["surveys"] and len(parts) == 3 else parts[-1]
    action = CONTRACT.get((request.method, kind))
    return await action(request) if action else problem(404, "no such path")


def first(request, number):
    """Whether this is one of the first so many requests of its method, path and key."""
    what = (request.method, request.url.path, request.headers.get("idempotency-key"))
    times[what] += 1
    return times[what] <= number


async def busy(request):
    if first(request, 2):
        return problem(503, "too many requests in flight", {"Retry-After": "0"})
    return await plain(request)


async def hour(request):
    return problem(429, "too many requests", {"Retry-After": "3600"})


async def lost(request):
    """Act, and let a gateway lose the answer."""
    answer = await plain(request)
    return problem(504, "the gateway gave up") if first(request, 1) else answer


async def failed(request):
    """Act, and fail before the answer."""
    answer = await plain(request)
    return problem(500, "the collector made a mistake") if first(request, 1) else answer


async def always(request):
    return problem(503, "busy for ever")


async def gentle(request):
    await asyncio.sleep(0.03)
    return await plain(request)


async def slow(request):
    await asyncio.sleep(6)
    return await plain(request)


async def pouring():
    for _ in range(1000):
        yield b"[" * 65536


async def dripping():
    for _ in range(50):
        yield b" "
        await asyncio.sleep(0.1)


async def huge(request):
    return StreamingResponse(pouring(), media_type="application/json")


async def drip(request):
    return StreamingResponse(dripping(), media_type="application/json")


async def redirect(request):
    return RedirectResponse("/plain/stolen", 307)


async def cookie(request):
    answer = await plain(request)
    answer.set_cookie("person", "number-7")
    return answer


async def echo(request):
    said = f"{request.headers.get('authorization')} {request.headers.get('fldp-ticket')} \x1b[31m\nis wrong"
    return problem(401, said, {"WWW-Authenticate": "Bearer"})


async def other(request):
    """Publish something else than what is asked for."""
    if request.method == "POST":
        return await plain(request)
    fields = specification(list(surveys.values())[-1])
    return JSONResponse({**fields, "survey": {**fields["survey"], "name": "another"}})


async def forged(request):
    """Publish another question under the version of the one that people know."""
    if request.method == "POST":
        return await plain(request)
    fields = specification(list(surveys.values())[-1])
    return JSONResponse({**fields, "survey": {**fields["survey"], "question": "Which disease do you have?"}})


async def closed(request):
    fields = specification(list(surveys.values())[-1])
    return JSONResponse({**fields, "state": "closed"})


async def fewer(request):
    return JSONResponse({"accepted": 0})


def canned(body, status=200, media="application/json", **headers):
    async def answer(request):
        return Response(body, status, {name.replace("_", "-"): value for name, value in headers.items()}, media)

    return answer


FAULTS = {
    **{
        f.__name__: f
        for f in (plain, busy, hour, lost, failed, always, gentle, slow, huge, drip, redirect, cookie, echo)
    },
    **{f.__name__: f for f in (other, forged, closed, fewer)},
    "garbage": canned(b"<html>"),
    "deep": canned(b"[" * 100_000),
    "digits": canned(b'{"accepted": ' + b"9" * 10_000 + b"}"),
    "packed": canned(b"\x1f\x8b", content_encoding="gzip"),
    "crash": canned(b"<h1>Internal Server Error</h1>", 500, "text/html"),
    "list": canned(b"[1, 2]"),
    "truth": canned(b'{"accepted": true}'),
    "parquet": canned(b"PAR1 and more and then PAR1"),
    "cut": canned(b"PAR1 and more"),
}


async def requested(request):
    return JSONResponse(seen)


async def fault(request):
    seen.append({"path": request.url.path, "method": request.method, "headers": dict(request.headers)})
    return await FAULTS[request.path_params["fault"]](request)


app = Starlette(
    routes=[
        Route("/seen", requested),
        Route("/{fault}/{path:path}", fault, methods=["GET", "POST", "DELETE"]),
    ]
)

if __name__ == "__main__":
    from granian import Granian

    Granian("support.collector_double:app", interface="asgi", port=int(sys.argv[1]), log_enabled=False).serve()
