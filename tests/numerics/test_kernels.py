import importlib
import subprocess
import sys
import threading
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fldp
from fldp.numerics import kernels
from fldp.numerics import walsh_hadamard as module
from fldp.numerics.kernels import U64
from fldp.numerics.walsh_hadamard import walsh_hadamard
from fldp.numerics.word_kernels import keyed_hash, multiply_high, parity
from fldp.oracles.flexible.fhr import draw_pairs
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
    transformed = walsh_hadamard(vector)
    rows = np.arange(size) if size <= 512 else np.array([0, 1, 5, size // 2, size - 1])
    for row in rows.tolist():
        signs = 1 - 2 * np.array([(row & j).bit_count() & 1 for j in range(size)])
        assert transformed[row] == signs @ vector
    assert np.array_equal(walsh_hadamard(transformed), size * vector)
    assert np.array_equal(walsh_hadamard(vector, load_numba=False), transformed)


@pytest.mark.parametrize("threads", [2, 4, 8])
@pytest.mark.parametrize("kind", [np.int64, np.float64])
def test_transform_in_threads_is_the_same_to_the_last_bit(threads, kind):
    vector = (np.random.default_rng(threads).standard_normal(1 << 15) * 1e9).astype(kind)
    before, expected, transformed = vector.copy(), walsh_hadamard(vector), np.empty_like(vector)
    module._transform_in_threads(vector, transformed, threads)
    assert np.array_equal(transformed, expected)
    assert np.array_equal(vector, before)
    assert np.array_equal(walsh_hadamard(vector, load_numba=False), expected)  # NumPy adds in the same order


def test_what_fails_in_one_of_the_threads_fails_for_the_caller():
    """After all other tasks, also those that a task led to."""
    done = []

    def fail():
        raise MemoryError("no room")

    def note(number):
        done.append(number)
        return []

    def lead():
        return [fail, *(partial(note, number) for number in range(10))]

    with pytest.raises(MemoryError, match="no room"):
        module._share([lead, lead], 4)
    assert sorted(done) == sorted([*range(10), *range(10)])


def test_a_thread_that_never_starts_keeps_nobody_waiting(monkeypatch):
    vector = np.arange(1 << 15)
    expected, transformed = walsh_hadamard(vector), np.empty_like(vector)
    monkeypatch.setattr(module, "call_in_helpers", lambda work, threads: None)
    module._transform_in_threads(vector, transformed, 4)
    assert np.array_equal(transformed, expected)


def test_the_caller_waits_for_what_another_thread_has_begun():
    """Not before that thread has put its numbers there."""
    begun, go, done = threading.Event(), threading.Event(), []
    caller = threading.get_ident()

    def task():
        if threading.get_ident() == caller:
            begun.wait()
            threading.Timer(0.1, go.set).start()
        else:
            begun.set()
            go.wait()
        done.append(threading.get_ident() == caller)
        return []

    module._share([task, task], 2)
    assert done == [True, False]


@pytest.mark.parametrize("kind", [np.bool_, np.int8, np.uint16, np.int32, np.float32])
def test_transform_in_threads_takes_other_types_and_strides(monkeypatch, kind):
    vector = np.random.default_rng(1).integers(0, 2, 1 << 15).astype(kind)[::2]
    expected = walsh_hadamard(vector)
    monkeypatch.setattr(module, "available_cores", lambda: 2)
    monkeypatch.setattr(module, "MIN_THREADED", len(vector))
    transformed = walsh_hadamard(vector)
    assert transformed.dtype == expected.dtype
    assert np.array_equal(transformed, expected)


@pytest.mark.parametrize("cores", [1, 2, 3, 16])
def test_long_vectors_are_transformed_in_threads_where_there_are_cores(monkeypatch, cores):
    """Also each row of a matrix; short ones are not."""
    asked, vector = [], np.arange(module.MIN_THREADED)
    monkeypatch.setattr(module, "available_cores", lambda: cores)
    monkeypatch.setattr(
        module,
        "_transform_in_threads",
        lambda vector, result, threads: asked.append((vector[1], result.shape, threads)),
    )
    walsh_hadamard(vector)
    walsh_hadamard(np.stack([vector, 2 * vector]))
    walsh_hadamard(vector[: len(vector) // 2])
    assert asked == [(number, vector.shape, {1: 1, 2: 2, 3: 2, 16: 8}[cores]) for number in (1, 1, 2)] * (cores > 1)


def test_rows_in_threads_are_the_rows_of_one_thread(monkeypatch):
    rows = np.random.default_rng(3).integers(-(10**9), 10**9, (2, 4096))
    expected = walsh_hadamard(rows)
    monkeypatch.setattr(module, "available_cores", lambda: 2)
    monkeypatch.setattr(module, "MIN_THREADED", 4096)
    assert np.array_equal(walsh_hadamard(rows), expected)


@pytest.mark.parametrize("load_numba", [True, False])
def test_transform_takes_rows_and_floats(load_numba):
    rows = np.random.default_rng(5).integers(-(2**20), 2**20, (3, 4096))
    expected = np.array([walsh_hadamard(row) for row in rows])
    assert np.array_equal(walsh_hadamard(rows, load_numba=load_numba), expected)
    floats = walsh_hadamard(rows.astype(np.float64), load_numba=load_numba)
    assert floats.dtype == np.float64
    assert np.array_equal(floats, expected)  # all sums are below 2^53, so floats are exact
    assert np.array_equal(walsh_hadamard(rows.T[:, :2].T, load_numba=load_numba), expected[:2])


@pytest.mark.parametrize("shape", [(0,), (3,), (2, 3), (1, 1, 2), ()])
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
            "oracles[1].privatize([1] * 200_000)\n"
            "assert 'numba' in sys.modules\n"
        )
    )


def test_the_cache_on_disk_sees_a_change_of_the_shared_kernels(monkeypatch):
    """In the kernels below this one, and in what they call in other files."""
    from fldp.numerics import word_kernels
    from fldp.oracles.plain.unary import below, throw
    from fldp.oracles.strings.rappor_kernels import add_filter, flip_filters

    before = {kernel: kernel._linked().__qualname__ for kernel in (draw_pairs, throw, add_filter, flip_filters)}
    assert all(qualname == f"{kernel.__name__}_{kernel._digest}" for kernel, qualname in before.items())
    real = kernels._source
    for changed, affected in ((word_kernels.parity, {draw_pairs}), (below, {throw, flip_filters})):
        file = changed.python.__code__.co_filename
        monkeypatch.setattr(kernels, "_source", lambda f, file=file: real(f) + b"#" * (f.__code__.co_filename == file))
        after = {kernel: kernel._linked().__qualname__ for kernel in before}
        assert affected <= {kernel for kernel in before if after[kernel] != before[kernel]}


def test_one_user_is_computed_in_plain_python_unless_made_up():
    """Once Numba is loaded, a simulation of few people runs compiled; for real ones the steps stay as they are."""
    importlib.import_module("numba")
    assert parity.over(1) is parity
    with kernels.simulating():
        assert parity.over(1) is parity.compiled
    assert parity.over(1) is parity
