"""The planner: its numbers are those of a simulation, and its inverse questions invert."""

import dataclasses
import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest

import fldp
from fldp.estimation.expected_error import (
    MIN_EPSILON,
    curve,
    epsilon_needed,
    even_error,
    plain_epsilon,
    standard_error,
    users_needed,
)
from fldp.estimation.planner import FREQUENT, Row
from fldp.oracles import listed_names, registry
from fldp.presentation import plan as plan_view
from support.cases import CASES
from support.serving import run_here
from support.surveys import SURVEY

EXAMPLE = {"domain_size": 1023, "users": 593_358, "epsilon": 1.0, "eta": 0.5}
SHELL = ("plan", "--domain", "1023", "--users", "593358", "--epsilon", "1", "--eta", "0.5")


@pytest.mark.parametrize("eta", [None, 1, 0.5, 0.3, 1e-9])
@pytest.mark.parametrize("domain_size", [2, 3, 5, 64, 1023, 100_000])
def test_every_oracle_has_rows_or_a_reason(domain_size, eta):
    plan = fldp.plan(domain_size=domain_size, users=1000, epsilon=1.0, eta=eta)
    names = {row.oracle.name for row in plan.rows}
    assert sorted(names | plan.skipped.keys()) == listed_names()
    assert not names & plan.skipped.keys()
    assert all("\n" not in reason and len(reason) > 10 for reason in plan.skipped.values())
    for row in plan.rows:
        assert row.oracle.domain_size == domain_size
        assert (row.decoder is None) == (not row.oracle.estimator.decoders)
    errors = [row.error_mean for row in plan.rows]
    assert errors == pytest.approx(sorted(errors), rel=1e-5)


def test_an_oracle_takes_the_least_eta_at_or_above_the_one_asked_for():
    def eta_of(name, **asked):
        rows = fldp.plan(users=1000, epsilon=1.0, **asked).rows
        return next(row.oracle.eta for row in rows if row.oracle.name == name)

    assert eta_of("fwr", domain_size=1023, eta=0.3) == Fraction(1, 2)
    assert eta_of("fwr", domain_size=1023, eta=0.25) == Fraction(1, 4)
    assert eta_of("fwr", domain_size=5, eta=0.5) == 1  # a leak would give somebody away
    assert eta_of("hrr", domain_size=1023, eta=0.25) == 1


def test_a_registered_oracle_joins_by_itself(monkeypatch):
    @dataclasses.dataclass(frozen=True, repr=False)
    class Better(fldp.GRR):
        name = "better"

        def variance(self, n, count, **options):
            return super().variance(n, count, **options) / 1e6

    @dataclasses.dataclass(frozen=True, repr=False)
    class Demanding(fldp.GRR):
        groups: tuple = dataclasses.field(kw_only=True)
        name = "demanding"

    monkeypatch.setitem(registry._classes, "better", Better)
    monkeypatch.setitem(registry._classes, "demanding", Demanding)
    plan = fldp.plan(**EXAMPLE)
    assert plan.recommended.name == "better"
    assert plan.skipped["demanding"] == "Demanding: needs groups, which a plan does not have"


ROWS = [
    (fldp.FHR(1.0, 31), "full"),
    (fldp.FHR(1.0, 31), "paper"),
    (fldp.FWR(1.0, 31, eta=0.5), None),
    (fldp.OUE(1.0, 31), None),
    (fldp.GRR(1.0, 31), None),
]


@pytest.mark.parametrize(("oracle", "decoder"), ROWS, ids=lambda part: str(part))
def test_the_errors_are_those_of_a_simulation(oracle, decoder):
    """The spread of two items over 400 runs lies within 6 standard errors of the planned one.

    The error of a measured deviation is 1/sqrt(2 * 400) of it for a normal estimate. 20 comparisons at 6 standard
    errors: chance fails one in 2.5e7 draws of the seeds, which are fixed.
    """
    users, runs, frequent, rare = 2000, 400, 3, 17
    values = np.full(users, 7)
    values[: int(FREQUENT * users)] = frequent
    options = {} if decoder is None else {"decoder": decoder}
    errors = np.empty((runs, 2))
    for run_number in range(runs):
        tally = oracle.tally(oracle.privatize(values, rng=run_number))
        errors[run_number] = oracle.estimate(tally, **options).frequencies[[rare, frequent]]
    row = Row(oracle, decoder, users)
    planned = np.array([row.error_rare, row.error_frequent])
    assert (abs(errors.std(axis=0, ddof=1) / planned - 1) < 6 / math.sqrt(2 * runs)).all()
    assert (abs(errors.mean(axis=0) - [0, FREQUENT]) < 6 * planned / math.sqrt(runs)).all()


