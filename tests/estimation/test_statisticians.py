"""The questions of statisticians: what their pages promise is simulated.

Simulations have fixed seeds and bounds of three standard errors: with another seed, one in 700 would fail by chance.
"""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import fldp
from fldp.data.comparison import Comparison, sampling_variance
from fldp.estimation.ab_test import only
from fldp.estimation.power import users_needed_anytime
from support.commands import run_here
from support.promises import most_broken

PAGES = sorted((Path(__file__).parents[2] / "docs" / "statisticians").glob("*.md"))
SURVEY = 'name = "q"\nquestion = "?"\nlabels = ["yes", "no"]\n\n[oracle]\nname = "grr"\nepsilon = {epsilon}\n'


def test_every_page_is_in_the_list():
    index = (PAGES[0].parents[1] / "statisticians.md").read_text()
    assert all(f"statisticians/{page.name}" in index for page in PAGES)


def sampled(oracle, shares, sizes, generator):
    """Estimates of groups whose people are drawn at random."""
    for share, size in zip(shares, sizes, strict=True):
        counts = generator.multinomial(size, [share, 1 - share])
        yield oracle.estimate(fldp.simulate(oracle, counts, rng=int(generator.integers(2**62))))


@pytest.mark.long
def test_intervals_of_a_population_cover():
    """Simple sampling and two weighted groups, 1,000 surveys each; those about the people asked cover less."""
    oracle, generator, runs = fldp.GRR(3.0, 2), np.random.default_rng(1), 1000
    hits, weighted, asked = 0, 0, 0
    for _ in range(runs):
        (one,) = sampled(oracle, [0.3], [800], generator)
        low, high = fldp.population(one).interval(0.95)[0]
        hits += low <= 0.3 <= high
        low, high = one.interval(0.95)[0] / one.n
        asked += low <= 0.3 <= high
        groups = list(sampled(oracle, [0.8, 0.25], [900, 300], generator))
        low, high = fldp.population(groups, weights=[30, 70]).interval(0.95)[0]
        weighted += low <= 0.3 * 0.8 + 0.7 * 0.25 <= high
    least = 0.95 - 3 * np.sqrt(0.95 * 0.05 / runs)
    assert hits / runs >= least
    assert weighted / runs >= least
    assert asked / runs < 0.9


@pytest.mark.parametrize("oracle", [fldp.OUE(4.0, 5), fldp.GRR(1.0, 5)], ids=repr)
@pytest.mark.long
def test_intervals_of_a_population_cover_where_people_are_few(oracle):
    """600 surveys of 30 people: at 5 %, as many misses of one value as the limit come in one of 10^6 tests.

    A normal law at the estimate missed the most frequent value in a tenth of them.
    """
    n = 30
    shares, generator = np.array([0.6, 0.25, 0.15] + [0.0] * (oracle.domain_size - 3)), np.random.default_rng(3)
    missed = np.zeros(len(shares))
    for run in range(600):
        estimate = oracle.estimate(fldp.simulate(oracle, generator.multinomial(n, shares), rng=run))
        low, high = fldp.population(estimate).interval(0.95).T
        missed += (low > shares + 1e-9) | (high < shares - 1e-9)
    assert missed.max() < most_broken(600, 0.05, 1e-6)


def test_the_ends_of_a_population_are_those_of_its_groups_and_the_sampling():
    oracle = fldp.GRR(1.0, 5)
    groups = [oracle.estimate(fldp.simulate(oracle, [20, 5, 5, k, 0], rng=k)) for k in range(2)]
    shares = fldp.population(groups, weights=[30, 70])
    weighed = zip((0.3, 0.7), groups, strict=True)
    assert shares.sampling == pytest.approx(sum(w**2 * sampling_variance(e.counts, e.n) for w, e in weighed))
    weighed = zip((0.3, 0.7), groups, strict=True)
    assert shares.noise == pytest.approx(sum((w * e.stderr / e.n) ** 2 for w, e in weighed))
    for z, options in ((1.959964, {}), (2.575829, {"simultaneous": True})):
        below = sum(
            (w * (e.counts - e.interval(**options)[:, 0]) / e.n) ** 2 for w, e in zip((0.3, 0.7), groups, strict=True)
        )
        expected = shares.shares - np.sqrt(below + z**2 * shares.sampling)
        assert shares.interval(**options)[:, 0] == pytest.approx(expected)


