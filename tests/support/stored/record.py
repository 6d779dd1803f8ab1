"""Record a database as a release leaves it, with everything that its collector answers: run before the schema changes.

    python tests/support/stored/record.py NUMBER

Writes ``collector_NUMBER.tar.gz`` (the folder of a SQLite collector), ``collector_NUMBER.sql.gz`` (the same requests to
PostgreSQL, dumped) and ``collector_NUMBER.json.gz`` (what was sent, and what the collector answered) beside this file.
The collector and the surveys are those of whichever ``fldp`` is imported: an older one with PYTHONPATH at its ``src``.
Everything goes through HTTP, so that this file works with all releases; a kind of survey that one did not know is left
out.
"""

import base64
import gzip
import json
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

import httpx

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))

import fldp  # noqa: E402
from fldp import wire  # noqa: E402
from support.ports import free_port  # noqa: E402
from support.postgres_server import PASSWORD, PostgresServer, program  # noqa: E402

LABELS = ["tea", "coffee", "cocoa", "water", "milk"]
WORDS = ["alpha", "beta", "gamma", "delta"]
STRINGS = {"domain": "strings", "oracle": {"name": "hcms", "epsilon": 2.0, "hashes": 8, "width": 64, "hash_seed": 5}}
NUMBER = {"number": {"low": 0, "high": 10, "unit": "h"}, "oracle": {"epsilon": 1.0}}
QUESTIONS = [
    {"name": "os", "question": "Which system?", "labels": ["linux", "mac", "windows"]},
    {"name": "plan", "question": "Do you pay?", "labels": ["no", "yes"]},
]
RAPPOR = {"name": "rappor", "epsilon": 1.0, "epsilon_permanent": 2.0, "bits": 32, "hashes": 2, "cohorts": 4}


def labelled(oracle="grr", **more):
    """A survey of five drinks."""
    return {"question": "What do you drink?", "labels": LABELS, "oracle": {"name": oracle, "epsilon": 1.0}, **more}


# Each kind: what it asks, the rules of collecting, and the answers that people give.
KINDS = {
    "kept": (labelled(), {}, LABELS),
    "summed": (labelled("oue"), {"retention": "tally"}, LABELS),
    "flexible": (labelled("fhr"), {}, LABELS),
    "hashed": (labelled("olh"), {"retention": "tally"}, LABELS),
    "ticketed": (labelled("ss"), {"submit": "ticket"}, LABELS),
    "tokened": (labelled("hr"), {"submit": "token"}, LABELS),
    "closed": (labelled("sue"), {}, LABELS),
    "sensitive": (labelled("urr", sensitive=["tea", "milk"]), {}, LABELS),
    "budgets": (labelled("idue", budgets={"milk": 0.5}), {}, LABELS),
    "released": (labelled(), {"release": 1000}, LABELS),
    "strings": ({"question": "Which word?", **STRINGS}, {}, WORDS),
    "daily": ({"question": "Which?", "domain": "strings", "oracle": RAPPOR}, {"repeat": "daily"}, WORDS),
    "search": (
        {"question": "Which?", "domain": "strings", "oracle": {"epsilon": 2.0}, "search": {"rounds": 2, "bits": 8}},
        {},
        WORDS,
    ),
    "numbers": ({"question": "How long?", **NUMBER}, {}, ["1", "2.5", "9"]),
    "several": (
        {"questions": QUESTIONS, "oracle": {"epsilon": 2.0}},
        {},
        [{"os": "mac", "plan": "no"}, {"os": "linux", "plan": "yes"}],
    ),
    "weekly": (labelled("hrr"), {"repeat": "weekly"}, LABELS),
    "lasting": (
        labelled(oracle="lwr") | {"oracle": {"name": "lwr", "epsilon": 0.5, "epsilon_permanent": 1.0}},
        {"repeat": "daily"},
        LABELS,
    ),
}
RESULTS = ("estimates", "days", "integrity")


