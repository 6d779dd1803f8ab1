"""Options that name an oracle: one for each parameter of each registered class, and the oracle built from them."""

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand
from typer.main import get_command

from fldp.cli.shell_group import without_type
from fldp.errors import ParameterError
from fldp.support.validation import Described

if TYPE_CHECKING:
    from fldp.oracles.base.oracle import Oracle

Reader = Callable[[str], Any]
_READERS: dict[str, Reader] = {"bool": bool, "float": float, "int": int, "str": str}
_COMMON: dict[str, Any] = {
    "survey": Annotated[Path | None, typer.Option("--survey", help="A survey, as TOML or JSON.")],
    "oracle": Annotated[
        str | None,
        typer.Option(
            "--oracle", help="A mechanism by name, instead of a survey; --oracle NAME --help shows its own options."
        ),
    ],
    "epsilon": Annotated[float | None, typer.Option("--epsilon", help="Its epsilon.")],
    "domain": Annotated[int | None, typer.Option("--domain", help="Its number of values.")],
}


@dataclasses.dataclass(frozen=True)
class OracleParameter:
    """A parameter of one oracle, as the shell takes it."""

    oracle: str
    name: str
    help: str
    read: Reader


def flag_of(parameter: str) -> str:
    """Return the option of a parameter.

    >>> flag_of("domain_size"), flag_of("hash_bits")
    ('--domain', '--hash-bits')
    """
    return f"--{parameter.removesuffix('_size').replace('_', '-')}"


COMMON_OPTIONS: dict[str, tuple[object, object]] = {name: (annotation, None) for name, annotation in _COMMON.items()}
"""The type and the default of the options that every oracle has, by the names of their parameters."""


own_parameters: ContextVar[Mapping[str, object]] = ContextVar("own_parameters", default=MappingProxyType({}))
"""The parameters that only the oracle on the line has, while its command runs."""


