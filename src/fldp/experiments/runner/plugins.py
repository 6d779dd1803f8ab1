"""Datasets, metrics and oracles of your own, from a Python file that registers them."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from fldp.errors import FldpError


def use(path: str | Path) -> ModuleType:
    """Run a Python file, once; what it registers is known by name from then on."""
    file = Path(path).resolve()
    name = f"fldp_own_{file.stem}"
    known = sys.modules.get(name)
    if known is not None and known.__file__ == str(file):
        return known
    spec = importlib.util.spec_from_file_location(name, file) if file.suffix == ".py" else None
    if spec is None or spec.loader is None or not file.is_file():
        raise FldpError(f"{path}: must be a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise FldpError(f"{path}: cannot be used: {type(error).__name__}: {error}") from error
    return module