class Release:
    """A collector of the release that is imported, in a process of its own."""

    def __init__(self, folder, *options):
        self.folder, self.options, self.token, self.sent = folder, options, None, []

    def start(self, fold_seconds):
        port = free_port()
        data = ("--data", str(self.folder), "--port", str(port), "--fold-seconds", str(fold_seconds))
        first = self._first_token()
        with (self.folder.parent / "log").open("ab") as log:
            command = [sys.executable, "-m", "fldp", "serve", *data, *self.options, *first]
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        assert self.process.stdout.readline().startswith("fldp: listening"), (self.folder.parent / "log").read_text()
        if self.token is None:
            said = self.process.stdout.readline()
            file = self.folder.parent / "token"
            self.token = file.read_text().strip() if first else said.split()[-1]
        self.http = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60)

    def _first_token(self):
        said = subprocess.run([sys.executable, "-m", "fldp", "serve", "--help"], capture_output=True, text=True).stdout
        named = "--admin-token-file" in said and self.token is None
        return ("--admin-token-file", str(self.folder.parent / "token")) if named else ()

    def stop(self):
        self.http.close()
        self.process.terminate()
        assert self.process.wait(120) == 0
        self.process.stdout.close()

    def ask(self, method, path, *, token=None, **options):
        headers = {"Authorization": f"Bearer {token or self.token}", **options.pop("headers", {})}
        return self.http.request(method, path, headers=headers, **options)

    def send(self, path, body, key, headers=None, token=None):
        """Send something that is counted once, and keep what was sent and what was answered."""
        all_headers = {"Idempotency-Key": key, **(headers or {})}
        reply = self.ask("POST", path, content=body, headers=all_headers, token=token)
        assert reply.is_success, reply.text
        sent = {"path": path, "body": base64.b64encode(body).decode(), "headers": all_headers, "token": token}
        self.sent.append({**sent, "reply": reply.json()})


def published(release):
    """Publish a survey of each kind that the release knows; return them by their kinds."""
    known = {}
    for kind, (asked, rules, _) in KINDS.items():
        try:
            survey = fldp.Survey.from_dict({"name": kind, **asked, "collect": {"minimum": 1, **rules}})
        except fldp.FldpError as error:
            print(f"left out: {kind}: {error}".splitlines()[0])
            continue
        reply = release.ask("POST", "/v1/surveys", json=survey.canonical)
        assert reply.is_success, reply.text
        known[kind] = survey
    return known


def key(*parts):
    return "-".join(["a-key-of-a-request", *map(str, parts)])


def batch(survey, answers, seed):
    return wire.encode(survey.privatize(answers, rng=seed), survey.version)


def first_half(release, known):
    """Send reports that will be folded and a merged tally; make tickets and tokens; close and delete surveys."""
    secrets = {}
    for kind, survey in known.items():
        path, answers = f"/v1/versions/{survey.version}/reports", KINDS[kind][2]
        if kind == "ticketed":
            created = release.ask("POST", f"/v1/versions/{survey.version}/tickets", json={"count": 4}).json()
            secrets["tickets"] = created["tickets"]
            for place, ticket in enumerate(created["tickets"][:2]):
                body = batch(survey, [LABELS[place]], 40 + place)
                release.send(path, body, key(kind, place), {"Fldp-Ticket": ticket})
            continue
        for seed in range(2):
            release.send(path, batch(survey, answers * 10, seed), key(kind, seed))
    survey = known["kept"]
    tally = wire.encode_tally(survey.oracle.tally(survey.privatize(LABELS * 7, rng=9)), survey.version)
    release.send(f"/v1/versions/{survey.version}/merge", tally, key("merged"))
    for scope, survey in (("read", None), ("read", "kept"), ("send", "tokened"), ("read", "summed")):
        fields = {"scope": scope, **({"survey": survey} if survey else {})}
        created = release.ask("POST", "/v1/tokens", json=fields).json()
        secrets[f"{scope} {survey}"] = created
    release.ask("DELETE", f"/v1/tokens/{secrets['read summed']['id']}")
    release.ask("POST", "/v1/surveys/closed/close")
    gone = fldp.Survey.from_dict({"name": "gone", **labelled(), "collect": {"minimum": 1}})
    release.ask("POST", "/v1/surveys", json=gone.canonical)
    assert release.ask("DELETE", "/v1/surveys/gone?all=true").is_success
    return secrets


