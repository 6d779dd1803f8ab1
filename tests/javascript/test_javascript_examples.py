"""Every example in JavaScript on every page is run, here in Node at a collector and a relay, or by another test."""

import json
import shutil
import subprocess

from fldp import Client, Survey
from support.collector_server import Server, specification
from support.commands import run_here
from support.documents import PAGES, blocks
from support.javascript import HERE as SUPPORT
from support.javascript import ROOT, build, node
from support.relays import relay

RUN_BY = {  # parts of examples that another test runs
    "globalThis.indexedDB ? databaseStore()": "tests/javascript/test_javascript_readme.py",
    "// hello.mjs": "tests/javascript/test_javascript_telemetry_collector.py",
    # a listener of a page: what it hears is tested there
    'document.querySelector("iframe")': "tests/browser/test_browser_embedding.py",
}
EXPECTED = {  # how examples begin after their imports: the survey that they are about, and what becomes of the answer
    "const relay = through": ("browser", "sent"),
    "const pass = await": ("commute", "sent"),
    "const telemetry": ("browser", "none"),
    "const oracles": ("browser", "none"),
    "const person": ("browser", "none"),
    "participant(survey, {": ("browser", "none"),
    "const store": ("browser", "none"),
    "const answer = await participant(survey).withdraw": ("browser", "withdrawn"),
}
LABELS = ["chrome", "firefox", "bicycle", "edge", "other"]


EXAMPLES = [
    block.text
    for path in (ROOT / "js" / "README.md", *PAGES)
    for block in blocks(path)
    if block.language in ("js", "javascript", "mjs", "ts")
]
RUN_HERE = [text for text in EXAMPLES if not any(part in text for part in RUN_BY)]  # those that are run here


def expected(text):
    """Return the survey of an example, and what becomes of the answer."""
    code = "\n".join(line for line in text.splitlines() if line and not line.startswith("import"))
    ((name, state),) = (outcome for start, outcome in EXPECTED.items() if code.startswith(start))
    return name, "queued" if "delay:" in code else state


def published(client):
    """Publish what the examples take for granted: three surveys, and tickets for one of them."""
    rules = {"submit": "pass", "issuer_key": client.create_issuer(), "minimum": 1}
    commute = {**specification("commute", **rules), "labels": LABELS}
    urr = {"name": "urr", "epsilon": 1.0, "sensitive": [1, 2]}
    surveys = [Survey.from_dict(each) for each in (commute, specification(), specification("health", urr))]
    for survey in surveys:
        client.create(survey)
    return client.tickets(surveys[0], len(RUN_HERE))


def task(text, ticket, addresses):
    """Return an example as the program in JavaScript takes it."""
    before = "firefox" if ".withdraw(" in text else None
    for shown, real in addresses.items():
        text = text.replace(shown, real)
    return {"text": text, "name": expected(text)[0], "ticket": ticket, "before": before}


def ran(folder, request):
    package = build(folder)
    shutil.copy(SUPPORT / "javascript_examples.mjs", package)
    command, text = [node(), "javascript_examples.mjs"], json.dumps(request)
    done = subprocess.run(command, cwd=package, input=text, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def exported_metrics(folder):
    (metrics,) = (block.text for block in blocks(ROOT / "docs" / "telemetry.md") if block.file == "metrics.toml")
    (folder / "metrics.toml").write_text(metrics)
    run_here("telemetry", "export", folder / "metrics.toml", "-o", folder / "metrics.json")
    return json.loads((folder / "metrics.json").read_text())


def test_what_examples_do_happens(tmp_path):
    server = Server(tmp_path, ohttp="true")
    try:
        with Client(server.url, server.token) as client, relay(server.url) as address:
            addresses = {"https://collector.example": server.url, "https://relay.example": address}
            tasks = [task(text, ticket, addresses) for text, ticket in zip(RUN_HERE, published(client), strict=True)]
            request = {"url": server.url, "relay": address, "metrics": exported_metrics(tmp_path), "examples": tasks}
            assert ran(tmp_path, request) == [expected(text)[1] for text in RUN_HERE]
    finally:
        assert server.stop() == 0


def test_what_is_run_elsewhere_is_there():
    for part, place in RUN_BY.items():
        assert any(part in text for text in EXAMPLES), part
        assert (ROOT / place).exists(), place


def test_there_are_examples():
    assert len(RUN_HERE) >= 10
    assert [start for start in EXPECTED if not any(start in text for text in RUN_HERE)] == []
