"""Modules that `make acceptance` runs: no other test reads them, so it is seen here that they can be imported."""

import importlib
from pathlib import Path

HERE = Path(__file__).parent


def test_every_module_can_be_imported():
    names = sorted(path.stem for path in HERE.glob("*_acceptance.py"))
    assert names
    for name in names:
        importlib.import_module(f"{HERE.name}.{name}")
