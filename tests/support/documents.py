"""Documents, taken at their word: their files are saved, their commands run, what they show is compared.

A page is followed from top to bottom in a folder of its own. A block that begins with the name of a file in a comment
is that file. Commands of fldp run in this process, since a fresh one takes a second to load; others run in a shell.
"""

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from support.commands import run_here

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
BIN = str(Path(sys.executable).parent)
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r"# ([\w-]+\.(?:toml|py|json|csv))\n")


class Block(NamedTuple):
    """A fenced block: its language, its text, and the line of the page that it begins in."""

    language: str
    text: str
    line: int

    @property
    def file(self):
        """The name of the file that the block is, or None."""
        match = _NAMED.match(self.text)
        return match and match[1]

    @property
    def commands(self):
        """The commands of a block for the shell, each with the output that is shown, which may be none."""
        if self.language == "console":
            parts = re.split(r"^\$ ", self.text, flags=re.MULTILINE)[1:]
            return [tuple(part.partition("\n")[::2]) for part in parts]
        return [(line, "") for line in self.text.splitlines() if line and not line.startswith("#")]


def blocks(path):
    text = path.read_text()
    return [Block(match[1], match[2], text[: match.start()].count("\n") + 1) for match in _FENCE.finditer(text)]


def examples(path):
    """Return all commands and examples of a page."""
    listed = blocks(path)
    commands = [command for block in listed if block.language in ("sh", "console") for command, _ in block.commands]
    return commands + [block.text for block in listed if block.language == "python" and not block.file]


def shares(printed):
    """Return the share that a table says of each answer, in percent."""
    rows = re.findall(r"^│ (\S.*?) +│.* (-?[\d.]+) ?% │$", printed, re.MULTILINE)
    return {label: float(share) for label, share in rows}


def words(printed):
    """Return what a table says except for its figures, which differ from run to run."""
    return re.findall(r"[A-Za-z][A-Za-z'.-]*", printed)


class Walk:
    """A walk through a page.

    ``left_out`` tells of a command or a block whether it is not run, ``serve`` runs a collector beside the rest,
    ``addresses`` are those that there are by those that the page names, ``codes`` those that commands end with but 0.
    """

    def __init__(self, path, folder, *, left_out=lambda text: False, serve=None, addresses=(), codes=()):
        self.path, self.folder, self.left_out, self.serve = path, folder, left_out, serve
        self.addresses, self.codes = dict(addresses), dict(codes)
        self.names = {"__name__": "__page__"}
        self.variables = {"HOME": str(folder), "COLUMNS": "120", "PATH": f"{BIN}:{os.environ['PATH']}"}
        self.said = {}

    def follow(self):
        """Do what the page says; return what each command printed."""
        before = {name: value for name, value in os.environ.items() if not name.startswith("FLDP_")}
        with contextlib.chdir(self.folder), patch.dict(os.environ, before | self.variables, clear=True):
            sys.path.insert(0, str(self.folder))
            try:
                for block in blocks(self.path):
                    self.do(block)
            finally:
                sys.path.remove(str(self.folder))
        return self.said

    def do(self, block):
        if block.file:
            (self.folder / block.file).write_text(self.placed(block.text))
        elif block.language in ("sh", "console"):
            for command, shown in block.commands:
                if not self.left_out(command):
                    self.run(command, shown)
        elif block.language == "python" and not self.left_out(block.text):
            self.examine(block) if ">>>" in block.text else self.execute(block)

    def placed(self, text):
        """Put the addresses that there are in place of those that the page names."""
        for shown, real in self.addresses.items():
            text = text.replace(shown, real)
        return text

    def examine(self, block):
        """Run a session, and compare what it shows."""
        test = doctest.DocTestParser().get_doctest(block.text, self.names, self.path.name, str(self.path), block.line)
        told = io.StringIO()
        runner = doctest.DocTestRunner(optionflags=FLAGS)
        runner.run(test, out=told.write, clear_globs=False)
        self.names.update(test.globs)
        assert runner.failures == 0, told.getvalue()

    def execute(self, block):
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(self.placed(block.text), f"{self.path.name}:{block.line}", "exec"), self.names)

    def run(self, command, shown):
        code, text = self.codes.get(command.partition("#")[0].strip(), 0), self.placed(command)
        if command.startswith("export "):
            return self.export(text)
        if self.serve and command.startswith("fldp serve"):
            return self.serve(text)
        stages = _stages(text)
        printed = self.in_this_process(stages, code) if stages else self.in_a_shell(text, code)
        self.said[command] = printed
        alike = doctest.OutputChecker().check_output(shown, printed, FLAGS)
        assert alike or not shown, f"{command} printed\n{printed}"
        return printed

    def export(self, command):
        done = subprocess.run(["bash", "-ec", f"{command}\nenv -0"], capture_output=True, text=True, check=True)
        os.environ.update(part.split("=", 1) for part in done.stdout.split("\0") if "=" in part)

    def in_this_process(self, stages, code):
        passed = b""
        for stage in stages:
            *words, target = (*stage[: stage.index(">")], stage[-1]) if ">" in stage else (*stage, None)
            done = run_here(*words[1:], stdin=passed, code=code if stage is stages[-1] else 0)
            passed = done.stdout
            if target:
                Path(target).write_bytes(passed)
        return passed.decode(errors="replace")

    def in_a_shell(self, command, code):
        line = ["bash", "-eo", "pipefail", "-c", command]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        assert done.returncode == code, f"{command}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        return done.stdout


def _stages(command):
    """Return the words of each part of a pipe, if all parts are commands of fldp and need nothing of a shell."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars="|>&;")
    lexer.whitespace_split = True
    words = list(lexer)
    if "$" in command or {"&", "&&", ";", "||"} & set(words):
        return []
    stages, stage = [], []
    for word in [*words, "|"]:
        if word == "|":
            stages, stage = [*stages, stage], []
        else:
            stage.append(word)
    return stages if all(stage[:1] == ["fldp"] for stage in stages) else []