@pytest.mark.long
def test_a_detectable_frequency_is_detected_half_of_the_time():
    """Of 400 runs between 140 and 260 have an interval above zero: 6 standard deviations, 1 failure in 5e8."""
    oracle, users = fldp.OUE(1.0, 31), 20_000
    values = np.full(users, 7)
    values[: round(Row(oracle, None, users).detectable * users)] = 3
    lows = [oracle.estimate(oracle.tally(oracle.privatize(values, rng=k))).interval(0.95)[3, 0] for k in range(400)]
    assert 140 < np.sum(np.array(lows) > 0) < 260


@pytest.mark.parametrize("row", fldp.plan(**EXAMPLE).rows, ids=lambda row: row.name)
def test_the_inverse_questions_invert(row):
    """Up to 1e-3 in epsilon, what the coins of a unary encoding may miss it by: their error goes down in steps."""
    row = dataclasses.replace(row, users=10_000_000)
    assert row.users_needed(row.error_rare) == pytest.approx(row.users, abs=1)
    assert row.epsilon_needed(row.error_rare) == pytest.approx(1.0, rel=1e-3)
    needed = row.users_needed(0.001)
    assert (
        dataclasses.replace(row, users=needed).error_rare
        <= 0.001
        < dataclasses.replace(row, users=needed - 1).error_rare
    )
    frequency = row.detectable
    assert frequency == pytest.approx(1.959964 * row.error(frequency), rel=1e-6)
    plain = fldp.OUE(row.plain_epsilon, 1023)
    assert Row(plain, None, row.users).error_rare == pytest.approx(row.error_rare, rel=1e-3)


def test_the_table_of_the_design():
    fhr = fldp.FHR(1.0, 1023)
    assert round(plain_epsilon(fhr, "paper"), 2) == 1.23
    assert round(plain_epsilon(fhr, "full"), 2) == round(plain_epsilon(fhr), 2) == 2.03
    assert plain_epsilon(fldp.OUE(1.0, 1023)) == pytest.approx(1.0, abs=1e-3)
    per_user = {"fhr, paper": 2.34, "fhr, full": 0.70, "fwr": 0.649, "oue": 3.68}
    for row in fldp.plan(**EXAMPLE).rows:
        if row.name in per_user:
            assert row.error_rare**2 * 593_358 == pytest.approx(per_user[row.name], abs=0.005)


MORE = {
    "grouped": {"base": "grr", "groups": [500, 523]},
    "exponential": {"distance": "line"},
    "idue": {"budgets": {0: 0.5, 1: 0.25}},
    "urappor": {"sensitive": [0, 5, 9]},
    "urr": {"sensitive": [0, 5, 9]},
    "wave": {"width": 15},
    "lwr": {"epsilon_permanent": 8.0},
}


@pytest.mark.parametrize("name", listed_names())
def test_errors_fall_with_epsilon(name):
    """Up to rounding: above twice the least budget, IDUE cannot become any better."""
    size = {"rr": 2, "exponential": 40, "wave": 64}.get(name, 1023)
    for decoder in registry.examples(registry.get(name))[0].estimator.decoders or (None,):
        errors = [error for _, error in curve(name, size, 1000, decoder=decoder, **MORE.get(name, {}))]
        assert len(errors) > 20
        assert all(later <= before * (1 + 1e-5) for before, later in itertools.pairwise(errors))


def test_an_epsilon_that_cannot_be_found_is_said():
    asked = {"domain_size": 1023, "users": 593_358, "error": 0.0001}
    with pytest.raises(
        fldp.ParameterError, match=r"error must be at least 0\.0013: hrr has no less with 593,358 users"
    ):
        epsilon_needed("hrr", **asked)
    with pytest.raises(fldp.ParameterError, match=r"RR: domain_size must be 2 \(GRR takes more\), got 1023"):
        epsilon_needed("rr", **asked)
    with pytest.raises(fldp.ParameterError, match="FHR: decoder must be one of"):
        epsilon_needed("fhr", **asked, decoder="nope")
    assert epsilon_needed("fhr", **(asked | {"error": 0.1})) == MIN_EPSILON


