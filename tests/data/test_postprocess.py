import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fldp
from fldp.data.estimate import Estimate
from fldp.data.postprocess import METHODS, postprocess

numbers = st.lists(st.floats(-1000, 1000), min_size=2, max_size=30)


def make(counts, n=100):
    counts = np.array(counts, float)
    return Estimate(fldp.GRR(1.0, len(counts)), counts, np.ones(len(counts)), n)


def norm_sub_loop(counts, n):
    """The published procedure, step by step."""
    kept = {k: x for k, x in enumerate(counts) if x > 0}
    while kept:
        shift = (n - sum(kept.values())) / len(kept)
        kept = {k: x + shift for k, x in kept.items()}
        if min(kept.values()) >= -1e-9:
            break
        kept = {k: x for k, x in kept.items() if x > 0}
    return [kept.get(k, 0.0) for k in range(len(counts))]


@given(numbers)
def test_norm_sub_is_the_published_procedure(counts):
    if max(counts) > 0:
        repaired = postprocess(make(counts), "norm-sub").counts
        assert repaired == pytest.approx(norm_sub_loop(counts, 100), abs=1e-6)


@given(numbers)
def test_simplex_is_the_nearest_point(counts):
    """Optimality: one shift for all that stay positive, and at least as large a one for those at zero."""
    repaired = postprocess(make(counts), "simplex").counts
    assert repaired.min() >= 0
    assert repaired.sum() == pytest.approx(100)
    shift = (repaired - counts)[repaired > 0]
    assert shift == pytest.approx(np.full(len(shift), shift[0]), abs=1e-6)
    assert np.all(np.array(counts)[repaired == 0] + shift[0] <= 1e-6)


def test_they_differ_where_little_is_left():
    counts = [60.0, -1.0, -70.0]
    assert postprocess(make(counts), "norm-sub").counts.tolist() == [100, 0, 0]
    assert postprocess(make(counts), "simplex").counts.tolist() == [80.5, 19.5, 0]
    assert postprocess(make(counts), "clip").counts.tolist() == [60, 0, 0]
    assert postprocess(make([-3.0, -1.0]), "norm-sub").counts.tolist() == [49, 51]


@pytest.mark.parametrize("method", METHODS)
def test_the_original_is_kept(method):
    source = make([150.0, -30, 20, 5])
    repaired = postprocess(source, method)
    assert repaired.original is source
    assert (repaired.biased, source.biased, repaired.method) == (True, False, method)
    assert source.counts.tolist() == [150, -30, 20, 5]
    assert postprocess(repaired, "clip").original is source
    assert np.array_equal(repaired.interval(), np.clip(source.interval(), 0, 100))
    assert "biased" in repr(repaired)


def test_unknown_methods():
    with pytest.raises(
        fldp.ParameterError, match="postprocess: method must be one of 'clip', 'norm-sub', 'simplex', 'bayes'"
    ):
        postprocess(make([1.0, 2.0]), "magic")
