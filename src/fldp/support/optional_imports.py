"""Optional imports: libraries that only some uses need, installed as extras."""

import importlib
from types import ModuleType

from fldp.errors import FldpError


def load(module: str, extra: str) -> ModuleType:
    """Import a module, or say in one line how to install what brings it.

    >>> load("math", "pandas").pi
    3.14...
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        raise FldpError(f"fldp: this needs {module}, install it with: pip install 'fldp[{extra}]'") from None
