"""Passes at full size: 1,000 of them, each sent twice to two collectors at once; kill -9 of all who serve them.

Run by ``make acceptance``.
"""

import signal
import threading
from concurrent.futures import ThreadPoolExecutor, wait

import httpx

from fldp import Survey
from fldp.passes.blind_rsa import EXPONENT, encode
from fldp.passes.tokens import PassSecret, _token
from support.collector_server import Server, batch, key, specification
from support.passes import KEY, asking, issued, pass_survey
from support.passes_under_fire import Crowd, KillableIssuer, kill_database
from support.postgres_server import PostgresServer, server

PASSES, PAIRS, KILLS = 1_000, 12, 12
PEOPLE, DEATHS = 200, 12  # of a collector, the issuer and the database in turn


def test_a_thousand_passes_sent_twice_to_two_collectors_at_once_count_a_thousand(tmp_path):
    database = server().database()
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first = Server(tmp_path / "a", database=database)
    second = Server(tmp_path / "b", database=database, token=first.token)
    try:
        survey = first.publish(pass_survey().canonical)
        texts = [issued(survey) for _ in range(PASSES)]
        start = threading.Barrier(16)

        def send(part):
            start.wait()
            with [first, second][part % 2].client() as client:
                return [
                    first.send(survey, batch(survey), key(), client, **{"Fldp-Ticket": text}).status_code
                    for text in texts[part // 2 :: 8]
                ]

        with ThreadPoolExecutor(16) as pool:
            statuses = [status for part in pool.map(send, range(16)) for status in part]
        assert sorted(statuses) == [200] * PASSES + [403] * PASSES
        assert first.counts() == second.counts() == {survey.version: PASSES}
        assert first.fsck().returncode == 0
        print(f"{PASSES:,} passes sent twice: {statuses.count(200):,} counted, {statuses.count(403):,} refused")
    finally:
        first.stop()
        second.stop()


def test_an_exchange_that_is_killed_at_any_moment_gives_the_same_bytes(tmp_path):
    """The collector is killed some milliseconds after a request was sent; the same request is then answered alike."""
    collector = Server(tmp_path)
    try:
        with collector.admin as admin:
            issuer_key = admin.post("/v1/issuers").json()["issuer_key"]
            survey = Survey.from_dict(specification(submit="pass", issuer_key=issuer_key))
            collector.publish(survey.canonical)
            reply = admin.post(f"/v1/versions/{survey.version}/tickets", json={"count": KILLS})
        path, early = f"/v1/versions/{survey.version}/passes", 0
        for place, ticket in enumerate(reply.json()["tickets"]):
            secret, request = asking(survey, ticket)
            with ThreadPoolExecutor(1) as pool:
                sent = pool.submit(_answered, collector.client(), path, request)
                wait([sent], 0.004 * place)
                collector.restart(signal.SIGKILL)
                answer = sent.result()
            with collector.client() as client:
                again = [client.post(path, **request).content for _ in range(2)]
                other = client.post(path, **asking(survey, ticket)[1])
            early += answer is not None
            assert again[0] == again[1] == (answer or again[0])
            assert other.status_code == 403
            survey.pass_terms.nonce(survey.pass_terms.pass_of(secret, again[0]))
        print(f"{KILLS} exchanges killed, {early} of them after the answer: the same bytes again, and no second pass")
        assert collector.fsck().returncode == 0
    finally:
        collector.stop()


def _answered(client, path, request):
    try:
        with client:
            return client.post(path, **request).content
    except httpx.HTTPError:
        return None


def test_passes_are_spent_once_while_collectors_issuer_and_database_are_killed(tmp_path):
    cluster = PostgresServer()
    folders = [tmp_path / name for name in ("a", "b", "issuer")]
    for folder in folders:
        folder.mkdir()
    database = cluster.database()
    first = Server(folders[0], database=database)
    second = Server(folders[1], database=database, token=first.token)
    issuer = KillableIssuer(folders[2], PEOPLE)
    try:
        crowd = Crowd([first, second], issuer)
        victims = [lambda: first.restart(signal.SIGKILL), issuer.restart, lambda: kill_database(cluster)]
        crowd.check(crowd.all_answer(victims, DEATHS))
        print(f"{PEOPLE} people, {DEATHS} times kill -9, {crowd.failed} requests that failed: {PEOPLE} counted")
    finally:
        issuer.kill()
        first.stop()
        second.stop()
        cluster.remove()


def test_every_pass_fits_every_request():
    survey = pass_survey()
    terms, n = survey.pass_terms, KEY.public.n
    root = pow(EXPONENT, -1, (KEY.p - 1) * (KEY.q - 1))
    secrets = [PassSecret.draw(terms.key) for _ in range(PAIRS)]
    seen = [terms.request(secret)[3:] for secret in secrets]
    replies = [KEY.sign(blinded) for blinded in seen]
    for secret, reply in zip(secrets, replies, strict=True):
        text = terms.pass_of(secret, reply)
        encoded = int.from_bytes(encode(_token(text)[:98], secret.salt, 2047))
        for blinded, other in zip(seen, replies, strict=True):
            blinding = pow(int.from_bytes(blinded) * pow(encoded, -1, n), root, n)
            assert terms.request(PassSecret(secret.nonce, secret.salt, blinding))[3:] == blinded
            assert terms.pass_of(PassSecret(secret.nonce, secret.salt, blinding), other) == text
    print(f"{PAIRS**2} of {PAIRS**2} pairs of a pass and a request belong together by one blinding each")