def test_groups_of_sketches_collide_alike():
    """Four groups with the same hash functions know no more about collisions than one, of as many people."""
    sketch = fldp.HCMS(8.0, hashes=16, width=64).among(["a", "b", "c"])
    one = sketch.estimate(fldp.simulate(sketch, [20_000, 0, 0], rng=1))
    alone, four = fldp.population(one), fldp.population([one] * 4, weights=[1, 1, 1, 1])
    collisions = sketch.estimator.collisions(one.n, one.counts, **one.basis.context)[1] / one.n**2
    assert four.noise == pytest.approx(collisions + (alone.noise - collisions) / 4)
    reach = ((one.counts - one.interval()[:, 0]) / one.n) ** 2 / 4
    expected = four.shares - np.sqrt(reach + 1.959964**2 * (collisions * 3 / 4 + four.sampling))
    assert four.interval()[:, 0] == pytest.approx(expected)


def test_everybody_asked_leaves_the_noise_alone():
    oracle = fldp.GRR(2.0, 3)
    estimate = oracle.estimate(fldp.Tally(oracle, [500, 300, 200], 1000))
    assert fldp.population(estimate, size=1000).stderr == pytest.approx(estimate.stderr / 1000)
    assert fldp.population(estimate).design_effect == 1


@pytest.mark.parametrize("anytime", [False, True])
@pytest.mark.long
def test_the_power_is_what_a_simulation_gives(anytime):
    """As many people as planned, 400 pairs of groups: the change is seen at least as often as asked for."""
    oracle, generator, runs = fldp.GRR(2.0, 2), np.random.default_rng(2), 400
    people = fldp.people_needed(oracle, 0.05, power=0.8, share=0.3, anytime=anytime)
    seen = 0
    for _ in range(runs):
        before, after = sampled(oracle, [0.3, 0.35], [people, people], generator)
        change = before.compare(after, people="population", anytime=people if anytime else None)
        seen += bool(only(change, 0).significant()[0])
    error = np.sqrt(0.8 * 0.2 / runs)
    assert 0.8 - 3 * error <= seen / runs <= 0.8 + 3 * error + (0.08 if anytime else 0)


def test_more_is_needed_for_less():
    oracle = fldp.OUE(1.0, 10)
    need = fldp.people_needed(oracle, 0.02)
    assert fldp.people_needed(oracle, 0.01) > 3.9 * need
    assert fldp.people_needed(oracle, 0.02, power=0.95) > need
    assert fldp.people_needed(oracle, 0.02, values=10) > need
    assert fldp.people_needed(oracle, 0.02, about="respondents") < need
    assert users_needed_anytime(oracle, 0.01) > 2 * (oracle.variance(1, 0) / 0.01**2)


@pytest.mark.parametrize(
    ("ask", "wrong"),
    [
        (lambda o: fldp.people_needed(o, 1.5), "change must be"),
        (lambda o: fldp.people_needed(o, 0.6, share=0.5), "change must be one that leaves"),
        (lambda o: fldp.people_needed(o, 0.1, power=1.0), "power must be"),
        (lambda o: fldp.people_needed(o, 0.1, share=2.0), "share must be a number from 0 to 1"),
        (lambda o: fldp.population([estimate_of(o), estimate_of(o)]), "several groups need weights"),
        (lambda o: fldp.population(estimate_of(o), weights=[1, 2]), "weights must be one for each of 1 groups"),
        (lambda o: fldp.population(estimate_of(o), weights=[-1]), "every weight must be a positive"),
        (lambda o: fldp.population(estimate_of(o), size=10), "size must be an integer from 100"),
    ],
)
def test_bad_questions(ask, wrong):
    with pytest.raises(fldp.ParameterError, match=wrong):
        ask(fldp.GRR(1.0, 2))


def estimate_of(oracle):
    return oracle.estimate(fldp.Tally(oracle, [60, 40], 100))


def test_groups_must_be_alike():
    two, three = fldp.GRR(1.0, 2), fldp.GRR(1.0, 3)
    other = three.estimate(fldp.Tally(three, [60, 40, 0], 100))
    with pytest.raises(fldp.MergeError, match="all groups must have estimates of the same values"):
        fldp.population([estimate_of(two), other], weights=[1, 1])
    named = replace(estimate_of(two), labels=("no", "yes"))
    with pytest.raises(fldp.MergeError, match="estimates of the same labels, in the same order"):
        fldp.population([estimate_of(two), named], weights=[1, 1])


def test_shares_of_a_population_as_a_frame():
    named = replace(estimate_of(fldp.GRR(1.0, 2)), labels=("no", "yes"))
    shares = fldp.population([named, named], weights=[1, 3])
    assert repr(shares) == "<shares of 2 values in a population, from 200 people in 2 groups>"
    frame = shares.to_pandas(level=0.9)
    assert frame.columns.tolist() == ["value", "label", "share", "stderr", "low", "high"]
    assert frame["label"].tolist() == ["no", "yes"]
    assert frame[["low", "high"]].to_numpy() == pytest.approx(shares.interval(0.9))
    assert fldp.population(named).to_pandas()["share"].to_numpy() == pytest.approx(named.frequencies)


