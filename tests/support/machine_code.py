"""The machine code of hot kernels: what their innermost loops have, which no clock and no other program can change.

``compiled_for_all`` compiles kernels in a process of its own, with an empty cache and one kind of processor for every
machine, so that all machines have the same code.
"""

import json
import os
import re
import subprocess
import sys
from dataclasses import asdict, dataclass
from importlib import import_module
from tempfile import TemporaryDirectory

_LABEL = re.compile(r"(\.?\w+):")
_JUMP = re.compile(r"\tj\w+\t(\.\w+)$")
_DIVISION = re.compile(r"i?div[bwlq]?")
_FLOAT = re.compile(r"v?(cvt\w+|(mul|add|sub|div)[sp]d)")


@dataclass(frozen=True)
class Loops:
    """What all innermost loops of a kernel have together."""

    instructions: int
    vectorised: int  # loops
    calls: int
    divisions: int
    floats: int


def body(assembly, name):
    """Return the lines of the function itself, without those that take arguments from Python for it."""
    lines = [line.partition("#")[0].rstrip() for line in assembly.splitlines()]
    starts = [n for n, line in enumerate(lines) if (label := _LABEL.match(line)) and not label[1].startswith(".")]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        if name in lines[start] and not re.match(r"_ZN7cpython|cfunc", lines[start]):
            return lines[start + 1 : end]
    raise ValueError(f"there is no function {name}")


def innermost(lines):
    """Return the instructions of each loop that has none inside: from a label to the jump back to it.

    >>> innermost([".A:", "\\taddl", ".B:", "\\tsubl", "\\tjne\\t.B", "\\tjmp\\t.A"])
    [['\\tsubl', '\\tjne\\t.B']]
    """
    labels = {match[1]: n for n, line in enumerate(lines) if (match := _LABEL.match(line))}
    jumps = [(labels.get(match[1], n), n) for n, line in enumerate(lines) if (match := _JUMP.match(line))]
    loops = [(start, end) for start, end in jumps if start < end]
    inner = [a for a in loops if not any(a != b and a[0] <= b[0] and b[1] <= a[1] for b in loops)]
    return [[line for line in lines[a : b + 1] if line.startswith("\t") and line[1] != "."] for a, b in inner]


def loops(assembly, name):
    """Return what the innermost loops of a function have."""
    every = innermost(body(assembly, name))
    words = [line.split()[0] for loop in every for line in loop]
    return Loops(
        instructions=len(words),
        vectorised=sum(any("%ymm" in line for line in loop) for loop in every),
        calls=sum(word.startswith("call") for word in words),
        divisions=sum(bool(_DIVISION.fullmatch(word)) for word in words),
        floats=sum(bool(_FLOAT.fullmatch(word)) for word in words),
    )


def of_kernel(kernel):
    """Return the loops of a kernel that was called with arguments of one kind."""
    (assembly,) = kernel.compiled.inspect_asm().values()
    return loops(assembly, kernel.python.__name__)


def compiled_for_all(module):
    """Return the loops of the kernels that a module calls, by name, on a processor with AVX2."""
    with TemporaryDirectory() as cache:
        processor = {"NUMBA_CPU_NAME": "x86-64-v3", "NUMBA_CPU_FEATURES": "+avx2", "NUMBA_CACHE_DIR": cache}
        command = [sys.executable, "-m", "support.machine_code", module]
        printed = subprocess.run(command, env=os.environ | processor, check=True, stdout=subprocess.PIPE).stdout
    return {name: Loops(**counts) for name, counts in json.loads(printed).items()}


if __name__ == "__main__":
    kernels = import_module(sys.argv[1]).called()
    print(json.dumps({kernel.__name__: asdict(of_kernel(kernel)) for kernel in kernels}))
