"""One way to check input: constraints, the list of all mistakes, and the rules of identifiers, each in one place."""

import ast
import io
import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import fldp
from fldp.errors import ParameterError
from fldp.support import canonical_json, identifiers
from fldp.support.exact_numbers import exact
from fldp.support.identifiers import IDEMPOTENCY_KEY, SURVEY_NAME, TICKET, TOKEN, VERSION, Identifier
from fldp.support.progress import progress
from fldp.support.validation import (
    MAX_MISTAKES,
    MistakeList,
    fail,
    fraction,
    from_text,
    integer,
    is_integer,
    is_number,
    line,
    number,
    one_of,
    optional,
    positive,
)

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "fldp"
KINDS = [name for name, kind in vars(identifiers).items() if isinstance(kind, Identifier)]


@pytest.mark.parametrize(
    ("constraint", "good", "bad"),
    [
        (integer(1, 5), [1, 5, np.int64(3)], [0, 6, True, 1.0, "1", None, np.bool_(True)]),
        (number(0.5, 2), [0.5, 2, Fraction(1), np.float32(1)], [0.4, 2.1, True, "1", float("nan"), None]),
        (positive, [1, 0.1, Fraction(1, 3)], [0, -1, True, "1", float("inf"), float("nan"), 10**400, None]),
        (fraction, [0.5, Fraction(1, 3)], [0, 1, -0.5, True, "0.5", float("nan"), Fraction(1, 10**400), 10**400]),
        (one_of("a", "b"), ["a", "b"], ["c", "", None, ["a"], 1]),
        (line, ["x", "two words"], ["", " ", "a\nb", "\x00", None, 1]),
        (optional(integer(1, 5)), [None, 3], [0, True, "3"]),
        (from_text(int, integer(1, 5)), ["3", 3], ["6", "x", "1.0", "", "9" * 5000, True, None]),
    ],
)
def test_constraints(constraint, good, bad):
    for value in good:
        constraint("who", "what", value)
    for value in bad:
        with pytest.raises(ParameterError, match=r"^who: what must be .*, got "):
            constraint("who", "what", value)


def test_booleans_are_no_numbers():
    assert [is_integer(value) for value in (1, np.uint8(1), True, np.bool_(1), 1.0)] == [
        True,
        True,
        False,
        False,
        False,
    ]
    assert [is_number(value) for value in (1, 1.5, Fraction(1), True, "1")] == [True, True, True, False, False]
    assert exact(Decimal("0.1")) == exact("0.1") == Fraction(1, 10)
    for value in (True, np.bool_(True), None, [1]):
        with pytest.raises(TypeError):
            exact(value)


def booleans_tested(path):
    """Return the lines in which a module asks whether something is a bool."""
    calls = [
        node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call) and len(node.args) == 2
    ]
    asked = [node for node in calls if isinstance(node.func, ast.Name) and node.func.id == "isinstance"]
    return [
        node.lineno for node in asked if any(isinstance(n, ast.Name) and n.id == "bool" for n in ast.walk(node.args[1]))
    ]


