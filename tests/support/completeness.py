"""What an oracle of this repository lacks, by name: every place that CONTRIBUTING sends its author to."""

import importlib.util
from pathlib import Path

from fldp import oracles
from fldp.oracles.registry import built_in
from support import cases, naive

ROOT = Path(__file__).parents[2]


def tool(name):
    """Return a program of the folder ``tools`` as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


tables = tool("oracle_tables")


def missing(cls):
    """Return what an oracle lacks, in the order of the steps."""
    rows = {case.partition("-")[0] for case in (*cases.FAMILIES, *cases.STRING_FAMILIES, *cases.OF_RECORDS)}
    wanted = {
        "examples, beside its params": hasattr(cls, "examples"),
        **{f"{name}: in its docstring": bool(tables.line(cls, name)) for name in tables.LINES},
        "its name in src/fldp/oracles/__init__.py": cls.__name__ in oracles.__all__ and cls in built_in(),
        "a row in tests/support/cases.py": cls.name in rows,
        "a loop in tests/support/naive.py": cls.name in naive.PRIVATIZE,
        f"vectors/{cls.name}.json: make vectors": (ROOT / "vectors" / f"{cls.name}.json").exists(),
    }
    return [what for what, is_there in wanted.items() if not is_there]
