"""Databases of every schema that there was, as their own collectors left them: this one answers as those did.

``tests/support/stored/record.py`` ran the collector of each schema over HTTP, on SQLite and on PostgreSQL: a survey of
every kind it knew, reports folded and waiting, a merged tally, tickets, tokens, closed and deleted surveys, and from
schema 4 on something taken back. Beside each database lies what was sent and what that collector answered.
"""

import asyncio
import base64
import gzip
import json
import math
import re
import subprocess
import tarfile
from functools import cache
from itertools import pairwise
from pathlib import Path

import httpx
import pytest

from fldp.collector.app import create_app
from fldp.collector.config.database_url import Database
from fldp.collector.config.settings import Settings
from fldp.collector.service.collector import Collector
from fldp.collector.storage.fsck import fsck
from fldp.collector.storage.migrations import steps
from fldp.collector.storage.postgres.store import PostgresStore
from fldp.collector.storage.sqlite.store import SqliteStore
from support.collector_store import STORES, rows
from support.postgres_server import PASSWORD, program, server

STORED = Path(__file__).parents[2] / "support" / "stored"
SCHEMAS = range(1, len(steps("sqlite")) + 1)
# Intervals and tests of integrity are those of this release; counts, standard errors and verdicts are as they were.
SHARPER = {"low", "high", "p_value", "worst"}
SENTENCES = ("/gives_away", "/note")  # for people: their words may change
# The errors of views, in surveys of numbers and of several questions, are the larger of two variances now; RAPPOR's, in
# the daily survey, are at unbiased counts.
MENDED, LARGER = {"numbers", "several", "daily"}, 1.05


@cache
def recorded(schema):
    return json.loads(gzip.decompress((STORED / f"collector_{schema}.json.gz").read_bytes()))


def restored(kind, schema, folder):
    """Put the database of a schema where this collector finds it, and open it."""
    if kind == "sqlite":
        with tarfile.open(STORED / f"collector_{schema}.tar.gz") as archive:
            archive.extractall(folder, filter="data")
        return SqliteStore(folder / "fldp.db")
    url = server().database()
    dump = gzip.decompress((STORED / f"collector_{schema}.sql.gz").read_bytes())
    command = [program("psql"), "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", "--dbname", url]
    subprocess.run(command, input=dump, check=True, stdout=subprocess.DEVNULL, env={"PGPASSWORD": PASSWORD})
    return PostgresStore(Database(url))


def by_claim(told):
    """Return tests of integrity by what they claim: a later release makes more of them."""
    is_tests = isinstance(told, list) and told and all(isinstance(one, dict) and "claim" in one for one in told)
    return {one["claim"]: one for one in told} if is_tests else told


def is_same(where, before, now):
    """Whether an answer is as it was, a sentence by its figures; processors round sums of floats differently."""
    if where.endswith(SENTENCES) and before and now:
        return re.findall(r"\d+", before) == re.findall(r"\d+", now)
    if isinstance(before, float) and isinstance(now, float):
        return math.isclose(before, now, rel_tol=1e-9)
    return before == now


def kept(before, now, where="", same=is_same):
    """Yield where an answer of today lacks or changes what an earlier one said; new fields are fine."""
    if isinstance(before, dict) and isinstance(now, dict):
        for name in before.keys() - SHARPER:
            yield from kept(by_claim(before[name]), by_claim(now.get(name)), f"{where}/{name}", same)
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for place, (one, other) in enumerate(zip(before, now, strict=True)):
            yield from kept(one, other, f"{where}/{place}", same)
    elif not same(where, before, now):
        yield f"{where}: {before!r} is now {now!r}"


def same_but_errors(where, before, now):
    """Whether an answer is as it was; its errors, and what a note says of them, may be a little larger."""
    if now is None or is_same(where, before, now):
        return is_same(where, before, now)
    if where.endswith("/stderr"):
        return before < now < LARGER * before
    return where.endswith("/note") and re.sub(r"\d", "", before) == re.sub(r"\d", "", now)