def test_one_value_named_beforehand_pays_nothing_for_others():
    change = Comparison(np.array([0.03, 0.0, 0.0]), np.array([0.0145, 0.01, 0.01]))
    assert not change.significant().any()
    assert only(change, 0).significant().all()


@pytest.mark.parametrize("anytime", [None, 10_000])
def test_one_value_keeps_its_own_term_for_one_report(anytime):
    """GRR on 1,000 values: chance supports each a tenth of a time, so one report decides."""
    oracle = fldp.GRR(1.0, 1000)
    before, after = (oracle.estimate(fldp.simulate(oracle, [100] + [0] * 999, rng=k)) for k in range(2))
    change = before.compare(after, anytime=anytime)
    alone = only(change, 3)
    assert alone.jump.tolist() == [change.jump[3]]
    assert alone.jump[0] > 0
    assert alone.interval() == pytest.approx(change.interval()[3:4])
    assert alone.p_values == pytest.approx(change.p_values[3:4] if anytime is None else alone.p_values)
    for side, of_all in zip(getattr(alone, "sides", ()), getattr(change, "sides", ()), strict=True):
        assert side.jump.tolist() == [of_all.jump[3]]


@pytest.fixture
def files(tmp_path):
    for name, epsilon, yes in (("a", 2.0, 1200), ("b", 3.0, 1800)):
        (tmp_path / f"{name}.toml").write_text(SURVEY.format(epsilon=epsilon))
        (tmp_path / f"{name}.csv").write_text("answer\n" + "yes\n" * yes + "no\n" * (4000 - yes))
        reports = run_here("privatize", f"{name}.csv", "--survey", f"{name}.toml", "--seed", 5, cwd=tmp_path).stdout
        tally = run_here("tally", "-", stdin=reports, cwd=tmp_path).stdout
        (tmp_path / f"{name}.fldp").write_bytes(tally)
    return tmp_path


def test_the_commands(files):
    def said(*arguments, code=0):
        done = run_here(*arguments, cwd=files, code=code)
        return (done.stdout or done.stderr).decode()

    both = ("compare", "a.fldp", "b.fldp", "--survey", "a.toml", "--other-survey", "b.toml", "--value", "yes")
    (row,) = json.loads(said(*both, "--json"))["rows"]
    assert (row["label"], row["changed"]) == ("yes", True)
    watched = json.loads(said(*both, "--anytime", "10000", "--json"))
    assert watched["anytime"] == {"planned": 10_000}
    assert "must be one of the labels" in said(*both[:-1], "maybe", code=2)
    shares = json.loads(said("population", "a.fldp", "--survey", "a.toml", "--json"))
    assert [row["label"] for row in shares["rows"]] == ["yes", "no"]
    assert shares["rows"][0]["low"] < 0.3 < shares["rows"][0]["high"]
    shown = said("population", "a.fldp", "a.fldp", "--weight", 30, "--weight", 70, "--survey", "a.toml")
    assert "Design effect" in shown
    estimate = json.loads(said("estimate", "a.fldp", "--survey", "a.toml", "--anytime", 10_000, "--json"))
    assert (estimate["anytime"], estimate["simultaneous"]) == ({"planned": 10_000}, True)
    assert "whenever you look" in said("estimate", "a.fldp", "--survey", "a.toml", "--anytime", 10_000)
    refused = said("estimate", "a.fldp", "--survey", "a.toml", "--anytime", 10_000, "--post", "clip", code=2)
    assert "its intervals are for one look" in refused
    verdict = json.loads(said("integrity", "a.fldp", "--anytime", "--json"))
    assert verdict["anytime"]


@pytest.mark.long
def test_a_plan_with_power(files):
    asked = ("plan", "--survey", "a.toml", "--users", 1000, "--power", 0.8, "--change", 0.03, "--json")
    once, watched = (json.loads(run_here(*asked, *more, cwd=files).stdout)["rows"][0] for more in ((), ("--anytime",)))
    assert 0 < once["people_needed"] < watched["people_needed"]
    target = ("plan", "--survey", "a.toml", "--users", 1000, "--target-error", 0.01, "--json")
    fixed, any_time = (json.loads(run_here(*target, *more, cwd=files).stdout) for more in ((), ("--anytime",)))
    assert fixed["rows"][0]["users_needed"] < any_time["rows"][0]["users_needed"]
    assert b"--power needs --change" in run_here(*asked[:-3], cwd=files, code=2).stderr
    assert b"in each group" in run_here(*asked[:-1], cwd=files).stdout
