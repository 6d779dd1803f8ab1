"""The hottest kernels compile to no more than they did, counted and not timed: limits are a fifth above the counts.

Each kernel has limits for its innermost loops: at most this number of instructions, calls, divisions and steps with
floats, and at least this number of vectorised loops. Whoever makes a loop longer sees it here, and raises the limit
with a reason or takes the step out again.
"""

import platform
from pathlib import Path

import pytest

from support.machine_code import Loops, compiled_for_all

PROCESSOR = Path("/proc/cpuinfo")
pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64" or not PROCESSOR.is_file() or "avx2" not in PROCESSOR.read_text(),
    reason="the code is for x86-64 with AVX2",
)

LIMITS = {
    "respond": Loops(129, vectorised=0, calls=0, divisions=6, floats=0),
    "draw_pairs": Loops(150, vectorised=1, calls=0, divisions=0, floats=0),
    "draw_parities": Loops(255, vectorised=0, calls=0, divisions=6, floats=0),
    "throw_blocks": Loops(174, vectorised=2, calls=0, divisions=0, floats=0),
    "draw_sets": Loops(165, vectorised=2, calls=0, divisions=0, floats=0),
    "turn": Loops(40, vectorised=0, calls=0, divisions=0, floats=0),
    "add_symbols": Loops(28, vectorised=0, calls=0, divisions=0, floats=0),
    "add_pairs": Loops(22, vectorised=0, calls=0, divisions=0, floats=0),
    "add_characters": Loops(442, vectorised=0, calls=0, divisions=0, floats=0),
    "add_bits": Loops(193, vectorised=0, calls=1, divisions=0, floats=0),
    "add_supports": Loops(117, vectorised=2, calls=0, divisions=0, floats=0),
    "_eight": Loops(256, vectorised=1, calls=0, divisions=0, floats=0),
    "_eight_of_eight": Loops(100, vectorised=1, calls=0, divisions=0, floats=0),
}


PLANTED = {"divides": "divisions", "floats": "floats", "depends": "vectorised", "allocates": "calls"}


def worse(loops, limit):
    """Return what is worse than a limit."""
    least, most = {"vectorised"}, ("instructions", "calls", "divisions", "floats")
    more = [name for name in most if getattr(loops, name) > getattr(limit, name)]
    return more + [name for name in least if getattr(loops, name) < getattr(limit, name)]


def test_hot_kernels_compile_to_no_more_than_they_did():
    compiled = compiled_for_all("support.hot_kernels")
    assert compiled.keys() == LIMITS.keys()
    judged = [(name, worse(loops, LIMITS[name]), loops) for name, loops in compiled.items()]
    assert [each for each in judged if each[1]] == []
    assert [name for name, loops in compiled.items() if loops.instructions < LIMITS[name].instructions / 2] == []


def test_what_makes_a_loop_slow_is_found():
    compiled = compiled_for_all("support.planted_kernels")
    right = compiled.pop("right")
    assert right.vectorised > 0
    assert {name: PLANTED[name] for name, loops in compiled.items() if PLANTED[name] in worse(loops, right)} == PLANTED
