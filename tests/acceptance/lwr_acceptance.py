"""LWR at full size: the error of each day, of 20,000 people a fifth of whom change their value each day."""

import os

import numpy as np
import pytest

import fldp
from support.changing_values import day_errors

RUNS = int(os.environ.get("FLDP_RUNS", "60"))


@pytest.mark.parametrize(
    "oracle", [fldp.LWR(0.5, 100, 1.0), fldp.LWR(1.0, 100, 2.0), fldp.LWR(1.0, 100, 2.0, 2)], ids=repr
)
def test_the_error_of_a_day_is_within_three_percent_of_the_formula(oracle):
    """Of five days together: 30,000 squared errors, partly of the same noise, whose mean has an error near 1 %."""
    ratios = day_errors(oracle, people=20_000, runs=RUNS, days=5)
    print(f"{oracle!r}: mean squared error of the formula's, by day: {np.round(ratios, 3).tolist()}")
    assert abs(ratios.mean() - 1) < 0.03