def second_half(release, known, secrets):
    """Send reports that wait to be folded when the collector stops; take one batch back, where the release can."""
    for kind, survey in known.items():
        if kind not in ("ticketed", "closed"):
            token = secrets["send tokened"]["token"] if kind == "tokened" else None
            body = batch(survey, KINDS[kind][2] * 3, 7)
            release.send(f"/v1/versions/{survey.version}/reports", body, key(kind, 7), token=token)
    version = known["flexible"].version
    sent = next(one for one in release.sent if one["headers"]["Idempotency-Key"] == key("flexible", 1))
    body = base64.b64decode(sent["body"])
    taken = release.ask("POST", f"/v1/versions/{version}/withdrawals", content=body, headers=sent["headers"])
    print("withdrawal:", taken.status_code)
    return taken.json() if taken.is_success else None


def answers(release, known):
    """Return everything that the collector answers about what it holds."""
    replies = {path: release.ask("GET", path).json() for path in ("/v1/surveys", "/v1/tokens")}
    for kind, survey in known.items():
        version = f"/v1/versions/{survey.version}"
        replies[f"/v1/surveys/{kind}"] = release.ask("GET", f"/v1/surveys/{kind}").json()
        replies[f"{version}/tally"] = base64.b64encode(release.ask("GET", f"{version}/tally").content).decode()
        for result in RESULTS:
            strings = {"json": {"candidates": WORDS}} if KINDS[kind][2] is WORDS and kind != "search" else {}
            method = "POST" if strings and result == "estimates" else "GET"
            options = strings if method == "POST" else {}
            reply = release.ask(method, f"{version}/{result}", **options)
            replies[f"{version}/{result}"] = {
                "status": reply.status_code,
                "method": method,
                "reply": reply.json(),
                **options,
            }
    return replies


def folded(release):
    """Wait until nothing waits to be folded."""
    while "fldp_pending_reports 0" not in release.ask("GET", "/metrics").text.splitlines():
        time.sleep(0.1)


def recorded(folder, *options):
    """Fill a database; return what was sent and answered."""
    release = Release(folder, *options)
    release.start(0.1)
    known = published(release)
    secrets = first_half(release, known)
    folded(release)
    release.stop()
    release.start(3600)
    taken = second_half(release, known, secrets)
    expected = {"admin": release.token, "secrets": secrets, "sent": release.sent, "withdrawn": taken}
    expected["answers"] = answers(release, known)
    release.stop()
    return expected


def dumped(url):
    command = [program("pg_dump"), "--schema=fldp", "--no-owner", "--no-privileges", "--dbname", url]
    return subprocess.run(command, check=True, capture_output=True, env={"PGPASSWORD": PASSWORD}).stdout


def main(number):
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "sqlite" / "data"
        other = Path(folder) / "postgres" / "data"
        for place in (data, other):
            place.mkdir(parents=True)
        recordings = {"sqlite": recorded(data)}
        with tarfile.open(HERE / f"collector_{number}.tar.gz", "w:gz") as archive:
            for file in sorted(data.iterdir()):
                print(file.name, file.stat().st_size)
                archive.add(file, file.name)
        server = PostgresServer()
        try:
            url = server.database()
            recordings["postgres"] = recorded(other, "--database", url)
            (HERE / f"collector_{number}.sql.gz").write_bytes(gzip.compress(dumped(url), mtime=0))
        finally:
            server.remove()
    text = json.dumps(recordings, indent=1, sort_keys=True).encode()
    (HERE / f"collector_{number}.json.gz").write_bytes(gzip.compress(text, mtime=0))


if __name__ == "__main__":
    main(sys.argv[1])
