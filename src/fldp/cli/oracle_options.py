"""Options that name an oracle: one for each parameter of each registered class, and the oracle built from them."""

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from fldp.errors import ParameterError
from fldp.estimation.expected_error import required
from fldp.oracles.base.oracle import Oracle
from fldp.oracles.registry import get, names
from fldp.support.validation import Described

Reader = Callable[[str], Any]
_READERS: dict[str, Reader] = {"bool": bool, "float": float, "int": int, "str": str}
_COMMON: dict[str, Any] = {
    "survey": Annotated[Path | None, typer.Option("--survey", help="A survey, as TOML or JSON.")],
    "oracle": Annotated[str | None, typer.Option("--oracle", help="An oracle by name, instead of a survey.")],
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


def oracle_options() -> dict[str, tuple[object, object]]:
    """Return the type and the default of every option, by the name of its parameter.

    >>> {"survey", "domain", "eta", "budgets"} <= oracle_options().keys()
    True
    """
    options: dict[str, tuple[object, object]] = {name: (annotation, None) for name, annotation in _COMMON.items()}
    parameters: dict[str, list[OracleParameter]] = {}
    for cls in _classes():
        for parameter in parameters_of(cls):
            parameters.setdefault(parameter.name, []).append(parameter)
    return options | {name: _option(name, same) for name, same in parameters.items() if name not in options}


def _classes() -> Iterator[type[Oracle]]:
    for name in names():
        try:
            cls = get(name)
        except Exception:  # noqa: S112  # a package that cannot be loaded says so when its oracle is asked for
            continue
        yield cls


def parameters_of(cls: type[Oracle]) -> list[OracleParameter]:
    """Return the parameters of an oracle, but for those that every oracle has."""
    fields = [field for field in dataclasses.fields(cls) if field.name not in ("epsilon", "domain_size")]
    return [_parameter(cls, field) for field in fields]


def _parameter(cls: type[Oracle], field: "dataclasses.Field[Any]") -> OracleParameter:
    constraint = cls.params[field.name]
    described = constraint if isinstance(constraint, Described) else Described(constraint, "")
    return OracleParameter(cls.name, field.name, described.help, described.read or _annotated(field))


def _annotated(field: "dataclasses.Field[Any]") -> Reader:
    """Return how the annotation of a field says that its value is written: text, if it is none of the simple types."""
    name = re.match(r"(?:<class '|typing\.Optional\[)?(\w+)", str(field.type))
    return _READERS.get(name[1] if name else "", str)


def _option(name: str, parameters: list[OracleParameter]) -> tuple[Any, object]:
    """Return the type and the default of the option of all parameters of one name."""
    told = [parameter for parameter in parameters if parameter.help] or parameters
    readers = {parameter.read for parameter in told}
    # Lists, and parameters of one name that are of different types, are read when the oracle is known.
    kind = readers.pop() if len(readers) == 1 and readers <= {*_READERS.values()} else str
    option = typer.Option(flag_of(name), help=_help(told))
    return (Annotated[bool, option], False) if kind is bool else (Annotated[kind | None, option], None)  # type: ignore[operator]


def _help(parameters: list[OracleParameter]) -> str:
    """Return the help of an option: what each oracle says of its parameter, once for those that say the same."""
    oracles: dict[str, list[str]] = {}
    for parameter in parameters:
        oracles.setdefault(parameter.help, []).append(parameter.oracle)
    text = "; ".join(", ".join(named) + (f": {about}" if about else "") for about, named in oracles.items())
    return text if text.endswith(".") else f"{text}."


def build_oracle(name: str, options: Mapping[str, object]) -> Oracle:
    """Build an oracle of the options that were given."""
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