class OracleCommand(TyperCommand):
    """A command that also has the options of the oracle that is named on its line, and of no other."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Find the oracle first, since its options are among those to be read."""
        ctx.meta[_NAMED] = _named_oracle(args)
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            if flag := str(getattr(error, "option_name", "")):
                _explain(flag, ctx.meta[_NAMED])
            raise

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters of the command and of the oracle."""
        own = list(super().get_params(ctx))
        name = ctx.meta.get(_NAMED)
        if not name:
            return own
        from fldp.oracles import names

        if ctx.resilient_parsing and name not in names():  # a line that is being completed
            return own
        taken = {parameter.name for parameter in own}
        return own + [option for option in _options_of(name) if option.name not in taken]

    def invoke(self, ctx: Any) -> Any:
        """Run the command, which finds the parameters of the oracle in ``own_parameters``."""
        known = {parameter.name for parameter in self.params}
        token = own_parameters.set({name: ctx.params.pop(name) for name in ctx.params.keys() - known})
        try:
            return super().invoke(ctx)
        finally:
            own_parameters.reset(token)


_NAMED = "fldp.oracle"


def _named_oracle(args: list[str]) -> str | None:
    """Return what follows --oracle on a line.

    >>> _named_oracle(["x.csv", "--oracle", "grr"]), _named_oracle(["--oracle=fhr"]), _named_oracle(["--", "--oracle"])
    ('grr', 'fhr', None)
    """
    words = args[: args.index("--")] if "--" in args else args
    names = [word.partition("=")[2] for word in words if word.startswith("--oracle=")]
    names += [following for word, following in pairwise(words) if word == "--oracle"]
    return names[0] if names else None


def _options_of(oracle: str) -> list[Any]:
    """Return the options of an oracle."""
    from fldp.oracles import get

    cls = get(oracle)
    options = {parameter.name: _option(parameter) for parameter in parameters_of(cls)}
    keyword = inspect.Parameter.KEYWORD_ONLY
    signature = inspect.Signature(
        [
            inspect.Parameter(name, keyword, default=default, annotation=annotation)
            for name, (annotation, default) in options.items()
        ]
    )

    def command(**values: Any) -> None:
        del values

    command.__signature__ = signature  # type: ignore[attr-defined]
    command.__annotations__ = {name: annotation for name, (annotation, _) in options.items()}
    shell = typer.Typer(add_completion=False)
    shell.command()(command)
    return [_in_panel(cls, parameter) for parameter in get_command(shell).params if parameter.name in options]


def _in_panel(cls: "type[Oracle]", parameter: Any) -> Any:
    parameter.rich_help_panel = f"Options of {cls.__name__}"
    return without_type(parameter)


def _explain(flag: str, oracle: str | None) -> None:
    """Refuse an option that only other oracles have, in words that say so."""
    having = [cls.name for cls in _classes() if flag in {flag_of(each.name) for each in parameters_of(cls)}]
    if having and oracle is None:
        raise ParameterError(f"fldp: {flag} needs --oracle, one of {', '.join(having)}")
    if having:
        raise ParameterError(f"fldp: the oracle {oracle} has no {flag}; it is for {', '.join(having)}")


def _classes() -> "Iterator[type[Oracle]]":
    from fldp.oracles import get, names

    for name in names():
        try:
            cls = get(name)
        except Exception:  # noqa: S112  # a package that cannot be loaded says so when its oracle is asked for
            continue
        yield cls


def parameters_of(cls: "type[Oracle]") -> list[OracleParameter]:
    """Return the parameters of an oracle, except for those that every oracle has."""
    fields = [field for field in dataclasses.fields(cls) if field.name not in ("epsilon", "domain_size")]
    return [_parameter(cls, field) for field in fields]


def _parameter(cls: "type[Oracle]", field: "dataclasses.Field[Any]") -> OracleParameter:
    constraint = cls.params[field.name]
    described = constraint if isinstance(constraint, Described) else Described(constraint, "")
    return OracleParameter(cls.name, field.name, described.help, described.read or _annotated(field))


def _annotated(field: "dataclasses.Field[Any]") -> Reader:
    """Return how the annotation of a field says that its value is written: text, if it is none of the simple types."""
    name = re.match(r"(?:<class '|typing\.Optional\[)?(\w+)", str(field.type))
    return _READERS.get(name[1] if name else "", str)


def _option(parameter: OracleParameter) -> tuple[Any, object]:
    """Return the type and the default of the option of a parameter."""
    # Lists are read when the oracle is built.
    kind: Any = parameter.read if parameter.read in _READERS.values() else str
    text = parameter.help and f"{parameter.help[0].upper()}{parameter.help[1:]}".rstrip(".") + "."
    option = typer.Option(flag_of(parameter.name), help=text)
    return (Annotated[bool, option], False) if kind is bool else (Annotated[kind | None, option], None)


def build_oracle(name: str, options: Mapping[str, object]) -> "Oracle":
    """Build an oracle of the options that were given."""
    from fldp.estimation.expected_error import required
    from fldp.oracles import get

    cls = get(name)
    parameters: dict[str, Any] = {"domain_size" if key == "domain" else key: value for key, value in options.items()}
    for parameter in parameters.keys() - cls.params.keys():
        raise ParameterError(f"fldp: the oracle {name} has no {flag_of(parameter)}")
    for parameter in required(cls):
        if parameter not in parameters:
            raise ParameterError(f"fldp: the oracle {name} needs {flag_of(parameter)}")
    texts = [parameter for parameter in parameters_of(cls) if isinstance(parameters.get(parameter.name), str)]
    return cls(**parameters | {parameter.name: _read(parameter, parameters[parameter.name]) for parameter in texts})


def _read(parameter: OracleParameter, text: str) -> Any:
    try:
        return parameter.read(text)
    except ValueError:
        rule = parameter.help or getattr(parameter.read, "__name__", "readable")
        raise ParameterError(f"fldp: {flag_of(parameter.name)} must be {rule}, got {text!r}") from None