def test_one_file_asks_whether_something_is_a_bool():
    asking = {path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py") if booleans_tested(path)}
    assert asking == {"support/validation.py"}


def test_mistakes_are_collected_with_their_paths_and_sources():
    mistakes = MistakeList()
    assert not mistakes
    assert mistakes.check(("a", "b"), integer(1, 5), 3) == 3
    assert mistakes.check(("a", "b"), integer(1, 5), 9, source="--b") is None
    assert mistakes.attempt(lambda: fldp.GRR(epsilon=-1, domain_size=2), ("oracle",)) is None
    mistakes.unknown(("t",), ["x", "y"], {"y"}, "a key")
    assert [mistake.path for mistake in mistakes.listed] == [("a", "b"), ("oracle", "epsilon"), ("t", "x")]
    assert mistakes.messages == [
        "a.b must be an integer from 1 to 5, got 9 from --b",
        "GRR: epsilon must be a positive, finite number, got -1",
        "'x' is not a key",
    ]
    with pytest.raises(ParameterError, match=r"^input: a\.b must be .*; GRR: epsilon .*; 'x' is not a key$"):
        mistakes.refuse("input")


def test_a_stranger_cannot_fill_the_screen():
    mistakes = MistakeList()
    for position in range(MAX_MISTAKES + 1):
        mistakes.add((str(position),), "short", "x" * 10**6)
    assert len(mistakes.messages) == MAX_MISTAKES + 1
    assert mistakes.messages[-1] == "and 1 more mistake"
    assert max(map(len, mistakes.messages)) < 120


def test_a_secret_is_not_shown():
    assert "hunter2" not in str(fail("serve", "database", "an address", "hunter2", secret=True))


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (SURVEY_NAME, ["a", "a-b_c", "0" * 64], ["", "A", "-a", "a-", "a" * 65, "a\n", "é", None]),
        (VERSION, ["0" * 64, "ab" * 32], ["0" * 63, "AB" * 32, "0" * 64 + "\n", "\u0660" * 64]),
        (IDEMPOTENCY_KEY, ["a" * 22, "A-_9" * 32], ["a" * 21, "a" * 129, "a" * 21 + "/", 22]),
        (TOKEN, [f"fldp_read_{'x' * 43}"], [f"fldp_root_{'x' * 43}", f"fldp_read_{'x' * 42}", "fldp_read_"]),
        (TICKET, [f"fldp_ticket_{'x' * 43}"], [f"fldp_read_{'x' * 43}"]),
    ],
)
def test_identifiers(kind, good, bad):
    assert all(map(kind.matches, good))
    assert not any(map(kind.matches, bad))
    with pytest.raises(ParameterError, match=re.escape(kind.rule)):
        kind("who", "what", bad[0])
    assert re.search(kind.schema["pattern"], good[0])


@pytest.mark.parametrize("name", KINDS)
def test_the_pattern_of_an_identifier_is_written_once(name):
    pattern = getattr(identifiers, name).pattern
    shape = pattern if name == "TOKEN_ID" else pattern[pattern.rindex("{") - 8 :]
    holding = [path for path in SOURCE.rglob("*.py") if shape in path.read_text() and path.name != "identifiers.py"]
    assert holding == []


def scripts():
    """Return the text of all scripts of ours, of the client and of the pages."""
    pages = [path for path in (SOURCE / "collector" / "static").rglob("*.js") if path.parent.name != "vendor"]
    return "\n".join(path.read_text() for path in (*(ROOT / "js" / "src").rglob("*.ts"), *pages))


@pytest.mark.parametrize(
    ("kind", "alike", "least"),
    [(SURVEY_NAME, r"\[a-z0-9\]\(\[a-z0-9_\\*-\]\{\d+,\d+\}\[a-z0-9\]\)\?", 2), (VERSION, r"\[0-9a-f\]\{\d\d+\}", 1)],
)
def test_javascript_has_the_same_patterns(kind, alike, least):
    patterns = [pattern.replace("\\", "") for pattern in re.findall(alike, scripts())]
    assert len(patterns) >= least
    assert set(patterns) == {kind.pattern}


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ("1, 2", "runs must be a list, got '1, 2'"),
        (3, "runs must be a list, got 3"),
        ([], "runs must be a list of at least one, got []"),
        ([1, 2, 1], "runs must be all different, got 1"),
    ],
)
def test_a_list_is_checked_as_a_whole(values, said):
    mistakes = MistakeList()
    mistakes.check_list(("runs",), integer(1, 9), values)
    assert mistakes.messages == [said]


def test_exact_numbers_are_of_numpy_too_and_not_absurdly_long():
    assert exact(np.float64(0.5)) == exact("1/2") == Fraction(1, 2)
    for absurd in ("1e2000", "1" * 1001):
        with pytest.raises(ValueError, match=r"^$"):
            exact(absurd)
    with pytest.raises(TypeError):
        exact([])


def test_what_is_no_number_of_json_has_no_canonical_form():
    with pytest.raises(ValueError, match="inf is not a JSON number"):
        canonical_json.identifier({"epsilon": float("inf")})


@pytest.mark.parametrize(("total", "shown"), [(3, "2 of 3"), (None, "2")])
def test_a_bar_is_shown_on_a_terminal(monkeypatch, total, shown):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")  # a dumb terminal is shown no bar
    with progress("counting", total) as advance:
        advance(2)
    assert "counting" in terminal.getvalue()
    assert shown in terminal.getvalue()
