"""Small work without Numba: what NumPy does instead of a kernel is the same, and nothing small loads Numba."""

import secrets
import subprocess
import sys

import numpy as np
import pytest

import fldp
from fldp import wire
from fldp.data import packing
from fldp.numerics import kernels
from fldp.numerics.kernels import U64
from fldp.oracles.base.bit_reports import LANES, add_bits
from fldp.oracles.base.symbol_reports import add_symbols
from fldp.oracles.flexible.fhr import add_pairs, check_pairs
from fldp.oracles.plain.olh_analysis import weigh_values
from fldp.oracles.plain.unary import settle_bits

GENERATOR = np.random.default_rng(8)


def both(kernel, *arguments, outputs):
    """Run the compiled kernel and its counterpart on copies of the outputs; return what each has written."""
    written = []
    for work in (kernel.compiled, kernel._by_numpy):
        copies = [output.copy() for output in outputs]
        rest = work(*arguments, *copies)
        written.append((copies, rest))
    return written


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
def test_symbols_are_counted_alike(dtype):
    (one, _), (other, _) = both(
        add_symbols, GENERATOR.integers(0, 200, 5000).astype(dtype), outputs=[np.ones(200, np.int64)]
    )
    assert np.array_equal(one[0], other[0])


@pytest.mark.parametrize("size", [1, 7, 8, 9, 64, 100])
def test_bits_are_counted_alike(size):
    data = GENERATOR.integers(0, 256, (700, -(-size // 8))).astype(np.uint8)
    (one, _), (other, _) = both(add_bits, data, LANES, outputs=[np.ones(size, np.int64)])
    assert np.array_equal(one[0], other[0])


def test_pairs_are_counted_and_checked_alike():
    pairs = GENERATOR.integers(0, 300, 4000).astype(np.uint16)
    pairs[:2] = 5
    state = [np.zeros(256, np.int64), np.zeros(256, np.int64)]
    (one, _), (other, _) = both(add_pairs, pairs, U64(255), outputs=state)
    assert all(map(np.array_equal, one, other))
    (one, _), (other, _) = both(check_pairs, pairs, U64(255), outputs=[np.zeros(2000, np.bool_)])
    assert np.array_equal(one[0], other[0])


def test_values_are_weighed_alike():
    reports = fldp.OLH(epsilon=1.0, domain_size=20).privatize(np.arange(300) % 20, rng=1).data
    (one, _), (other, _) = both(
        weigh_values, reports["seed"], reports["symbol"], U64(4), 0.25, outputs=[np.zeros((300, 20))]
    )
    assert np.array_equal(one[0], other[0])
    assert set(np.unique(one[0])) == {0.25, 1.0}


def test_true_bits_are_settled_alike_and_by_a_word_below_the_threshold():
    values = np.arange(13).repeat(3)
    true, padding = U64(1 << 63), U64(0b1110_0000)
    words = np.tile(np.array([true - U64(1), true, true + U64(1)]), 13)
    bits = GENERATOR.integers(0, 256, (len(values), 2)).astype(np.uint8)
    (one, _), (other, _) = both(settle_bits, values, words, true, padding, outputs=[bits])
    assert np.array_equal(one[0], other[0])
    settled = np.unpackbits(other[0], axis=1, bitorder="little")
    expected = np.unpackbits(bits, axis=1, bitorder="little")
    expected[:, 13:] = 0
    expected[np.arange(len(values)), values] = np.tile([1, 0, 0], 13)
    assert np.array_equal(settled, expected)


@pytest.mark.parametrize("widths", [(1,), (3,), (8,), (10, 10), (64, 2), (0, 5), (1, 2, 3, 4, 5), (33, 7), (64,)])
@pytest.mark.parametrize("rows", [2, 7, 8, 1001])
def test_packing_is_the_same(widths, rows):
    numbers = [[secrets.randbits(width) for width in widths] for _ in range(rows)]
    columns, each = np.array(numbers, np.uint64), np.array(widths, np.uint8)
    masks = packing._masks(each)
    expected = packed_by_hand(numbers, widths)
    (one, _), (other, _) = both(packing._pack, columns, each, masks, outputs=[np.zeros_like(expected[:-1])])
    assert np.array_equal(one[0], expected[:-1])
    assert np.array_equal(other[0], expected[:-1])
    (first, _), (second, _) = both(packing._unpack, expected, each, masks, outputs=[np.zeros_like(columns)])
    assert np.array_equal(first[0], columns)
    assert np.array_equal(second[0], columns)


def packed_by_hand(numbers, widths):
    """All numbers as one long integer, cut into words; a word of ones follows."""
    whole = place = 0
    for row in numbers:
        for number, width in zip(row, widths, strict=True):
            whole |= number << place
            place += width
    words = -(-place // 64)
    return np.array([whole >> 64 * k & (2**64 - 1) for k in range(words)] + [2**64 - 1], np.uint64)


def test_numba_is_loaded_for_much_work_only(monkeypatch):
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    assert not kernels.pays(kernels.MAX_BY_NUMPY)
    assert kernels.pays(kernels.MAX_BY_NUMPY + 1)
    monkeypatch.setattr(kernels._mode, "always_compiled", True)
    assert kernels.pays(1)
    monkeypatch.setattr(kernels._mode, "always_compiled", False)
    monkeypatch.setitem(sys.modules, "numba", kernels)
    assert kernels.pays(1)


def test_many_batches_load_numba_once_they_are_much_together(tmp_path):
    """A worker reads a lake in batches that are small each; in a process of its own, with a low limit."""
    code = (
        "import sys, fldp\n"
        "from pathlib import Path\n"
        "from fldp.distributed import PartialTally\n"
        "from fldp.numerics import kernels\n"
        "from fldp.wire import files\n"
        "kernels.MAX_IN_BATCHES = 1000\n"
        "oracle = fldp.FHR(1.0, 15)\n"
        "reports, partial = oracle.privatize([3] * 400), PartialTally(oracle, None)\n"
        "path = Path(sys.argv[1])\n"
        "path.write_bytes(fldp.wire.encode(reports))\n"
        "for _ in range(2):\n"
        "    partial.count(reports.data)\n"
        "print('numba' in sys.modules)\n"
        "with path.open('rb') as file:\n"
        "    read = files.open_reports(file, oracle).tally()\n"
        "print('numba' in sys.modules, read == oracle.tally(reports), partial.tally() == read + read)\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "reports.fldp")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "False\nTrue True True\n", done.stderr


def test_a_small_batch_goes_the_whole_way_without_numba():
    """From values to estimates by way of bytes, for the oracles that count symbols, bits or pairs; the law is kept."""
    code = (
        "import sys, fldp, numpy as np\n"
        "from fldp import wire\n"
        "oracles = [cls(3.0, 5) for cls in (fldp.GRR, fldp.OUE, fldp.SUE, fldp.SS, fldp.HR, fldp.FHR)]\n"
        "for oracle in (*oracles, fldp.RR(3.0)):\n"
        "    values = np.repeat([0, 1], [3000, 1000])\n"
        "    reports = wire.decode(wire.encode(oracle.privatize(values)))\n"
        "    estimate = oracle.estimate(wire.decode_tally(wire.encode_tally(oracle.tally(reports))))\n"
        "    off = np.abs(estimate.counts[:2] - [3000, 1000]) / estimate.stderr[:2]\n"
        "    assert off.max() < 6, (oracle, off)\n"  # a false alarm in 10^7 runs
        "print('numba' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "False\n", done.stderr


def test_a_small_unseeded_batch_is_drawn_by_responses(monkeypatch):
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    oracle = fldp.OLH(1.0, 100)
    values = list(range(100)) * 3
    monkeypatch.setattr(type(oracle), "perturb", None)
    reports = oracle.privatize(values)
    assert len(reports) == len(wire.decode(wire.encode(reports))) == 300
