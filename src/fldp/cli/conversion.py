"""Words of a command line pass unchanged where nothing has to be converted.

Since 0.29 Typer converts with Pydantic, even options that were not given. Loading it takes a quarter of a short
command's time.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

_PLAIN: dict[Any, Callable[[Any], Any]] = {str: str, Path: Path, list[str]: list}


class Conversion:
    """The conversion of a parameter: the one that Typer has, where a word is not the value already."""

    def __init__(self, parameter: Any) -> None:
        self._thorough = parameter.get_runtime_param
        self._type = parameter.type_descriptor.annotation

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value of a parameter; without one None, or nothing for a parameter of several values."""
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        if self._type in _PLAIN:
            return _PLAIN[self._type](value)
        return value if type(value) is self._type else self._thorough().coerce(value, param=param, ctx=ctx)


def convert_lightly(parameter: Any) -> None:
    """Let a parameter load Pydantic only for what has to be converted; a Typer before 0.29 loads none."""
    if hasattr(parameter, "get_runtime_param") and "get_runtime_param" not in vars(parameter):
        conversion = Conversion(parameter)
        parameter.get_runtime_param = lambda: conversion
