"""What a test needs beside Python: time, or a server, a cluster, a database, a browser or another program.

A test is marked `serving` by rule, not by hand: if it stands in a file, or takes a fixture, that uses a helper which
imports one of the libraries below. A hook sees to it that no other test opens a connection or starts such a process.
"""

import ast
import sys
import threading
from functools import cache
from itertools import chain
from pathlib import Path

SUPPORT = Path(__file__).parent
LONG = {"distributed", "experiments", "javascript", "museum", "privacy"}  # rooms with large samples, many runs, or Node
LIBRARIES = {
    *("distributed", "granian", "http.server", "playwright", "psycopg", "pyspark", "socket", "socketserver"),
    "support.programs",  # which `make test` installs
}
PROGRAMS = {"caddy", "chromium", "initdb", "java", "nginx", "postgres", "promtool", "serve", "systemd-analyze"}


def _imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)


@cache
def is_server(module):
    """Whether a module is one of those libraries, or a helper that imports one, itself or through another."""
    if module in LIBRARIES or module.partition(".")[0] in LIBRARIES:
        return True
    path = SUPPORT.parent / f"{module.replace('.', '/')}.py"
    is_helper = module.startswith(("support.", "soak.")) and path.is_file()
    return is_helper and any(map(is_server, _imports(path)))


def _home(member):
    """Return the module that a thing is defined in, or that it is."""
    return member.__name__ if isinstance(member, type(ast)) else getattr(member, "__module__", None) or ""


def _any_serves(members):
    return any(is_server(home) for home in map(_home, members) if isinstance(home, str))


@cache
def _module_serves(module):
    return _any_serves(vars(module).values()) or not LIBRARIES.isdisjoint(_dotted_imports(module))


def _dotted_imports(module):
    """Return what a module imports by "import a.b" on its top level, which binds the name a alone."""
    text = Path(module.__file__).read_text()
    if not any(f"import {library}" in text for library in LIBRARIES):
        return set()  # to parse every file would take seconds
    nodes = [node for node in ast.parse(text).body if isinstance(node, ast.Import)]
    return {name.name for node in nodes for name in node.names}


def is_serving(item):
    """Whether a test needs a server, by the names in its file and by its fixtures."""
    if not hasattr(item, "module"):
        return False  # an example in a document
    definitions = chain(*item._fixtureinfo.name2fixturedefs.values())
    return _module_serves(item.module) or _any_serves(definition.func for definition in definitions)


def is_long(item):
    """Whether a test stands in a room whose tests take minutes together."""
    return item.path.is_relative_to(SUPPORT.parent) and item.path.relative_to(SUPPORT.parent).parts[0] in LONG


class Guard:
    """An audit hook that refuses connections and servers to tests that are not marked; for their own thread only."""

    def __init__(self):
        self.test = None  # the test that may not serve

    def __call__(self, event, arguments):
        if self.test is None or threading.current_thread() is not threading.main_thread():
            return
        if event in ("socket.bind", "socket.connect") and isinstance(arguments[1], tuple):
            self.refuse(f"uses the network ({arguments[1][0]})")
        if event == "subprocess.Popen":
            words = arguments[1] if isinstance(arguments[1], (list, tuple)) else [arguments[1]]
            programs = {Path(str(word)).name for word in words}
            if programs & PROGRAMS:
                self.refuse(f"starts {', '.join(sorted(programs & PROGRAMS))}")

    def refuse(self, what):
        raise RuntimeError(f"{self.test} {what}, and is not marked serving: see tests/support/needs.py")

    def install(self):
        sys.addaudithook(self)
        return self
