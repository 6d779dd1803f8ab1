"""Write the public surface to tests/package/surface.json: make surface, when a version is released.

What is written is what the last release had. ``tests/package/test_surface.py`` fails where the surface is another one
now and the changelog does not say so.
"""

import inspect
import json
import re
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from importlib import import_module
from pathlib import Path

import pyarrow.parquet as pq
from pyarrow import BufferReader
from typer.main import get_command

import fldp
from fldp.cli import COMMANDS, app
from fldp.collector.config.settings import described
from fldp.collector.storage.sqlite.store import SqliteStore
from fldp.interface.openapi import document
from fldp.interface.operations import OPERATIONS
from fldp.oracles.registry import built_in, examples
from fldp.presentation.estimate_formats import as_parquet

ROOT = Path(__file__).parents[1]
FILE = ROOT / "tests" / "package" / "surface.json"
ROOMS = ("client", "distributed", "oracles.kit", "telemetry", "wire")  # whose names are promised beside fldp's own
_EXPORT = re.compile(r"^export (?:type )?(?:\{([^}]*)\}|(?:async )?(?:function|const|class|interface) (\w+))", re.M)


def python() -> Iterator[str]:
    """Return the public names, the members of classes, and the parameters of what can be called."""
    for name in fldp.__all__:
        yield from _named(f"fldp.{name}", getattr(fldp, name))
    for room in ROOMS:
        module = import_module(f"fldp.{room}")
        for name in module.__all__:
            if name not in fldp.__all__:
                yield from _named(f"fldp.{room}.{name}", getattr(module, name))


def _named(name: str, public: object) -> Iterator[str]:
    yield name
    yield from (f"{name}({parameter})" for parameter in _parameters(public))
    for member in _members(public):
        yield f"{name}.{member}"
        method = getattr(public, member, None)  # a field without a default is no attribute of the class
        if not inspect.isclass(method):
            yield from (f"{name}.{member}({parameter})" for parameter in _parameters(method))


def _members(member: object) -> set[str]:
    """Return the public members of a class that the project defines, there or in its bases."""
    classes = [each for each in getattr(member, "__mro__", ()) if each.__module__.startswith("fldp")]
    return {name for each in classes for name in vars(each) if not name.startswith("_")}


def _parameters(member: object) -> Iterator[str]:
    is_error = inspect.isclass(member) and issubclass(member, BaseException)
    if is_error or not callable(member) or not str(getattr(member, "__module__", "")).startswith("fldp"):
        return
    for parameter in inspect.signature(member).parameters.values():
        if not parameter.name.startswith("_") and parameter.name != "self":
            yield f"{parameter.name}{'' if parameter.default is parameter.empty else '='}"


def shell() -> Iterator[str]:
    """Return the commands and their options."""
    for module in COMMANDS:
        import_module(f"fldp.cli.{module}")  # a command that nobody asked for is only listed
    yield from _commands(get_command(app), "fldp")


def _commands(command: object, name: str) -> Iterator[str]:
    yield name
    for parameter in getattr(command, "params", ()):
        yield from (f"{name} {option}" for option in parameter.opts if option.startswith("--"))
    if hasattr(command, "list_commands"):
        for each in command.list_commands(None):
            yield from _commands(command.get_command(None, each), f"{name} {each}")


def interface() -> Iterator[str]:
    """Return the routes, what can be asked of each, and the fields of what is sent and answered."""
    yield from (f"{operation.method} {operation.path}" for operation in OPERATIONS)
    described_interface = document()
    for path, methods in described_interface["paths"].items():
        for method, operation in methods.items():
            parts = operation.get("parameters", ())
            yield from (f"{method.upper()} {path} ?{part['name']}" for part in parts if part["in"] == "query")
    for name, schema in described_interface["components"]["schemas"].items():
        yield f"model {name}"
        yield from (f"model {name}.{field}" for field in schema.get("properties", ()))


def columns() -> Iterator[str]:
    """Return the columns of the database, of reports in a lake, and of estimates in Parquet."""
    with tempfile.TemporaryDirectory() as folder:
        SqliteStore(Path(folder) / "fldp.db").close()
        with closing(sqlite3.connect(Path(folder) / "fldp.db")) as database:
            for (table,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
                yield f"table {table}"
                for row in database.execute("SELECT name FROM pragma_table_info(?)", (table,)):
                    yield f"table {table}.{row[0]}"
    for oracle in (examples(kind)[0] for kind in built_in()):
        yield f"reports {oracle.name}"
        yield from (f"reports {oracle.name}.{name}" for name in fldp.parquet.schema(oracle).names)
    estimate = fldp.GRR(epsilon=1.0, domain_size=2).estimate(fldp.GRR(epsilon=1.0, domain_size=2).privatize([0, 1]))
    yield from (f"estimates.{name}" for name in pq.read_schema(BufferReader(as_parquet(estimate, 0.95, None))).names)


def javascript() -> Iterator[str]:
    """Return what the entries of the npm package export, with their types."""
    entries = json.loads((ROOT / "js" / "package.json").read_text())["exports"]
    for entry, files in entries.items():
        if entry != "./package.json":
            source = Path(files["types"]).name.replace(".d.ts", ".ts")
            package = "js:fldp" + entry.removeprefix(".")
            yield package
            yield from (f"{package}.{name}" for name in _exported((ROOT / "js" / "src" / source).read_text()))


def _exported(text: str) -> Iterator[str]:
    for listed, single in _EXPORT.findall(text):
        names = [part.strip().removeprefix("type ") for part in listed.split(",")] if listed else [single]
        yield from (name.split(" as ")[-1] for name in names if name)


def surface() -> list[str]:
    """Return all of it, one line each."""
    settings = (f"setting {name}" for name, _, _ in described())
    return sorted({*python(), *shell(), *interface(), *columns(), *javascript(), *settings})


if __name__ == "__main__":
    FILE.write_text(json.dumps(surface(), indent=0) + "\n")