class Asking:
    """A client of the collector of today, with the tokens of then."""

    def __init__(self, http, written):
        self.http, self.written = http, written

    async def ask(self, method, path, token=None, **options):
        headers = {"Authorization": f"Bearer {token or self.written['admin']}", **options.pop("headers", {})}
        return await self.http.request(method, path, headers=headers, **options)

    async def again(self, sent, **headers):
        body = base64.b64decode(sent["body"])
        return await self.ask("POST", sent["path"], sent["token"], content=body, headers={**sent["headers"], **headers})

    async def answered(self, path, before):
        """Ask what was asked then; return the answer in the form in which it was recorded."""
        if isinstance(before, str):
            return base64.b64encode((await self.ask("GET", path)).content).decode()
        if not isinstance(before, dict) or "method" not in before:
            return (await self.ask("GET", path)).json()
        options = {"json": before["json"]} if "json" in before else {}
        reply = await self.ask(before["method"], path, **options)
        return {**before, "status": reply.status_code, "reply": reply.json()}


async def everything_is_answered_as_before(asking):
    names = {entry["version"]: entry["name"] for entry in asking.written["answers"]["/v1/surveys"]}
    for path, before in asking.written["answers"].items():
        is_mended = any(version in path and name in MENDED for version, name in names.items())
        same = {"same": same_but_errors} if is_mended else {}
        assert list(kept(before, await asking.answered(path, before), path, **same)) == []


async def what_was_sent_is_known(asking):
    """The same key and body again: the same answer, and nothing is counted; another body is refused."""
    withdrawn = json.dumps(asking.written["withdrawn"]) != "null"
    for sent in asking.written["sent"]:
        reply = await asking.again(sent)
        if withdrawn and sent["headers"]["Idempotency-Key"].endswith("flexible-1"):
            assert reply.status_code == 410
        else:
            assert list(kept(sent["reply"], reply.json(), sent["path"])) == []
    first, second = asking.written["sent"][:2]
    other = await asking.again({**first, "body": second["body"]})
    assert (other.status_code, other.json()["type"]) == (409, "urn:fldp:conflict")


async def tickets_and_tokens_are_good_for_what_they_were(asking):
    spent = next(sent for sent in asking.written["sent"] if "Fldp-Ticket" in sent["headers"])
    used, _, free, _ = asking.written["secrets"]["tickets"]
    fresh = {"Idempotency-Key": "another-key-of-a-request"}
    assert (await asking.again(spent, **fresh)).status_code == 403
    assert (await asking.again(spent, **fresh, **{"Fldp-Ticket": free})).status_code == 200
    assert used != free
    bound, revoked = (asking.written["secrets"][name]["token"] for name in ("read kept", "read summed"))
    results = {path: path.split("/")[3] for path in asking.written["answers"] if path.endswith("/estimates")}
    names = {entry["version"]: entry["name"] for entry in asking.written["answers"]["/v1/surveys"]}
    for path, version in results.items():
        expected = 200 if names[version] == "kept" else 403
        if names[version] in ("kept", "summed", "hashed"):
            assert (await asking.ask("GET", path, bound)).status_code == expected, names[version]
            assert (await asking.ask("GET", path, revoked)).status_code == 401


@pytest.mark.parametrize("kind", STORES)
@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_database_of_each_schema_is_answered_for_as_before(tmp_path, kind, schema):
    store = restored(kind, schema, tmp_path)
    assert fsck(store)[1] == []
    collector = Collector(Settings(data=tmp_path, fold_seconds=3600), store)  # what waits, waits
    reports = store.counts()

    async def story():
        transport = httpx.ASGITransport(create_app(collector))
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as http:
            asking = Asking(http, recorded(schema)[kind])
            await everything_is_answered_as_before(asking)
            await what_was_sent_is_known(asking)
            assert store.counts() == reports
            await everything_is_answered_as_before(asking)
            await tickets_and_tokens_are_good_for_what_they_were(asking)

    try:
        asyncio.run(story())
        assert sum(store.counts().values()) == sum(reports.values()) + 1
        assert fsck(store)[1] == []
        assert rows(store, "SELECT count(*) FROM tickets WHERE spent = 1") == [(3,)]
    finally:
        collector.stop()


@pytest.mark.parametrize("kind", STORES)
def test_every_schema_was_recorded_with_every_kind_of_survey_it_knew(kind):
    """Whoever adds a migration records the schema before: see ``record.py``."""
    known = [{entry["name"] for entry in recorded(schema)[kind]["answers"]["/v1/surveys"]} for schema in SCHEMAS]
    assert all(earlier <= later for earlier, later in pairwise(known))
    assert {"kept", "summed", "ticketed", "strings", "daily", "search", "sensitive"} <= known[0]
    assert {"numbers", "several", "weekly", "lasting", "released"} <= known[-1]
