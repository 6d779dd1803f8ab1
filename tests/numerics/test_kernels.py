import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fldp
from fldp.numerics.kernels import U64, keyed_hash, multiply_high, parity, walsh_hadamard
from support import naive

words = st.integers(0, 2**64 - 1)


@given(st.integers(0, 2**32 - 1))
def test_parity(x):
    assert parity(U64(x)) == parity.compiled(U64(x)) == bin(x).count("1") % 2


@given(words, st.integers(0, 2**31))
def test_keyed_hash(seed, value):
    expected = naive.splitmix(seed, value)
    assert keyed_hash(U64(seed), U64(value)) == keyed_hash.compiled(U64(seed), U64(value)) == expected


@given(words, st.integers(1, 2**32 - 1))
def test_multiply_high(x, bound):
    assert multiply_high(U64(x), U64(bound)) == multiply_high.compiled(U64(x), U64(bound)) == x * bound >> 64


def test_hashes_of_two_values_are_independent():
    """Over random seeds, pairs of symbols fill a square evenly: chi-square, false alarms below 1e-9 a pair."""
    seeds = fldp.Stream(4).words(200_000)
    symbols = {}
    with np.errstate(over="ignore"):
        for value in (0, 1, 2, 3, 255, 256, 1023, 2**20):
            hashed = keyed_hash.python(seeds, U64(value))
            symbols[value] = (hashed >> U64(61)).astype(np.int64)
    names = sorted(symbols)
    for i, one in enumerate(names):
        for other in names[i + 1 :]:
            counts = np.bincount(symbols[one] * 8 + symbols[other], minlength=64)
            statistic = ((counts - 3125) ** 2 / 3125).sum()
            assert statistic < 170, (one, other, statistic)  # 63 degrees of freedom: P < 1e-11


@pytest.mark.parametrize("bits", [*range(15), 17])
def test_transform_is_exact(bits):
    size = 1 << bits
    vector = np.random.default_rng(bits).integers(-(10**9), 10**9, size)
    found = walsh_hadamard(vector)
    rows = np.arange(size) if size <= 512 else np.array([0, 1, 5, size // 2, size - 1])
    for row in rows.tolist():
        signs = 1 - 2 * np.array([(row & j).bit_count() & 1 for j in range(size)])
        assert found[row] == signs @ vector
    assert np.array_equal(walsh_hadamard(found), size * vector)


@pytest.mark.parametrize("shape", [(0,), (3,), (2, 2), ()])
def test_transform_needs_a_power_of_two(shape):
    with pytest.raises(fldp.ParameterError, match="the length must be a power of two"):
        walsh_hadamard(np.zeros(shape, np.int64))


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_one_value_never_loads_numba_and_a_batch_does():
    print(
        run(
            "import sys, fldp\n"
            "heavy = {'numba', 'pandas', 'polars', 'matplotlib', 'typer', 'rich', 'scipy'}\n"
            "classes = (fldp.GRR, fldp.SUE, fldp.OUE, fldp.OLH, fldp.FHR, fldp.FWR, fldp.PGR)\n"
            "oracles = [fldp.RR(1.0)] + [make(1.0, 1000) for make in classes]\n"
            "for oracle in oracles:\n"
            "    for value in (1, [1]):\n"
            "        oracle.privatize(value)\n"
            "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
            "oracles[1].privatize([1, 2])\n"
            "assert 'numba' in sys.modules\n"
        )
    )


def test_the_cache_on_disk_sees_a_change_of_the_shared_kernels():
    from fldp.numerics import kernels

    assert kernels._digest() in fldp.oracles.flexible.fhr.draw_pairs._linked().__qualname__
