"""The accessors of pandas and polars: a frame of people becomes a frame of reports, and that a tally."""

import pandas as pd
import polars as pl
import pytest

import fldp
import fldp.survey.frames
from fldp import wire

SURVEY = fldp.Survey.from_dict(
    {
        "name": "drinks",
        "question": "What do you drink?",
        "labels": ["tea", "coffee", "milk"],
        "oracle": {"name": "grr", "epsilon": 1.0},
    }
)
PEOPLE = {"who": ["ann", "bob", "eve"] * 100, "drink": ["tea", "coffee", "tea"] * 100}
KINDS = [pd.DataFrame, pl.DataFrame]
ORACLES = [  # one for each kind of column: numbers, several of them, 64 bits, bytes
    fldp.GRR(1.0, 5),
    fldp.FHR(1.0, 5),
    fldp.OLH(1.0, 5),
    fldp.OUE(1.0, 5),
    fldp.SS(1.0, 40),
    fldp.FWR(1.0, 5),
]


@pytest.mark.parametrize("kind", KINDS)
def test_a_column_of_labels_becomes_reports_and_nothing_else(kind):
    private = kind(PEOPLE).fldp.privatize("drink", SURVEY, rng=1)
    assert type(private) is kind
    assert list(private.columns) == ["symbol"]
    assert private["symbol"].to_list() == SURVEY.privatize(PEOPLE["drink"], rng=1).data.tolist()
    assert kind(PEOPLE).fldp.privatize("drink", SURVEY)["symbol"].to_list() != private["symbol"].to_list()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("oracle", ORACLES, ids=lambda oracle: oracle.name)
def test_a_frame_of_reports_is_tallied_as_the_reports_are(kind, oracle):
    values = [k % 5 for k in range(200)]
    private = kind({"value": values}).fldp.privatize("value", oracle, rng=3)
    expected = oracle.tally(oracle.privatize(values, rng=3))
    assert wire.encode_tally(private.fldp.tally(oracle)) == wire.encode_tally(expected)
    halves = private[:70].fldp.tally(oracle) + private[70:].fldp.tally(oracle)
    assert halves == expected
    assert private[:0].fldp.tally(oracle).n == 0


def test_polars_and_pandas_frames_are_the_same():
    private = pd.DataFrame(PEOPLE).fldp.privatize("drink", SURVEY, rng=1)
    assert pl.from_pandas(private).fldp.tally(SURVEY) == private.fldp.tally(SURVEY)
    shuffled = private.sample(frac=1, random_state=5)  # with an index that is no range, and a column of the analyst's
    assert shuffled.assign(week=1).fldp.tally(SURVEY) == private.fldp.tally(SURVEY)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_wrong_is_said_without_an_answer(kind):
    with pytest.raises(fldp.DomainError, match="there is no column 'drinks', only who, drink"):
        kind(PEOPLE).fldp.privatize("drinks", SURVEY)
    with pytest.raises(fldp.DomainError) as error:
        kind({"drink": ["tea", "schnapps"]}).fldp.privatize("drink", SURVEY)
    assert "schnapps" not in str(error.value)
    with pytest.raises(fldp.FldpError):
        kind({"drink": ["tea", None]}).fldp.privatize("drink", SURVEY)
    with pytest.raises(fldp.WireError, match="there must be a column symbol of uint8, got none"):
        kind(PEOPLE).fldp.tally(SURVEY)
    with pytest.raises(fldp.DomainError, match=r"frame: row 1 is not a report that GRR.* can produce"):
        kind({"symbol": [2, 3]}).fldp.tally(SURVEY)
    with pytest.raises(fldp.DomainError, match="frame: row 0 has a number that does not fit"):
        kind({"symbol": [-1, 2]}).fldp.tally(SURVEY)
