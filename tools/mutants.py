"""Change the code in one small place at a time, and see whether the tests notice: make mutants PART=ledger COUNT=20.

A mutant is killed if the tests of its part fail. Survivors are printed with their line: each is a missing test, or a
change that makes no difference, and then ``EXPLAINED`` says why. Runs that do not end in time are counted apart: the
mutant may loop, or the machine be busy. Which places are tried is drawn by a seed.
"""

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).parents[1]
# Each part: its files below src/fldp, and the tests that are to notice.
PARTS = {
    "oracles": (
        ("oracles/plain/grr.py", "oracles/plain/unary.py", "oracles/flexible/fhr.py"),
        ("tests/numerics/test_by_numpy.py", "tests/estimation/test_simulate.py", "tests/oracles"),
    ),
    "coins": (
        ("randomness/coins.py", "randomness/two_stage_coins.py"),
        ("tests/randomness", "tests/oracles/test_rappor.py", "tests/wire/test_wire.py"),
    ),
    "estimates": (("data/estimate.py", "data/comparison.py"), ("tests/data",)),
    "ledger": (
        ("participant/ledger.py", "participant/limits.py"),
        tuple(f"tests/participant/test_{name}.py" for name in ("ledger", "epochs", "renewing")),
    ),
    "admission": (
        ("collector/storage/admission.py",),
        tuple(
            f"tests/collector/storage/test_collector_{name}.py"
            for name in ("admission", "store", "withdrawal", "passes_stored")
        ),
    ),
    "folding": (
        ("collector/service/folding.py",),
        (
            "tests/collector/service/test_collector_folding.py",
            "tests/collector/service/test_collector_threads.py",
            "tests/collector/storage/test_collector_withdrawal.py",
        ),
    ),
}
# Survivors that were read: the file below src/fldp, the kind of change and the line, and why no test can tell.
EXPLAINED = {
    (
        "data/estimate.py",
        "number",
        "values: int = field(default=1, repr=False, compare=False)",
    ): "it is read beside an estimate, which comes with its own",
    (
        "data/estimate.py",
        "comparison",
        'return holm(self.p_values) <= 1 - fraction("Estimate", "level", level)',
    ): "equal only if a p-value is what is left of the level to the last bit",
    (
        "randomness/coins.py",
        "comparison",
        "if keep > E * other:  # cannot happen: other was rounded up",
    ): "it guards against what cannot happen",
    (
        "randomness/coins.py",
        "comparison",
        "if q > (1 + LOSS) / (1 + odds):",
    ): "equal only if a bound that is rounded at 2**-128 is a ratio of thresholds",
    (
        "randomness/two_stage_coins.py",
        "comparison",
        "flip = _least(1, whole // 2, lambda flip: coins(flip).lasting_ratio <= all_together)",
    ): "equal only if a bound that is rounded at 2**-128 is a ratio of thresholds",
}
COMPARED = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}
COMPUTED = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult}
Outcome = Literal["killed", "survived", "did not end"]
JOINED = {ast.And: ast.Or, ast.Or: ast.And}


def changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield what a node may be changed into, with a name for it."""
    other = copy.deepcopy(node)
    if isinstance(other, ast.Compare) and type(other.ops[0]) in COMPARED:
        other.ops[0] = COMPARED[type(other.ops[0])]()
        yield "comparison", other
    elif isinstance(other, ast.BinOp) and type(other.op) in COMPUTED:
        other.op = COMPUTED[type(other.op)]()
        yield "arithmetic", other
    elif isinstance(other, ast.BoolOp):
        other.op = JOINED[type(other.op)]()
        yield "and, or", other
    elif isinstance(other, ast.Constant) and type(other.value) is int:
        other.value += 1
        yield "number", other
    elif isinstance(other, ast.If | ast.IfExp) and ast.unparse(other.test) != "TYPE_CHECKING":
        other.test = ast.UnaryOp(ast.Not(), other.test)
        yield "condition", other


class _Replaced(ast.NodeTransformer):
    """A tree with one node replaced."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self._new if node is self._old else self.generic_visit(node)


def mutants(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield the line, the kind and the whole text of every mutant of a file."""
    for place, node in enumerate(ast.walk(ast.parse(text))):
        for kind, new in changes(node):
            tree = ast.parse(text)
            old = next(node for number, node in enumerate(ast.walk(tree)) if number == place)
            yield (
                getattr(node, "lineno", 0),
                kind,
                ast.unparse(ast.fix_missing_locations(_Replaced(old, new).visit(tree))),
            )


def outcome(source: Path, tests: tuple[str, ...], seconds: float) -> Outcome:
    """Return what comes of the tests with this source; one that survives is one that passes them."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", *tests]
    variables = {**os.environ, "PYTHONPATH": str(source)}
    try:
        ended = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return "did not end"
    return "survived" if ended.returncode == 0 else "killed"


def judged(part: str, count: int, seed: int, seconds: float) -> Iterator[tuple[str, Outcome]]:
    """Try mutants of a part; yield each with what came of it."""
    files, tests = PARTS[part]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(shutil.copytree(ROOT / "src", Path(folder) / "src"))
        if outcome(source, tests, seconds) != "survived":
            sys.exit(f"{part}: its tests fail, or take more than {seconds:g} seconds, before anything is changed")
        texts = {name: (source / "fldp" / name).read_text() for name in files}
        candidates = [(name, *mutant) for name, text in texts.items() for mutant in mutants(text)]
        for name, line, kind, text in random.Random(seed).sample(candidates, min(count, len(candidates))):  # noqa: S311
            (source / "fldp" / name).write_text(text)
            yield (
                f"src/fldp/{name}:{line}: {kind}{_why(name, kind, texts[name], line)}",
                outcome(source, tests, seconds),
            )
            (source / "fldp" / name).write_text(texts[name])


def summary(part: str, verdicts: list[tuple[str, Outcome]]) -> str:
    """Return how many mutants were killed, and those that were not, line by line."""
    left = [f"{mutant}: {came}" for mutant, came in verdicts if came != "killed"]
    endless = sum(came == "did not end" for _, came in verdicts)
    apart = f", {endless} did not end" if endless else ""
    return "\n  ".join([f"{part}: {len(verdicts) - len(left)} of {len(verdicts)} were killed{apart}", *left])


def _why(name: str, kind: str, text: str, line: int) -> str:
    """Return why such a change of this line makes no difference, if that is known."""
    why = EXPLAINED.get((name, kind, text.splitlines()[line - 1].strip()))
    return "" if why is None else f" ({why})"


def main() -> None:
    """Try the parts that were asked for, and say how many mutants were noticed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="*", default=[*PARTS], help=f"some of {', '.join(PARTS)}; by default all")
    parser.add_argument("--count", type=int, default=20, help="mutants of each part")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=600, help="after which a run counts as one that does not end")
    asked = parser.parse_args()
    if odd := set(asked.part) - PARTS.keys():
        parser.error(f"there is no part {', '.join(sorted(odd))}; there are {', '.join(PARTS)}")
    for part in asked.part:
        print(summary(part, list(judged(part, asked.count, asked.seed, asked.seconds))), flush=True)


if __name__ == "__main__":
    main()
