"""The house: a room imports only rooms before it, also inside functions, and a name means one thing."""

import ast
import importlib
import inspect
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

import fldp
from fldp.oracles.base.oracle import Oracle

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "fldp"
ROOMS = [
    "errors",
    "support",
    "passes",
    "randomness",
    "numerics",
    "data",
    "responder",
    "oracles",
    "wire",
    "estimation",
    "search",
    "survey",
    "participant",
    "oblivious",
    "interface",
    "privacy",
    "conformance",
    "presentation",
    "distributed",
    "client",
    "collector",
    "relay",
    "issuer",
    "telemetry",
    "experiments",
    "cli",
]
ALIASES = {"parquet", "participant_store", "vectors"}
INSIDE = {  # the order of the second level
    "oracles": [
        "base",
        "exposure",
        "shuffle_privacy",
        "kit",
        "plain",
        "flexible",
        "unequal",
        "strings",
        "tagged",
        "grouped",
        "grouped_analysis",
        "sampled",
        "registry",
    ],
    "privacy": [
        "notions",
        "laws",
        "pair_profiles",
        "verification",
        "verifier",
        "bayes_attack",
        "elimination_attack",
        "auditor",
        "poisoning",
        "honesty",
        "attacker",
        "privacy_card",
    ],
    "distributed": ["lake", "engines", "tallying", "privatizing"],
    "collector": ["config", "storage", "service", "http", "routes", "app", "server", "live_demo"],
    "experiments": ["datasets", "runner", "tables", "paper"],
}
FILES = {
    ".".join(("fldp", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in sorted(SOURCE.rglob("*.py"))
}


def imports(module, path):
    """Yield the modules of fldp that a module imports when it runs, wherever the import stands."""
    tree = ast.parse(path.read_text())
    for block in [
        node for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
    ]:
        block.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in FILES)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} imports by a relative path"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield from {whole if whole in FILES else node.module} & FILES.keys()


@cache
def edges():
    """Return what each module imports: a worker that runs no test of this file need not know."""
    return {module: set(imports(module, path)) - {module} for module, path in FILES.items()}


def against(order, place):
    """Return the imports between places of an order that go back."""
    ranks = {name: rank for rank, name in enumerate(order)}
    pairs = [(one, other) for one, others in edges().items() for other in others]
    known = [(one, other) for one, other in pairs if place(one) in ranks and place(other) in ranks]
    return [(one, other) for one, other in known if ranks[place(other)] > ranks[place(one)]]


def part(number):
    return lambda module: (module.split(".") + [""] * 3)[number]


def test_every_module_is_in_a_room():
    assert {part(1)(module) for module in FILES} - {"", "__main__", *ALIASES} == set(ROOMS)
    assert len([path for path in SOURCE.glob("*.py") if path.name != "__init__.py"]) <= 5


def test_a_room_imports_only_rooms_before_it():
    assert against(ROOMS, part(1)) == []


@pytest.mark.parametrize("room", INSIDE)
def test_inside_a_room_imports_go_one_way(room):
    there = {part(2)(module) for module in FILES if part(1)(module) == room} - {""}
    assert there <= set(INSIDE[room])
    assert against(INSIDE[room], lambda module: part(2)(module) if part(1)(module) == room else None) == []


def test_a_cycle_that_is_planted_is_found(monkeypatch):
    monkeypatch.setitem(edges(), "fldp.wire.batch", edges()["fldp.wire.batch"] | {"fldp.cli.options"})
    assert against(ROOMS, part(1)) == [("fldp.wire.batch", "fldp.cli.options")]


def reached(start):
    seen, waiting = set(), [start]
    while waiting:
        new = edges().get(waiting.pop(), set()) - seen - {"fldp"}
        seen |= new
        waiting += new
    return seen


def test_no_module_imports_itself_by_way_of_others():
    assert [module for module in FILES if module != "fldp" and module in reached(module)] == []


def test_handlers_hold_no_statistics_and_import_no_handlers():
    rooms = ("numerics", "estimation", "search", "privacy", "distributed", "collector.routes")
    handlers = [module for module in FILES if module.startswith("fldp.collector.routes.")]
    barred = tuple(f"fldp.{room}" for room in rooms)
    assert [(one, other) for one in handlers for other in edges()[one] if other.startswith(barred)] == []
    assert len(handlers) > 5


def test_every_room_says_what_lives_there():
    for path in SOURCE.rglob("__init__.py"):
        assert ast.get_docstring(ast.parse(path.read_text())), path


