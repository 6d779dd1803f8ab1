"""Write the public surface to tests/package/surface.json: make surface, when a version is released.

What is written is what the last release had. ``tests/package/test_surface.py`` fails where the surface is another one
now and the changelog does not say so.
"""

import inspect
import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from typer.main import get_command

import fldp
from fldp.cli import COMMANDS, app
from fldp.collector.config.settings import described
from fldp.interface.operations import OPERATIONS

FILE = Path(__file__).parents[1] / "tests" / "package" / "surface.json"


def python() -> Iterator[str]:
    """Return the public names, the members of classes, and the parameters of what can be called."""
    for name in fldp.__all__:
        public = getattr(fldp, name)
        yield f"fldp.{name}"
        yield from (f"fldp.{name}({parameter})" for parameter in _parameters(public))
        yield from (f"fldp.{name}.{member}" for member in _members(public))


def _members(member: object) -> set[str]:
    """Return the public members of a class that the project defines, there or in its bases."""
    classes = [each for each in getattr(member, "__mro__", ()) if each.__module__.startswith("fldp")]
    return {name for each in classes for name in vars(each) if not name.startswith("_")}


def _parameters(member: object) -> Iterator[str]:
    if not callable(member) or (inspect.isclass(member) and issubclass(member, BaseException)):
        return
    for parameter in inspect.signature(member).parameters.values():
        if not parameter.name.startswith("_"):
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


def surface() -> list[str]:
    """Return all of it, one line each."""
    routes = (f"{operation.method} {operation.path}" for operation in OPERATIONS)
    settings = (f"setting {name}" for name, _, _ in described())
    return sorted({*python(), *shell(), *routes, *settings})


if __name__ == "__main__":
    FILE.write_text(json.dumps(surface(), indent=0) + "\n")
