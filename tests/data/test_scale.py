"""Scales of numbers: cells in order, values apart, what lies outside, and what is refused."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fldp import DomainError, ParameterError
from fldp.data.scale import Scale, number_of, scale_of

SCALES = [
    Scale(0, 30),
    Scale(0, 30, bins=8, apart=(0, 4, 7, 30)),
    Scale(-3, 7.1, bins=17, apart=(0,)),
    Scale(0, 9, edges=(0, 1, 2, 5, 9), apart=(1, 1.5, 9)),
    Scale(-1e9, 1e9, bins=4096),
    Scale(0, 1, bins=10, apart=(0.3, 0.6, 0.7)),  # doubles put 0.3 below the edge of the bin that it is in
]


@pytest.mark.parametrize("scale", SCALES, ids=repr)
def test_every_number_is_in_its_cell_one_by_one_and_together(scale):
    draw = np.random.default_rng(1)
    edges = np.concatenate([scale.bounds, scale.apart])
    numbers = [
        draw.uniform(scale.low - 1, scale.high + 1, 2000),
        edges,
        np.nextafter(edges, -1e99),
        np.nextafter(edges, 1e99),
    ]
    every = np.concatenate(numbers)
    cells = scale.encode(every)
    assert cells.tolist() == [scale.cell(number) for number in every.tolist()]
    for number, cell in zip(np.clip(every, scale.low, scale.high).tolist(), cells.tolist(), strict=True):
        start, end = scale.cells[cell]
        slack = 1e-9 * (scale.high - scale.low)  # of the one formula that all clients share
        assert start - slack <= number <= end + slack
        assert (start == end) == (number in scale.apart)


@pytest.mark.parametrize("scale", SCALES, ids=repr)
def test_cells_follow_each_other(scale):
    assert len(scale.bounds) == scale.size + 1
    assert (np.diff(scale.bounds) >= 0).all()
    assert (scale.bounds[0], scale.bounds[-1]) == (scale.low, scale.high)
    middles = [scale.cell(middle) for middle in scale.centres.tolist()]
    assert middles == list(range(scale.size))


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_no_scale_makes_an_answer_impossible(data):
    """The collector chooses the scale: if it could have some answers refused, silence would tell it the answer."""
    number = st.floats(-1e300, 1e300) | st.integers(-20, 20).map(float)
    low, high = sorted(data.draw(st.tuples(number, number)))
    bins = data.draw(st.integers(3, 40))
    try:
        edges = Scale(low, high, bins=bins).bounds.tolist()
    except ParameterError:
        return
    near = st.sampled_from(edges).flatmap(
        lambda edge: st.sampled_from([edge, math.nextafter(edge, math.inf), math.nextafter(edge, -math.inf)])
    )
    apart = data.draw(st.lists(near.filter(lambda value: low <= value <= high), max_size=5, unique=True))
    scale = Scale(low, high, bins=bins, apart=tuple(apart))
    answers = data.draw(st.lists(near | number, min_size=20)) + apart
    cells = [scale.cell(answer) for answer in answers]
    assert all(0 <= cell < scale.size for cell in cells)
    assert scale.encode(answers).tolist() == cells
    assert (np.diff(scale.bounds) >= 0).all()


def test_an_answer_above_a_value_apart_that_doubles_put_below_its_bin():
    scale = Scale(0, 1, bins=10, apart=(0.3,))
    assert [scale.cell(number) for number in (0.25, 0.3, 0.35, 0.95, 1, 7)] == [2, 3, 4, 10, 10, 10]
    assert [scale.label(cell) for cell in (2, 3, 4)] == ["0.2 to 0.3", "0.3", "0.3 to 0.4"]


def test_numbers_are_rounded_so_that_their_mean_is_kept():
    """A million draws of one number: both neighbours, and the mean within 5 standard errors."""
    scale = Scale(0, 10, bins=11, goal="mean")
    cells = scale.encode(np.full(1_000_000, 3.3), rng=1)
    assert set(cells.tolist()) == {3, 4}
    assert abs(cells.mean() - 3.3) < 5 * np.sqrt(0.3 * 0.7 / 1e6)
    assert {scale.cell(3.3) for _ in range(200)} == {3, 4}  # by chance always the same once in 1e31
    assert scale.encode([0, 10, -5, 50], rng=1).tolist() == [0, 10, 0, 10]


def test_outside_is_clamped_or_refused_without_showing_it():
    clamped, refused = Scale(0, 30, bins=3), Scale(0, 30, bins=3, outside="refuse")
    assert clamped.encode([-5, 99]).tolist() == [0, 2]
    with pytest.raises(DomainError, match=r"position 1 is above high = 30") as raised:
        refused.encode([1, 31.5])
    assert "31.5" not in str(raised.value)
    with pytest.raises(DomainError, match="below low = 0"):
        refused.encode([-0.5])
    assert refused.cell(31.5) == 2  # one by one it is for strangers' surveys


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), "x", None, True])
def test_what_is_no_number_is_refused_without_showing_it(bad):
    with pytest.raises((DomainError, ParameterError), match="not shown"):
        Scale(0, 30).cell(bad)
    with pytest.raises(DomainError, match="not shown"):
        Scale(0, 30).encode([bad])


@pytest.mark.parametrize(
    ("table", "told"),
    [
        (3, "number must be a table such as { low = 0, high = 30, unit = 's' }, got 3"),
        ({"low": 0}, "number: high is missing"),
        ({"low": 0, "high": 0}, "number: high must be above low = 0"),
        ({"low": -1e308, "high": 1e308}, "number: high must be above low = -1e+308, at a finite distance"),
        ({"low": 0, "high": 10**400}, "number: high must be a finite number"),
        ({"low": 0, "high": 1, "bins": 1}, "number: bins must be 3 to 4096, got 1"),
        ({"low": 0, "high": 1, "bins": 4097}, "number: bins must be 3 to 4096, got 4097"),
        ({"low": 0, "high": 1, "bins": True}, "number: bins must be 3 to 4096, got True"),
        (
            {"low": 0, "high": 1, "bins": 4096, "apart": [0]},
            "number: bins must be 3 to 4096 with the cells of apart, got 4097",
        ),
        ({"low": 1, "high": 1 + 2**-50, "bins": 64}, "number: bins must be so few that the ends of all cells differ"),
        ({"low": 0, "high": 1, "bins": 3, "edges": [0, 0.2, 0.5, 1]}, "number: bins and edges exclude each other"),
        ({"low": 0, "high": 1, "edges": [0, 0.5, 0.2, 1]}, "number: edges must be a list of 4 to 4097 rising numbers"),
        ({"low": 0, "high": 1, "edges": [0, 0.2, 0.5, 2]}, "number: edges must be a list of 4 to 4097 rising numbers"),
        ({"low": 0, "high": 1, "edges": 3}, "number: edges must be a list of 4 to 4097 rising numbers"),
        (
            {"low": 0, "high": 1, "goal": "mean", "edges": [0, 0.2, 0.5, 1]},
            "number: edges must be left out where the goal is the mean",
        ),
        ({"low": 0, "high": 1, "apart": 0}, "number: apart must be a list of different numbers from low to high"),
        ({"low": 0, "high": 1, "apart": [2]}, "number: apart must be a list of different numbers from low to high"),
        ({"low": 0, "high": 1, "apart": [0, 0]}, "number: apart must be a list of different numbers from low to high"),
        ({"low": 0, "high": 1, "apart": ["0"]}, "number: apart must be finite numbers"),
        (
            {"low": 0, "high": 1, "goal": "mean", "apart": [0]},
            "number: apart must be left out where the goal is the mean",
        ),
        ({"low": 0, "high": 1, "goal": "median"}, "number: goal must be one of 'distribution', 'mean'"),
        ({"low": 0, "high": 1, "outside": "drop"}, "number: outside must be one of 'clamp', 'refuse'"),
        ({"low": 0, "high": 1, "unit": "s" * 21}, "number: unit must be a text of 1 to 20 characters"),
        ({"low": 0, "high": 1, "unit": "a\nb"}, "number: unit must be a text in one line"),
        ({"low": 0, "high": 1, "widht": 3}, "number: 'widht' is not one of low, high, bins"),
    ],
)
def test_bad_tables_say_what_is_wrong(table, told):
    with pytest.raises(ParameterError) as raised:
        scale_of(table)
    assert str(raised.value).startswith(told)


@pytest.mark.parametrize("scale", SCALES, ids=repr)
def test_a_description_gives_the_scale_back(scale):
    assert scale_of(scale.described) == scale
    assert scale_of({**scale.described, "low": -0.0 if scale.low == 0 else scale.low}).described == scale.described


def test_texts_of_numbers():
    assert [number_of(text) for text in ("3", "-3.5", " +1e2\t", ".5", "5.")] == [3.0, -3.5, 100.0, 0.5, 5.0]
    assert {
        number_of(text) for text in ("", "x", "0x1", "1_0", "nan", "inf", "1e999", "3,2", "\u0663", "1 2", "9" * 500)
    } == {None}


def test_answers_one_and_all_are_alike_beside_neighbouring_doubles():
    """Two values apart, one double after the other, which doubles put into the bin that they lie just above."""
    low, high, apart = -969040650.2940995, 30959349.70590055, (-263158297.35292304, -263158297.352923)
    scale = Scale(low, high, bins=34, apart=apart)
    answers = [math.nextafter(apart[0], low), *apart, math.nextafter(apart[1], high), apart[1] + 1]
    assert scale.encode(answers).tolist() == [scale.cell(answer) for answer in answers]
