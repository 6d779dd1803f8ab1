"""What keeps the layers of the collector apart, beyond the order of its rooms."""

import ast
import re
from pathlib import Path

import fldp.collector

ROOT = Path(fldp.collector.__file__).parent


def imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_no_route_imports_another():
    """What two routes share is in ``http`` or ``service``."""
    routes = {path.stem for path in (ROOT / "routes").glob("*.py")} - {"__init__"}
    for path in (ROOT / "routes").glob("*.py"):
        taken = {name.split(".")[3] for name in imports(path) if name.startswith("fldp.collector.routes.")}
        assert not taken & routes, path.name


def test_a_specification_is_parsed_in_one_place():
    texts = {path: path.read_text() for path in ROOT.rglob("*.py")}
    parsing = re.compile(r"loads\([\w.]*specification")
    assert [path.name for path, text in texts.items() if parsing.search(text)] == ["protocol.py"]


def test_request_state_is_kept_by_the_framework():
    assert not [path for path in ROOT.rglob("*.py") if 'scope["fldp' in path.read_text()]
