"""The pages that need a collector, followed at one: it is started by the command that they show."""

import secrets
import shlex
import subprocess
from contextlib import ExitStack
from pathlib import Path

import pytest

import fldp
from fldp.cli.sample import PERCENT
from support.commands_not_run import ENDS, left_out
from support.documents import BIN, PAGES, Walk, blocks, shares, words
from support.page_files import prepare
from support.ports import free_port
from support.serving import run_here, running

FOLLOWED = ("README.md", "first_survey.md", "client.md", "withdrawal.md", "heavy_hitters.md")
COMMAND = "fldp serve --data collected --admin-token-file admin.token"


class Collector:
    """The collector of all pages: the first that starts one starts it, the others find its folder and its token."""

    def __init__(self, stack, folder):
        self.stack, self.folder, self.port = stack, folder, free_port()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def token(self):
        return (self.folder / "admin.token").read_text().strip()

    def start(self):
        program, *words = shlex.split(COMMAND)
        line = [f"{BIN}/{program}", *words, "--port", str(self.port)]
        process = self.stack.enter_context(running(line, cwd=self.folder, stdout=subprocess.PIPE, text=True))
        assert "listening" in process.stdout.readline()
        assert "admin.token" in process.stdout.readline()

    def serve(self, command):
        assert command.partition("#")[0].strip() == COMMAND
        for name in ("collected", "admin.token"):
            Path(name).symlink_to(self.folder / name)


@pytest.mark.long
def test_the_pages_arrive(tmp_path):
    with ExitStack() as stack:
        collector = Collector(stack, tmp_path)
        collector.start()
        said = {name: follow(name, collector) for name in FOLLOWED}
    readme_arrived(tmp_path / "README.md", said["README.md"])
    printed = said["first_survey.md"]["fldp estimates commute"]
    assert shares(printed) == pytest.approx(PERCENT, abs=18)  # six standard errors


def follow(name, collector):
    folder = collector.folder / name
    folder.mkdir()
    path = next(path for path in PAGES if path.name == name)
    survey = prepare(path, folder)
    addresses = {"https://collector.example": collector.url, "http://127.0.0.1:8080": collector.url}
    addresses["fldp_admin_..."] = collector.token
    walk = Walk(path, folder, left_out=left_out, serve=collector.serve, addresses=addresses, codes=ENDS)
    if name != "README.md":
        walk.variables |= {"FLDP_TOKEN": collector.token}
    if name == "client.md":
        (folder / "admin.token").symlink_to(collector.folder / "admin.token")
    if name == "withdrawal.md":
        walk.names |= answered(collector, survey, folder)
    return walk.follow()


def answered(collector, survey, folder):
    """What the page about withdrawals takes for granted: somebody has answered, in three ways."""
    names = {"fldp": fldp, "participant": fldp.Participant(folder / "answers.db"), "key": secrets.token_urlsafe(32)}
    names["batch"] = fldp.wire.encode(survey.privatize(["edge"]), survey.version)
    with fldp.Client(collector.url, token=collector.token) as client:
        client.create(survey)
        client.answer("browser", "edge", participant=names["participant"])
        client.send(names["batch"], survey, key=names["key"])
        client.send_file(folder / "reports.fldp")
    return names


def readme_arrived(folder, said):
    def printed(start):
        return next(text for command, text in said.items() if command.startswith(start))

    (shown,) = (block.text for block in blocks(PAGES[0]) if block.language == "text")
    assert words(shown) == words(printed("fldp estimate tally.fldp"))
    for command in ("fldp estimate tally.fldp", "fldp estimates commute"):
        assert shares(printed(command)) == pytest.approx(PERCENT, abs=6), command
    estimated = shares(printed("fldp privatize pages.csv"))
    assert estimated["news"] == pytest.approx(50, abs=6)
    assert estimated["mail"] == pytest.approx(25, abs=6)
    assert "holds" in printed("fldp verify")
    assert (folder / "bars.png").stat().st_size > 5000
    assert (folder / "card.html").stat().st_size > 5000


def test_the_page_of_the_collector_has_settings_that_are_good(tmp_path):
    """ "collector.md": what it starts is checked only, since the other pages run a collector."""
    path = next(path for path in PAGES if path.name == "collector.md")
    Walk(path, tmp_path, left_out=left_out, serve=check).follow()
    assert (tmp_path / "elsewhere" / "fldp.db").exists()


def check(command):
    run_here(*shlex.split(command, comments=True)[1:], "--check")