def test_an_epsilon_is_found_where_the_oracle_refuses_large_ones():
    """With eta 1/512 there is room for three hash bits, hence for no epsilon far above 2."""
    asked = {"domain_size": 1 << 17, "users": 1_000_000, "eta": Fraction(1, 512)}
    largest, least = list(curve("fwr", 1 << 17, 1_000_000, eta=asked["eta"]))[-1]
    assert largest < 3
    assert epsilon_needed("fwr", **asked, error=1.001 * least) <= largest
    with pytest.raises(fldp.ParameterError, match="fwr has no less"):
        epsilon_needed("fwr", **asked, error=0.9 * least)


RECOMMENDED = [
    ({"domain_size": 1023, "epsilon": 1.0, "eta": 0.5}, "fwr", Fraction(1, 2)),
    ({"domain_size": 1023, "epsilon": 1.0, "eta": 0.25}, "fwr", Fraction(1, 4)),
    ({"domain_size": 5, "epsilon": 1.0}, "grr", 1),
    ({"domain_size": 5, "epsilon": 1.0, "eta": 0.5}, "fhr, full", Fraction(1, 2)),
    ({"domain_size": 1023, "epsilon": 8.0, "eta": 0.5}, "grr", 1),  # plain, and the more accurate all the same
]


@pytest.mark.parametrize(("asked", "name", "eta"), RECOMMENDED)
def test_recommended(asked, name, eta):
    plan = fldp.plan(users=10_000, **asked)
    assert (plan.recommended.name, plan.recommended.oracle.eta) == (name, eta)
    assert plan.reason.startswith(f"{name} has the least mean error")
    assert f"its eta is {eta}." in plan.reason
    assert ("weaker than epsilon-LDP" in plan.reason) == (eta < 1)
    assert ("remain possible" in plan.reason) == (eta < 1)


@pytest.mark.parametrize("domain_size", [2, 10, 100, 1023])
def test_without_eta_only_plain_ldp_is_recommended(domain_size):
    plan = fldp.plan(domain_size=domain_size, users=1000, epsilon=1.0)
    assert plan.recommended.oracle.eta == 1
    best = min(row.error_mean for row in plan.rows if row.eta == 1)
    assert plan.recommended.error_mean == pytest.approx(best, rel=1e-5)
    assert "rules out any value for certain" in plan.reason


def test_a_much_shorter_report_of_nearly_the_same_error_is_mentioned():
    plan = fldp.plan(domain_size=1023, users=1000, epsilon=1.0)
    assert "is within 5 % of that error with" in plan.reason
    assert "22 bits" not in fldp.plan(domain_size=4, users=1000, epsilon=1.0).reason


def test_few_users_detect_nothing():
    assert Row(fldp.GRR(0.1, 1023), None, 10).detectable is None


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"users": 0}, "plan: users must be an integer from 1 to "),
        ({"users": 2.5}, "plan: users must be an integer from 1 to "),
        ({"domain_size": 1}, "plan: domain_size must be an integer from 2 to "),
        ({"epsilon": -1.0}, "plan: epsilon must be a positive, finite number, got -1.0"),
        ({"epsilon": 1e-30}, "plan: no oracle takes this; for example FHR: epsilon=1e-30 is too small"),
        ({"eta": 0}, "plan: eta must be a positive, finite number, got 0"),
        ({"eta": 1.5}, "plan: eta must be at most 1, got 1.5"),
        ({"eta": "1/2"}, "plan: eta must be a positive, finite number, got '1/2'"),
    ],
)
def test_bad_input(changed, message):
    with pytest.raises(fldp.ParameterError) as caught:
        fldp.plan(**(EXAMPLE | changed))
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)
    with pytest.raises(fldp.ParameterError, match="error must be a positive, finite number"):
        users_needed(fldp.GRR(1.0, 5), -0.1)


