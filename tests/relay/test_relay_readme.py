"""The two commands of the README, as they stand except for their ports: somebody answers through the relay."""

import re
import shlex
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

from support.browser import Visitor, chromium
from support.ports import free_port

README = (Path(__file__).parents[2] / "README.md").read_text()
(COMMANDS,) = re.findall(r"^```console\n(\$ fldp serve --demo.*?)^```", README, re.MULTILINE | re.DOTALL)
(PLACE,) = re.findall(r"`http://127\.0\.0\.1:8081(/s/#\w+)`", README)


@contextmanager
def running(command):
    """A command of the README in a process of its own; give the line that it begins with."""
    program, *arguments = shlex.split(command)
    assert program == "fldp"
    process = subprocess.Popen(
        [sys.executable, "-m", "fldp", *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=300)


def test_the_two_commands_of_the_readme_show_it_end_to_end():
    collecting, relaying = (free_port() for _ in range(2))
    serve, relay = (line.removeprefix("$ ") for line in COMMANDS.replace("8080", str(collecting)).splitlines())
    with running(f"{serve} --port {collecting}") as collector:
        assert any(line.startswith("fldp: answer page: ") for line in collector.stdout)  # its survey is there
        with running(f"{relay} --port {relaying} --hold 0") as process:
            assert f"127.0.0.1:{relaying}" in process.stdout.readline()
            url = f"http://127.0.0.1:{relaying}"
            with chromium() as browser, Visitor(browser, url) as visitor:
                page = visitor.open(url + PLACE)
                page.get_by_label("bicycle", exact=True).check()
                page.get_by_role("button", name="See my report").click()
                page.get_by_role("button", name="Send this report").click()
                page.get_by_role("heading", name="Thank you, this was sent").wait_for()
