"""Numbers sorted by their digits are in the same order as numbers that were compared."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fldp.numerics.kernels import U64
from fldp.numerics.radix_sort import _distribute, radix_sorted


@pytest.mark.parametrize("kind", ["<u1", "<u2", "<u4", "<u8"])
@given(data=st.data())
def test_numbers_are_sorted(kind, data):
    largest = int(np.iinfo(kind).max)
    numbers = data.draw(st.lists(st.integers(0, largest) | st.sampled_from([0, 1, largest, largest - 1]), max_size=60))
    given_numbers = np.array(numbers, kind)
    assert radix_sorted(given_numbers).tolist() == sorted(numbers)


def test_many_numbers_are_sorted_in_every_digit():
    numbers = np.random.default_rng(1).integers(0, 2**64, 20_000, dtype=np.uint64)
    for shift in range(0, 64, 7):
        some = numbers >> U64(shift)
        assert np.array_equal(radix_sorted(some.copy()), np.sort(some))


def test_the_interpreted_pass_is_the_compiled_one():
    numbers = np.random.default_rng(2).integers(0, 2**32, 500, dtype=np.uint32)
    outs = [np.empty_like(numbers) for _ in range(2)]
    for run, out in zip((_distribute, _distribute.compiled), outs, strict=True):
        run(numbers, U64(11), np.zeros(1 << 11, np.int64), out)
    assert np.array_equal(*outs)
