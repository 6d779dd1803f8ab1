"""What goes in: every good form of values, and one clear line for every bad one."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fldp
from fldp import DomainError, MergeError, ParameterError

ORACLE = fldp.GRR(1.0, 5)
VALUES = [0, 4, 2, 2]


@pytest.mark.parametrize(
    "values",
    [
        VALUES,
        tuple(VALUES),
        iter(VALUES),
        np.array(VALUES),
        np.array(VALUES, np.uint8),
        np.array(VALUES, np.int16),
        np.array(VALUES, object),
        np.array([9, *VALUES])[1:],
        np.repeat(VALUES, 2)[::2],
        np.ma.array(VALUES),
        [np.int64(v) for v in VALUES],
        pd.Series(VALUES),
        pd.Series(VALUES, dtype="Int64"),
        pd.Series(VALUES, index=[7, 8, 9, 9]),
        pl.Series(VALUES),
        pl.Series(VALUES, dtype=pl.UInt8),
    ],
    ids=lambda values: f"{type(values).__module__}.{type(values).__name__}",
)
def test_every_form_of_values(values):
    assert ORACLE.privatize(values, rng=1) == ORACLE.privatize(np.array(VALUES), rng=1)


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3), np.array(3)])
def test_one_value(value):
    reports = ORACLE.privatize(value, rng=1)
    assert len(reports) == 1
    assert reports == ORACLE.privatize([3], rng=1)


RULE = "GRR: values must be integers from 0 to 4, got "
HIDDEN = RULE + "a value of type {} (not shown, to protect the answer)"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (5, HIDDEN.format("int at position 0")),
        (-1, HIDDEN.format("int at position 0")),
        ([0, 1, 7, 9], HIDDEN.format("int at position 2")),
        (np.array([1, 2**63], np.uint64), HIDDEN.format("int at position 1")),
        (2**64, HIDDEN.format("int")),
        ([0, -(2**63)], HIDDEN.format("int at position 1")),
        (1.0, HIDDEN.format("float")),
        (float("nan"), RULE + "a missing value"),
        ([0, float("nan")], RULE + "a missing value at position 1"),
        (True, HIDDEN.format("bool")),
        ([1, True], HIDDEN.format("bool at position 1")),
        (np.array([True]), RULE + "bool"),
        (None, RULE + "a missing value"),
        ([1, None], RULE + "a missing value at position 1"),
        ("1", HIDDEN.format("str")),
        (b"1", HIDDEN.format("bytes")),
        (["1"], HIDDEN.format("str")),
        ({1}, HIDDEN.format("set")),
        (1 + 0j, HIDDEN.format("complex")),
        (np.array([1.0]), RULE + "float64"),
        (np.array([0.0, np.nan]), RULE + "float64 with a missing value at position 1"),
        (np.array(["1"]), RULE + "str_"),
        (np.array([1], "datetime64[D]"), RULE + "datetime64"),
        (np.ma.array([1, 2], mask=[0, 1]), RULE + "a masked array with missing values"),
        (pd.Series([0, None]), RULE + "float64 with a missing value at position 1"),
        (pd.Series([0, None], dtype="Int64"), RULE + "float64 with a missing value at position 1"),
        (pd.Series([True, False]), RULE + "bool"),
        (pl.Series([0, None]), RULE + "float64 with a missing value at position 1"),
        ([], "GRR: values must hold at least one value, got an empty batch"),
        (np.array([], np.int64), "GRR: values must hold at least one value, got an empty batch"),
        (np.zeros((2, 2), np.int64), "GRR: values must be one value or a one-dimensional batch, got shape (2, 2)"),
    ],
    ids=repr,
)
def test_bad_values(values, message):
    with pytest.raises(DomainError) as error:
        ORACLE.privatize(values)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: fldp.GRR(-1.0, 5), "GRR: epsilon must be a positive, finite number, got -1.0"),
        (lambda: fldp.GRR(0, 5), "GRR: epsilon must be a positive, finite number, got 0"),
        (lambda: fldp.GRR(float("inf"), 5), "GRR: epsilon must be a positive, finite number, got inf"),
        (lambda: fldp.GRR(float("nan"), 5), "GRR: epsilon must be a positive, finite number, got nan"),
        (lambda: fldp.GRR(10**400, 5), "GRR: epsilon must be a positive, finite number, got 1000"),
        (lambda: fldp.GRR("1", 5), "GRR: epsilon must be a positive, finite number, got '1'"),
        (lambda: fldp.GRR(True, 5), "GRR: epsilon must be a positive, finite number, got True"),
        (lambda: fldp.GRR(None, 5), "GRR: epsilon must be a positive, finite number, got None"),
        (lambda: fldp.GRR(1.0, 1), "GRR: domain_size must be an integer from 2 to 2147483647, got 1"),
        (lambda: fldp.GRR(1.0, 5.0), "GRR: domain_size must be an integer from 2 to 2147483647, got 5.0"),
        (lambda: fldp.GRR(1.0, True), "GRR: domain_size must be an integer from 2 to 2147483647, got True"),
        (lambda: fldp.GRR(1.0, 2**31), f"GRR: domain_size must be an integer from 2 to 2147483647, got {2**31}"),
        (lambda: fldp.RR(1.0, 3), "RR: domain_size must be 2 (GRR takes more), got 3"),
        (lambda: fldp.FHR(1.0, 7, items="own"), "FHR: items must be one of 'spread', 'paper', got 'own'"),
        (lambda: fldp.FHR(1.0, 7, allow_exposure=1), "FHR: allow_exposure must be True or False, got 1"),
    ],
)
def test_bad_parameters(make, message):
    with pytest.raises(ParameterError) as error:
        make()
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("oracle", "data"),
    [
        (fldp.GRR(1.0, 5), np.array([0, 5], np.uint8)),
        (fldp.GRR(1.0, 5), np.array([0, 1])),
        (fldp.GRR(1.0, 5), np.array(3, np.uint8)),
        (fldp.OUE(1.0, 5), np.array([[32]], np.uint8)),
        (fldp.OUE(1.0, 8), np.array([[1, 2]], np.uint8)),
        (fldp.OLH(1.0, 5), np.array([(1, 4)], fldp.OLH(1.0, 5).report_format.dtype)),
        (fldp.SS(1.0, 12), np.array([[1, 3, 2]], np.uint8)),
        (fldp.SS(1.0, 12), np.array([[1, 2, 2]], np.uint8)),
        (fldp.SS(1.0, 12), np.array([[1, 2, 12]], np.uint8)),
        (fldp.SS(1.0, 12), np.array([[1, 2]], np.uint8)),
        (fldp.SS(1.0, 12), np.array([[1, 2, 3, 4]], np.uint8)),
        (fldp.HR(1.0, 7), np.array([8], np.uint8)),
        (fldp.HR(1.0, 7), np.array([1], np.uint16)),
        (fldp.PGR(0.1, 7), np.array([7], np.uint8)),
        (fldp.FHR(1.0, 7), np.array([(8, 1)], fldp.FHR(1.0, 7).report_format.dtype)),
        (fldp.FHR(1.0, 7), np.array([(3, 3)], fldp.FHR(1.0, 7).report_format.dtype)),
        (fldp.FHR(1.0, 7), [[1, 2]]),
        (fldp.FHR(1.0, 7), "reports"),
    ],
    ids=repr,
)
def test_reports_that_no_client_sends(oracle, data):
    with pytest.raises(DomainError, match=rf"^{oracle.title}: reports must be"):
        oracle.tally(data)


def test_a_wide_report_is_refused_in_one_line():
    oracle = fldp.SS(1.0, 1023)
    with pytest.raises(DomainError) as error:
        oracle.tally(np.zeros((1, oracle._size), np.uint16))
    assert str(error.value).endswith(" 0 0 0 ... at position 0")
    assert "\n" not in str(error.value)


def test_all_bits_of_a_full_byte_are_good():
    oracle = fldp.OUE(1.0, 8)
    assert oracle.tally(np.array([[255]], np.uint8)).state.tolist() == [1] * 8


def test_what_does_not_belong_together():
    one, other = fldp.GRR(1.0, 5), fldp.GRR(2.0, 5)
    reports = one.privatize([1, 2])
    with pytest.raises(MergeError, match=r"^Tally: both sides must be of the same oracle, got GRR\(epsilon=1.0"):
        one.tally(reports) + fldp.Tally.empty(other)
    with pytest.raises(MergeError, match=r"^Reports: both sides must be of the same oracle"):
        fldp.Reports.concatenate([reports, other.privatize([1])])
    with pytest.raises(MergeError, match=r"^GRR: reports must be of"):
        other.tally(reports)
    with pytest.raises(MergeError, match=r"^GRR: the tally must be of"):
        other.estimate(one.tally(reports))
    with pytest.raises(TypeError):
        one.tally(reports) + 1
    with pytest.raises(DomainError, match="needs at least one batch"):
        fldp.Reports.concatenate([])


@pytest.mark.parametrize(
    ("oracle", "good", "bad"),
    [
        (fldp.SS(1.0, 12), [2, 2, 2, *[0] * 9], [2, 2, 1, *[0] * 9]),
        (fldp.SS(1.0, 12), [1] * 6 + [0] * 6, [3, 3, *[0] * 10]),
        (fldp.HR(1.0, 3), [2, 0, 0, 0], [1, 0, 0, 0]),
        (fldp.HR(1.0, 3), [0, 1, 0, 1], [3, -1, 0, 0]),
        (fldp.Exponential(2.0, 5, distance="line"), [2, 0, 0, 0, 0], [1 << 62] * 4 + [2]),  # of sum 2, in 64 bits
    ],
)
def test_states_that_two_reports_do_not_add_up_to(oracle, good, bad):
    assert fldp.Tally(oracle, good, 2).n == 2
    with pytest.raises(DomainError, match="reports add up to this state"):
        fldp.Tally(oracle, bad, 2)


@pytest.mark.parametrize("state", [[1, 2], [[1, 2, 3, 4, 5]], [1.0] * 5, "12345", None])
def test_bad_states(state):
    with pytest.raises(DomainError, match=r"^Tally of GRR: state must be integers of shape"):
        fldp.Tally(ORACLE, state, 5)


def test_states_that_would_wrap_around():
    with pytest.raises(DomainError, match=r"state has numbers above 2\^62"):
        fldp.Tally(fldp.FHR(1.0, 7), np.full((2, 8), 2**63, np.uint64), 5)
    oracle = fldp.GRR(1.0, 2)
    half = fldp.Tally(oracle, [2**61, 2**61], 2**62)
    with pytest.raises(ParameterError, match="n must be an integer"):
        half + half


@pytest.mark.parametrize("n", [-1, 1.0, None, True])
def test_bad_numbers_of_reports(n):
    with pytest.raises(ParameterError, match=r"^Tally of GRR: n must be an integer"):
        fldp.Tally(ORACLE, [0] * 5, n)


def test_options_that_do_not_exist():
    tally = ORACLE.tally(ORACLE.privatize([1, 2]))
    with pytest.raises(ParameterError, match=r"^GRR: estimate has no option 'decoder'$"):
        ORACLE.estimate(tally, decoder="full")
    oracle = fldp.FHR(1.0, 7)
    tally = oracle.tally(oracle.privatize([1, 2]))
    with pytest.raises(ParameterError, match=r"^FHR: decoder must be one of 'full', 'paper', got 'best'$"):
        oracle.estimate(tally, decoder="best")


def test_an_empty_tally_has_no_estimate():
    with pytest.raises(DomainError, match=r"^GRR: an estimate needs at least one report, got an empty tally$"):
        ORACLE.estimate(fldp.Tally.empty(ORACLE))


def test_reports_are_compact():
    assert fldp.OUE(1.0, 1024).privatize([1, 2]).nbytes == 2 * 128
    assert fldp.FHR(1.0, 1023).privatize([1, 2]).nbytes == 2 * 4
    assert fldp.GRR(1.0, 200).privatize([1, 2]).nbytes == 2


@pytest.mark.parametrize("oracle", [fldp.GRR(1.0, 5), fldp.OUE(1.0, 5), fldp.OLH(1.0, 5), fldp.FHR(1.0, 5)], ids=repr)
def test_large_batches_are_the_sum_of_small_ones(oracle):
    """Across the edges of all chunks: those of words, of one-byte counters, of hashed reports."""
    values = np.arange(140_001) % 5
    stream = fldp.Stream(3)
    parts = [oracle.privatize(values[k : k + 9973], rng=stream) for k in range(0, len(values), 9973)]
    whole = oracle.privatize(values, rng=3)
    assert fldp.Reports.concatenate(parts) == whole
    assert sum(oracle.tally(whole[k : k + 100]) for k in range(0, len(whole), 100)) == oracle.tally(whole)


def test_slices_of_reports():
    reports = fldp.FHR(1.0, 7).privatize([1, 2, 3, 4], rng=1)
    assert len(reports[0:0]) == 0
    assert reports[-1] == reports[3:4]
    assert reports[::2] == fldp.Reports.concatenate([reports[0], reports[2]])
    assert reports.oracle.tally(reports[::2]) + reports.oracle.tally(reports[1::2]) == reports.oracle.tally(reports)
    assert reports.oracle.tally(reports[0:0]) == fldp.Tally.empty(reports.oracle)
    with pytest.raises(IndexError):
        reports[4]
    with pytest.raises(ValueError, match="read-only"):
        reports.data["plus"] = 0


def test_batches_use_bounded_scratch_memory():
    """A million users of OUE over 256 values draw 650 MB of words; they must not be held at once."""
    import tracemalloc

    oracle = fldp.OUE(1.0, 256)
    values = np.zeros(1_000_000, np.int64)
    oracle.privatize(values[:100_000])  # compiles: the compiler's own memory is not counted
    tracemalloc.start()
    reports = oracle.privatize(values)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < reports.nbytes + 8 * 2**20


def test_tallies_are_taken_out_of_tallies():
    whole, part = fldp.Tally(ORACLE, [3, 2, 1, 0, 0], 6), fldp.Tally(ORACLE, [1, 0, 1, 0, 0], 2)
    assert whole - part == fldp.Tally(ORACLE, [2, 2, 0, 0, 0], 4)
    assert (whole - part) + part == whole
    with pytest.raises(DomainError, match=r"Tally of GRR: 6 reports cannot be taken out of 2"):
        part - whole
    with pytest.raises(MergeError):
        whole - fldp.Tally(fldp.GRR(2.0, 5), [1, 0, 0, 0, 0], 1)
    with pytest.raises(TypeError, match="unsupported operand"):
        whole - 1


def test_reports_and_tallies_equal_nothing_else():
    reports = ORACLE.privatize(VALUES, rng=1)
    assert reports == fldp.Reports(ORACLE, reports.data)
    assert reports != reports.data.tolist()
    assert ORACLE.tally(reports) != ORACLE.tally(reports).state.tolist()


def test_ragged_reports_are_refused():
    with pytest.raises(DomainError, match="GRR"):
        fldp.Reports(ORACLE, [[1], [2, 3]])
