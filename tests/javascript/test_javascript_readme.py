"""The first example of js/README.md, as it is printed except for the collector's address: in Node and in a browser."""

import json
import re
import subprocess

import pytest

from support.browser import Visitor, chromium
from support.collector_server import Server, specification
from support.javascript import ROOT, build, node
from support.waiting import until
from support.website import site

README = (ROOT / "js" / "README.md").read_text()
(EXAMPLE, *_) = re.findall(r"^```js\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


PAGE = '<!doctype html><link rel="icon" href="data:,"><script type="module" src="main.js"></script>'


def example(url):
    """The example, for a collector that there is."""
    assert EXAMPLE.count("https://collector.example") == 1
    return EXAMPLE.replace("https://collector.example", url)


@pytest.fixture(scope="module")
def collector(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("collector"))
    yield server
    server.stop()


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    return build(tmp_path_factory.mktemp("package"))


def counted(collector, survey):
    return collector.counts()[survey.version]


def test_in_node_and_again_after_a_restart(collector, package, tmp_path):
    survey = collector.publish(specification(minimum=1, oracle={"name": "grr", "epsilon": 1.0}))
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "fldp").symlink_to(package)
    (tmp_path / "example.mjs").write_text(example(collector.url))
    for _ in range(2):  # the second time the stored answer is found, and is not counted again
        done = subprocess.run(
            [node(), "example.mjs"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert "Uint8Array" in done.stdout
        assert counted(collector, survey) == 1
    kept = sorted(path.name for path in tmp_path.iterdir())
    assert len([name for name in kept if name.startswith("answers.ledger.")]) == 1


def test_in_a_browser_as_a_bundler_makes_it(collector, package, tmp_path):
    (tmp_path / "index.html").write_text(PAGE)
    bundle = """
        import { build } from "esbuild";
        const [contents, resolveDir, outfile] = JSON.parse(process.argv[1]);
        await build({ stdin: { contents, resolveDir }, outfile, bundle: true, format: "esm", target: "es2022" });
    """
    with site(tmp_path) as origin, chromium() as browser:
        survey = collector.publish(specification(minimum=1, origins=[origin], oracle={"name": "grr", "epsilon": 2.0}))
        request = json.dumps([example(collector.url), str(package), str(tmp_path / "main.js")])
        command = [node(), "--input-type=module", "--eval", bundle, request]
        subprocess.run(command, cwd=package, check=True, timeout=120)
        assert "node:fs" not in (tmp_path / "main.js").read_text()
        with Visitor(browser, origin, collector.url) as visitor:
            for _ in range(2):  # the second time the stored answer is found, and is not counted again
                page = visitor.context.new_page()
                with page.expect_console_message(lambda message: "Uint8Array" in message.text):
                    page.goto(origin)
                until(lambda: counted(collector, survey) == 1)
