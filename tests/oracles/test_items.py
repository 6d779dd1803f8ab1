import numpy as np
import pytest

import fldp
from fldp.numerics.walsh_hadamard import walsh_hadamard
from fldp.responder.fhr_items import Items, _odd_counts


def least(first, size, rows):
    """The least number of values that a mask leaves, over all masks that leave any: one transform."""
    used = np.zeros(rows, np.int64)
    used[first : first + size] = 1
    left = (size - walsh_hadamard(used)) // 2
    return int(left[left > 0].min())


@pytest.mark.parametrize("bits", range(1, 12))
def test_anonymity_equals_enumeration(bits):
    for size in range(max(2, 1 << (bits - 1)), 1 << bits):
        for items in (Items.spread(size), Items.paper(size)):
            assert items.rows == 1 << bits
            assert items.anonymity == least(items.first, size, items.rows), items


def test_spread_items_leave_at_least_two_fifths():
    for size in range(3, 5000):
        assert Items.spread(size).anonymity >= 0.4 * size
    assert all(Items.spread(2**k).anonymity == 2**k // 2 for k in range(1, 31))
    wanted = {4: 2, 5: 2, 8: 3, 16: 6, 32: 12, 1024: 469}
    assert all(Items.spread(size).anonymity >= least for size, least in wanted.items())


def test_the_bound_in_the_proof():
    for rows in range(1, 4000):
        assert 3 * _odd_counts(rows, 12)[1] <= 2 * rows


def test_the_papers_items_pin_values_at_powers_of_two():
    assert [size for size in range(2, 300) if Items.paper(size).anonymity == 1] == [2, 4, 8, 16, 32, 64, 128, 256]


@pytest.mark.parametrize(("size", "items"), [(2, "spread"), (2, "paper"), (4, "paper"), (1024, "paper")])
def test_exposure_has_to_be_asked_for(size, items):
    parameters = f"domain_size={size}" + ", items='paper'" * (items == "paper")
    rule = f"^FHR: with {parameters} a single report can reveal the value; pass allow_exposure=True to accept that$"
    with pytest.raises(fldp.ParameterError, match=rule):
        fldp.FHR(1.0, size, items=items)
    oracle = fldp.FHR(1.0, size, items=items, allow_exposure=True)
    assert oracle.anonymity == 1
    assert "allow_exposure=True" in repr(oracle)


def test_permission_counts_only_where_it_is_needed():
    assert fldp.FHR(1.0, 7, allow_exposure=True) == fldp.FHR(1.0, 7)
    assert fldp.FHR(1.0, 7, allow_exposure=True).parameters == {"epsilon": 1.0, "domain_size": 7}
    assert fldp.FHR(1.0, 2, allow_exposure=True).parameters["allow_exposure"] is True
    assert fldp.FHR(1.0, 7, items="paper") != fldp.FHR(1.0, 7)
