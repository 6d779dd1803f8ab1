"""The group of all commands: lists them from the catalogue, and loads the one that is asked for."""

from importlib import import_module
from typing import Any, TypeVar

from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from fldp.cli.catalogue import ENTRIES, EXAMPLES, PANELS
from fldp.cli.conversion import convert_lightly

Parameter = TypeVar("Parameter")


class ShellGroup(TyperGroup):
    """All commands. Those that are not loaded yet are listed, too."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        _dress("", self)
        loaded = {**self.commands}
        self.commands = {name: loaded[name] if name in loaded else _listed(name) for name in ENTRIES} | loaded

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters. Typer adds the parameters of completion after it has made a group."""
        return [_dressed(parameter) for parameter in super().get_params(ctx)]

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Load a command before it is looked up."""
        if args and isinstance(self.commands.get(args[0]), _Listed):
            module = import_module(f"fldp.cli.{ENTRIES[args[0]].module}")
            self.commands.update(get_command(module.app).commands)  # type: ignore[attr-defined]
        return super().resolve_command(ctx, args)


class _Listed(TyperCommand):
    """A command that is only listed."""


def _listed(name: str) -> _Listed:
    return _Listed(name=name, short_help=ENTRIES[name].summary, rich_help_panel=PANELS[name])


def _dress(words: str, command: Any) -> None:
    """Give a command its heading and its example, those inside a group too; a flag has no type to show."""
    if words in ENTRIES:
        command.rich_help_panel, command.short_help = PANELS[words], ENTRIES[words].summary
    if command.help:
        command.help = _flowing(command.help)
    if words in EXAMPLES:
        command.epilog = f"Example: {EXAMPLES[words]}"
    for parameter in command.params:
        _dressed(parameter)
    find_help = command.get_help_option
    command.get_help_option = lambda ctx: _dressed(find_help(ctx))
    for name, inner in getattr(command, "commands", {}).items():
        _dress(f"{words} {name}".strip(), inner)


def _flowing(text: str) -> str:
    """Join the lines of each paragraph: Typer does so for the first one only, and the rest would be ragged."""
    return "\n\n".join(paragraph.replace("\n", " ") for paragraph in text.split("\n\n"))


def _dressed(parameter: Parameter) -> Parameter:
    convert_lightly(parameter)
    return without_type(parameter)


def without_type(parameter: Parameter) -> Parameter:
    """Return a parameter that shows no type where it is a flag, since a flag takes no value."""
    if getattr(parameter, "is_flag", False):
        parameter.metavar = ""  # type: ignore[attr-defined]
    return parameter