def test_the_architecture_has_a_row_for_each_room_in_their_order():
    text = (ROOT / "ARCHITECTURE.md").read_text()
    table = text.partition("| room | what lives there |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, re.M) == ROOMS
    named = set(re.findall(r"`([\w.]+(?:/[\w.]+)+)`", text)) - {"fldp/node"}
    places = (ROOT, SOURCE)
    assert [path for path in named if not any((place / path).exists() for place in places)] == []


def test_no_module_is_hidden_by_what_a_package_exports():
    for module, path in FILES.items():
        if path.name == "__init__.py":
            package = importlib.import_module(module)
            names = {name for name in vars(package) if f"{module}.{name}" in FILES}
            assert [name for name in names if not inspect.ismodule(getattr(package, name))] == [], module


def test_no_public_class_name_is_defined_twice():
    classes = Counter(
        node.name
        for path in FILES.values()
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, count in classes.items() if count > 1] == []


def test_limits_are_named_as_the_public_options_are():
    for path in FILES.values():
        assert not re.search(r"\b_?(MOST|LEAST)_[A-Z]", path.read_text()), path


BORDERS = {  # files and folders where types end, and why
    "__init__.py": "a module's __getattr__ returns what a name stands for",
    "cli/": "classes of Typer, which differ by its version",
    "client/replies.py": "JSON that was checked against the operation's model",
    "collector/storage/postgres/": "keywords and rows of psycopg",
    "data/formats.py": "the outcome of a report: each oracle has a type of its own",
    "distributed/engines/registry.py": "frames of other libraries",
    "experiments/runner/table.py": "columns of any type",
    "interface/models.py": "objects in JSON whose keys depend on the oracle",
    "oracles/base/moved_members.py": "members under their old names",
    "oracles/base/oracle.py": "the options of an estimate: each oracle has its own, and refuses others",
    "presentation/figure_style.py": "keywords of Matplotlib",
    "survey/": "the tables of a survey as TOML or JSON has them, and the arguments that come of them",
    "telemetry/": "tables of metrics.toml, and JSON for the person",
}


def signatures(body):
    """Yield the annotations of all public functions, methods and fields; Numba finds out the types of a kernel."""
    for node in body:
        name = getattr(node, "name", "") or getattr(getattr(node, "target", None), "id", "")
        if name.startswith("_") and not name.startswith("__"):
            continue
        if isinstance(node, ast.ClassDef | ast.If):
            yield from signatures(node.body)
        elif isinstance(node, ast.AnnAssign):
            yield node.annotation
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not is_kernel(node):
            arguments = [each for each in ast.walk(node.args) if isinstance(each, ast.arg)]
            yield from filter(None, (*(each.annotation for each in arguments), node.returns))


def is_kernel(function):
    return "Kernel" in {getattr(decorator, "id", "") for decorator in function.decorator_list}


def is_untyped(annotation):
    return bool(re.search(r"\bAny\b", re.sub(r"(dtype|integer)\[Any\]", "", ast.unparse(annotation))))


def test_public_signatures_have_types():
    untyped = {
        path.relative_to(SOURCE).as_posix()
        for path in FILES.values()
        if "Any" in (text := path.read_text()) and any(map(is_untyped, signatures(ast.parse(text).body)))
    }
    assert [path for path in untyped if not path.startswith(tuple(BORDERS))] == []
    assert [border for border in BORDERS if not any(path.startswith(border) for path in untyped)] == []


def test_a_type_that_is_missing_is_found():
    code = "class A:\n def f(self, *, x: list[Any]): ...\n def _g(self) -> Any: ...\n"
    assert list(map(is_untyped, signatures(ast.parse(code).body))) == [True]


def asked_classes(tree):
    """Yield the names of the classes that a module asks objects for, by isinstance, by type or by a pattern."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "issubclass"):
            asked = node.args[1:]
        elif isinstance(node, ast.Compare) and "func=Name(id='type'" in ast.dump(node):
            asked = [node]
        else:
            asked = [node.cls] if isinstance(node, ast.MatchClass) else []
        yield from (name.id for part in asked for name in ast.walk(part) if isinstance(name, ast.Name))


def oracle_classes():
    """Return the names of all oracles, abstract ones too, and of what some of them can do besides."""
    for module in FILES:
        if part(1)(module) == "oracles":
            importlib.import_module(module)
    classes, waiting = set(), [Oracle]
    while waiting:
        classes |= {cls := waiting.pop()}
        waiting += cls.__subclasses__()
    return {cls.__name__ for cls in classes if cls.__module__.startswith("fldp.oracles.")}


def test_no_other_room_asks_for_the_class_of_an_oracle():
    classes = oracle_classes()
    asked = {module: set(asked_classes(ast.parse(path.read_text()))) & classes for module, path in FILES.items()}
    assert [module for module, names in asked.items() if names and part(1)(module) != "oracles"] == []
    assert {"GRR", "StringOracle", "Sampled"} <= classes


def test_a_question_for_the_class_of_an_oracle_is_found():
    code = "isinstance(x, A | b.B)\ntype(x) is C\nmatch x:\n case D(): ..."
    assert {"A", "C", "D"} <= set(asked_classes(ast.parse(code)))


VAGUE = "(found|made|given)"
VAGUELY = re.compile(rf"\b{VAGUE}(, \w+)? = |\bas {VAGUE}:|\b(const|let) {VAGUE}\b|^ *for {VAGUE} in ", re.M)


def test_a_variable_says_what_it_holds():
    folders = [SOURCE, *(ROOT / name for name in ("tests", "bench", "tools", "js/src", "js/test"))]
    paths = [path for folder in folders for path in folder.rglob("*") if path.suffix in (".py", ".ts", ".js")]
    own = [path for path in paths if "vendor" not in path.parts and path.parent.name != "static"]
    assert [path for path in own if VAGUELY.search(path.read_text())] == []
    assert VAGUELY.search("for " + "found in f():")


def test_tests_share_by_way_of_support():
    for path in (ROOT / "tests").rglob("*.py"):
        assert not re.search(r"^\s*(from|import) test_", path.read_text(), re.M), path


def test_aliases_are_what_they_stand_for():
    from fldp.conformance import vectors
    from fldp.participant import store
    from fldp.wire import parquet

    assert importlib.import_module("fldp.parquet").write is fldp.__getattr__("parquet").write is parquet.write
    assert importlib.import_module("fldp.participant_store").MemoryStore is store.MemoryStore
    assert importlib.import_module("fldp.vectors").main is vectors.main
    assert all(hasattr(fldp, name) for name in fldp.__all__)