def test_the_shell_shows_a_table():
    text = run_here(*SHELL, "--target-error", "0.001").stdout.decode()
    (marked,) = {line for line in text.splitlines() if "│ * " in line and "%" in line}
    for part in ("fwr", "0.105 %", "0.205 %", "33", "1/2", "2.08", "up to 512", "O(8 n + d log d)"):
        assert part in marked
    assert "Left out: RR: domain_size" in text
    assert "at least 511 of 1,023 remain possible" in text
    assert "648,609" in text
    assert "none is enough" in text
    assert max(map(len, text.split("Errors are")[0].splitlines())) <= 120


def test_the_shell_for_machines_and_as_a_picture(tmp_path):
    done = run_here(*SHELL, "--json", "--target-error", "0.001", "--plot", "p.png", cwd=tmp_path)
    facts = json.loads(done.stdout)
    best = fldp.plan(**EXAMPLE).recommended
    (row,) = (row for row in facts["rows"] if row["recommended"])
    assert row["oracle"]["name"] == "fwr"
    assert (row["error_rare"], row["detectable"]) == (best.error_rare, best.detectable)
    assert (row["users_needed"], row["anonymity"], row["bits"]) == (648_609, 511, 33)
    assert [row["epsilon_needed"] for row in facts["rows"] if row["oracle"]["name"] == "hrr"] == [None]
    assert facts["reason"] == fldp.plan(**EXAMPLE).reason
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    assert "target_error" not in json.loads(run_here(*SHELL, "--json").stdout)


def test_the_shell_with_a_survey(tmp_path):
    (tmp_path / "survey.toml").write_text(SURVEY)
    facts = json.loads(run_here("plan", "--survey", "survey.toml", "--users", "9", "--json", cwd=tmp_path).stdout)
    assert (facts["domain_size"], facts["epsilon"], facts["eta"]) == (5, 3.0, 1.0)
    both = run_here("plan", "--survey", "survey.toml", "--users", "9", "--epsilon", "1", code=2, cwd=tmp_path)
    assert both.stderr == b"fldp: give --survey, or --domain and --epsilon, not both\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--users", "9"), "fldp: plan needs --domain and --epsilon, or --survey"),
        (("--domain", "5", "--epsilon", "1"), "fldp: Missing option '--users'"),
        ((*SHELL[1:], "--plot", "p.gif"), "fldp: the ending of --plot must be one of '.png', '.svg', got '.gif'"),
        ((*SHELL[1:], "--target-error", "0"), "fldp: --target-error must be a positive, finite number, got 0.0"),
        ((*SHELL[1:-1], "7"), "plan: eta must be at most 1, got 7.0"),
    ],
)
def test_bad_use_of_the_shell(arguments, message):
    text = run_here("plan", *arguments, code=2).stderr.decode()
    assert text.startswith(message)
    assert text.count("\n") == 1


@pytest.mark.parametrize("name", [name for name in CASES if CASES[name][1].domain_size <= 129])
def test_the_error_in_an_even_population(name):
    """It is that of the value whose error is largest, where that value is rare and the others are even."""
    oracle = CASES[name][1]
    for decoder in oracle.estimator.decoders or (None,):
        options = {} if decoder is None else {"decoder": decoder}
        counts = np.full((oracle.domain_size,) * 2, 1000 / (oracle.domain_size - 1))
        np.fill_diagonal(counts, 0)
        every = [oracle.variance(1000, row, **options)[value] for value, row in enumerate(counts)]
        error = even_error(oracle, 1000, decoder)
        assert error == pytest.approx(max(every) ** 0.5 / 1000, rel=1e-9)
        if oracle.name not in ("grouped", "exponential", "wave") and getattr(oracle, "blocks", 1) == 1:
            assert error == pytest.approx(standard_error(oracle, 1000, decoder=decoder), rel=1e-9)
        else:
            assert error <= standard_error(oracle, 1000) * (1 + 1e-9)


@pytest.mark.parametrize(("width", "shown"), [(80, False), (90, True), (120, False), (130, True)])
def test_the_note_on_a_crowd_stands_below_its_column(monkeypatch, width, shown):
    monkeypatch.setattr(plan_view, "screen_width", lambda: width)
    table = plan_view.plan_table(fldp.plan(**EXAMPLE))
    assert ("crowd" in [column.header for column in table.columns]) == shown
    assert any(note.startswith("Crowd") for note in plan_view.plan_notes()) == shown
