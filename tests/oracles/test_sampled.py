"""Sampled: chance chooses a view of a record. Words, laws, wire, tallies, tables, each beside a slow other way."""

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest

import fldp
from fldp import wire
from fldp.conformance.vectors import CASES
from fldp.oracles.base import ticket_words
from fldp.oracles.base.analysis import analysis
from fldp.oracles.sampled.among_records import AmongRecords
from fldp.oracles.sampled.effects import Effects, spread_of
from fldp.oracles.sampled.sampled import of_questions
from fldp.oracles.sampled.views import base_oracle
from support import naive

BASES = ("ss", "grr", "oue", "pgr", "hrr", "fwr")
each_example = pytest.mark.parametrize("oracle", CASES["sampled"], ids=lambda oracle: oracle.base)
each_base = pytest.mark.parametrize("base", BASES)


@each_example
def test_reports_equal_naive_loops(oracle):
    """At random words, and at both sides of every border between views."""
    users = 300
    records = np.random.default_rng(1).integers(0, oracle._values_end, users)
    words = fldp.Stream(5).words(users * oracle.words).reshape(users, -1)
    borders = [-(-(end << 64) // sum(oracle.design.weights)) for end in np.cumsum(oracle.design.weights).tolist()][:-1]
    for row, border in enumerate(borders[:60]):
        words[2 * row : 2 * row + 2, 0] = border - 1, border
    data = oracle.report_format.empty(users)
    oracle.perturb(records, words, data)
    expected = [naive.sampled(oracle, int(record), row) for record, row in zip(records, words, strict=True)]
    assert [oracle.report_format.outcome(row) for row in data] == expected
    fldp.Reports(oracle, data)


@each_example
def test_outcomes_and_reports_are_inverse(oracle):
    reports = oracle.privatize(oracle._sample_records(), rng=3)
    for row in reports.data:
        public, outcome = oracle.report_format.outcome(row)
        assert (oracle.report_format.report(outcome, public) == row).all()


def test_law_by_enumerating_words():
    """The law of the code: what it gives in every region of its two words, weighed by the sizes of the regions."""
    oracle = fldp.Sampled(epsilon=1.0, answers=[2, 3], views=[[0], [1], [0, 1]], weights=[1, 2, 4], base="grr")
    few = oracle.among(np.arange(6))
    total = sum(oracle.design.weights)
    borders = [0, *(-(-(end << 64) // total) for end in np.cumsum(oracle.design.weights).tolist())]
    for value in range(6):
        law = {}
        for view, (start, stop) in enumerate(pairwise(borders)):
            keep, other = naive.symbol_coin(1.0, oracle.members[view].domain_size)
            edges = [0, *(keep + k * other for k in range(oracle.members[view].domain_size - 1)), 1 << 64]
            for low, high in pairwise(edges):
                rows = np.array([(a, b) for a in (start, stop - 1) for b in (low, high - 1)], np.uint64)
                out = oracle.report_format.empty(4)
                oracle.perturb(np.full(4, value), rows, out)
                (outcome,) = {oracle.report_format.outcome(row) for row in out}
                key = (*outcome[0], outcome[1])
                law[key] = law.get(key, 0) + Fraction((stop - start) * (high - low), 1 << 128)
        assert sum(law.values()) == 1
        assert law == analysis(few).law(value)


@pytest.mark.parametrize("weights", [(), (5, 1, 2)])
@each_base
def test_epsilon_is_exact_and_attained(base, weights):
    oracle = fldp.Sampled(epsilon=1.0, answers=[3, 2, 2], views=2, weights=weights, base=base)
    verified = fldp.verify(oracle)
    assert verified.holds
    assert verified.eta == 1
    assert verified.delta == 0
    assert 0.999 < verified.epsilon <= 1.0


def test_epsilon_is_that_of_the_record_and_not_less_for_records_alike_in_most_views():
    oracle = fldp.Sampled(epsilon=1.0, answers=[2] * 4, views=1)
    few = oracle.among([[0, 0, 0, 0], [1, 0, 0, 0], [1, 1, 1, 1]])
    verified = fldp.verify(few)
    assert {float(round(profile.ratio, 9)) for profile in verified.profiles.values()} == {round(np.e, 9)}


def test_shared_mass_is_the_mixture_of_the_views():
    """Records that a view does not tell apart share all of its reports; publics are weighed by the views' shares."""
    oracle = fldp.Sampled(epsilon=1.0, answers=[8, 8], views=1, weights=[3, 1], base="fwr", eta=0.5)
    few = oracle.among([[0, 0], [5, 0], [0, 5], [5, 5]])
    verified = fldp.verify(few)
    shares = [float(share) for share in analysis(oracle).public_view_shares()]
    assert np.allclose(shares, [0.75, 0.25])
    mass = {pair: float(profile.shared_mass) for pair, profile in verified.profiles.items()}
    assert mass[0, 1] == pytest.approx(0.75 / 2 + 0.25)
    assert mass[0, 2] == pytest.approx(0.75 + 0.25 / 2)
    assert mass[0, 3] == pytest.approx(0.5)
    assert verified.holds
    assert float(verified.delta) == 0.5
    closed = {pair: analysis(few).profile(*pair) for pair in verified.profiles}
    assert {pair: float(profile.shared_mass) for pair, profile in closed.items()} == pytest.approx(mass)


def test_an_oracle_that_breaks_its_epsilon_in_a_rare_view_is_caught():
    honest = fldp.Sampled(epsilon=1.0, answers=[2, 2], views=1, weights=[1000, 1])
    broken = fldp.Sampled(epsilon=1.0, answers=[2, 2], views=1, weights=[1000, 1])
    object.__setattr__(broken, "members", (honest.members[0], fldp.SS(epsilon=1.5, domain_size=2)))
    assert fldp.verify(honest.among(range(4))).holds
    assert not fldp.verify(broken.among(range(4))).holds


@each_base
def test_linear_covariance_is_that_of_the_law(base):
    """Over all reports of all holders, by enumeration."""
    oracle = base_oracle(base, 1.0, 5)
    about, rng = analysis(oracle), np.random.default_rng(4)
    weights, counts = rng.normal(size=(3, 5)), np.array([3.0, 1.0, 0.0, 2.0, 5.0])
    expected = np.zeros((3, 3))
    publics = list(about.publics())
    for value, public in product(range(5), publics):
        for outcome, share in about.law(value, public).items():
            report = fldp.Reports(oracle, oracle.report_format.report(outcome, public)[None])
            worth = weights @ oracle.estimator.decode(oracle.tally(report)) - weights[:, value]
            expected += counts[value] * float(share) / len(publics) * np.outer(worth, worth)
    np.testing.assert_allclose(about.linear_covariance(weights, counts), expected, rtol=1e-9)
    np.testing.assert_allclose(about.linear_variances(weights, counts), np.diag(expected), rtol=1e-9)
    assert about.linear_variance(weights[1], counts) == pytest.approx(expected[1, 1], rel=1e-9)


@pytest.mark.parametrize("base", [base for base in BASES if base != "pgr"])
def test_spread_is_the_variance_of_a_share(base):
    """tr(M - projection on the sum) / (D - 1) + 1/D, from the whole covariance."""
    oracle, size = base_oracle(base, 1.0, 6), 6
    whole = analysis(oracle).linear_covariance(np.eye(size), np.full(size, 1 / size))
    assert spread_of(oracle) == pytest.approx((np.trace(whole) - whole.sum() / size) / (size - 1) + 1 / size)
    assert analysis(oracle).spread() == pytest.approx(spread_of(oracle))


def population(answers, n, seed):
    """People in three classes that answer differently, so that questions go together."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 3, n)
    shares = [rng.dirichlet(np.ones(size), 3) for size in answers]
    columns = [(rng.random(n)[:, None] > np.cumsum(part[kind], axis=1)[:, :-1]).sum(axis=1) for part in shares]
    return np.stack(columns, axis=1)


def shares_of(rows, questions, answers):
    table = np.zeros([answers[a] for a in questions])
    np.add.at(table, tuple(rows[:, a] for a in questions), 1 / len(rows))
    return table


VIEWS = [[0], [0, 1], [0, 2], [1, 2], ["cells", 0, 2]]


@each_base
def test_tables_are_generalised_least_squares(base):
    """All tables as those of the joint law that fits all views best, by one big system of equations."""
    oracle = fldp.Sampled(epsilon=1.0, answers=[4, 3, 2], views=VIEWS, weights=[1, 2, 1, 3, 2], base=base)
    tally = oracle.tally(oracle.privatize(population([4, 3, 2], 3000, 1), rng=2))
    tables, people = oracle.estimate(tally), oracle.estimator.people(tally)
    digits = oracle.record_code.decode(np.arange(24))
    left, right = np.zeros((24, 24)), np.zeros(24)
    for view, count, decoded in zip(oracle.design.views, people, tables.decoded, strict=True):
        incidence = (view.values(digits) == np.arange(view.size)[:, None]).astype(float)
        weight = (
            count * (np.eye(view.size) - 1 / view.size) / spread_of(oracle.members[oracle.design.views.index(view)])
        )
        left += incidence.T @ weight @ incidence
        right += incidence.T @ weight @ decoded
    joint = np.linalg.lstsq(left, right, rcond=1e-10)[0].reshape(4, 3, 2)
    joint += (1 - joint.sum()) / 24
    for questions in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2)):
        others = tuple(a for a in range(3) if a not in questions)
        np.testing.assert_allclose(tables.shares(questions), joint.sum(axis=others), atol=1e-9)


@each_base
def test_margins_of_all_tables_agree(base):
    oracle = fldp.Sampled(epsilon=1.0, answers=[4, 3, 2], views=VIEWS, base=base)
    tables = oracle.estimate(oracle.privatize(population([4, 3, 2], 2000, 3), rng=4))
    for one, other in ((0, 1), (0, 2), (1, 2)):
        cross = tables.shares((one, other))
        assert abs(cross.sum(axis=1) - tables.shares((one,))).max() < 1e-12
        assert abs(cross.sum(axis=0) - tables.shares((other,))).max() < 1e-12
    repaired = fldp.postprocess(tables, "consistent")
    assert repaired.original is tables
    for one, other in ((0, 1), (0, 2), (1, 2)):
        cross = repaired.cross(one, other)
        assert cross.counts.min() >= 0
        assert abs(cross.shares.sum(axis=1) - repaired.shares((one,))).max() < 1e-8
        assert abs(cross.shares.sum(axis=0) - repaired.shares((other,))).max() < 1e-8
        assert (cross.stderr == tables.cross(one, other).stderr).all()


@pytest.fixture(scope="module")
def three_questions():
    oracle = fldp.Sampled(epsilon=1.0, answers=[4, 3, 2], views=VIEWS)
    return oracle.estimate(oracle.privatize(population([4, 3, 2], 2000, 3), rng=4))


def test_shares_within_columns_are_those_within_rows_of_the_turned_table(three_questions):
    columns, rows = three_questions.cross(0, 1).columns(0.9), three_questions.cross(1, 0).rows(0.9)
    for one, other in ((columns.shares, rows.shares), (columns.low, rows.low), (columns.high, rows.high)):
        assert one == pytest.approx(other.T)
    repaired = fldp.postprocess(three_questions, "consistent").cross(0, 1)
    within = repaired.columns(0.9)
    assert within.shares == pytest.approx(repaired.shares / repaired.shares.sum(axis=0))
    assert within.low == pytest.approx(columns.low)
    assert within.high == pytest.approx(columns.high)


def test_sums_of_cells(three_questions):
    cross = three_questions.cross(0, 1)
    one = cross.sum([(2, 1)])
    assert (one.count, one.stderr) == pytest.approx((cross.counts[2, 1], cross.stderr[2, 1]))
    turned = three_questions.cross(1, 0).sum([(1, 2)])
    assert (turned.count, turned.stderr) == pytest.approx((one.count, one.stderr))
    everybody = cross.sum(np.ndindex(4, 3))
    assert (everybody.count, everybody.stderr) == pytest.approx((2000, 0), abs=1e-6)
    row, alone = cross.sum((2, column) for column in range(3)), three_questions[0]
    assert row.count == pytest.approx(alone.counts[2])
    assert row.stderr == pytest.approx(alone.stderr[2], rel=0.01)  # by estimates of other tables
    repaired = fldp.postprocess(three_questions, "consistent").cross(0, 1)
    biased = repaired.sum([(2, 1), (0, 0)])
    assert biased.count == pytest.approx(repaired.counts[2, 1] + repaired.counts[0, 0])
    assert biased.stderr == pytest.approx(cross.sum([(2, 1), (0, 0)]).stderr)
    assert repr(cross) == "<table of 0 x 1 from 2000 reports>"
    assert repr(repaired) == "<consistent (biased) table of 0 x 1 from 2000 reports>"
    for bad in ((4, 0), (0, -1), (1, 1, 1), (0.0, 1)):
        with pytest.raises(fldp.DomainError, match=r"cells must be pairs of answers in a table of shape \(4, 3\)"):
            cross.sum([bad])


def test_maps_give_the_tables():
    oracle = fldp.Sampled(epsilon=1.0, answers=[4, 3, 2], views=VIEWS)
    tally = oracle.tally(oracle.privatize(population([4, 3, 2], 2000, 3), rng=4))
    tables = oracle.estimate(tally)
    effects = Effects(oracle.answers, oracle.design.views, oracle.members, oracle.estimator.people(tally))
    constant, maps = effects.maps((0, 1), np.eye(12).reshape(12, 4, 3))
    total = constant + sum(rows @ tables.decoded[k] for k, rows in maps.items())
    np.testing.assert_allclose(total.reshape(4, 3), tables.shares((0, 1)), atol=1e-12)


@pytest.mark.long
def test_variance_is_exact_for_those_who_reported():
    """Fixed people, fixed numbers in each view; noise and who is in which view are drawn. Fails with 1e-6 or less."""
    answers, n, runs = (3, 2, 2), 400, 1500
    oracle = fldp.Sampled(epsilon=1.0, answers=answers, views=[[0, 1], [0, 2], [1, 2], [0]], base="ss")
    rows, rng = population(answers, n, 5), np.random.default_rng(6)
    people, ends = (120, 90, 110, 80), np.cumsum([0, 120, 90, 110, 80])
    estimates = []
    for run in range(runs):
        order, decoded = rng.permutation(n), []
        for view, member, start, stop in zip(oracle.design.views, oracle.members, ends, ends[1:], strict=False):
            tally = member.tally(member.privatize(view.values(rows[order[start:stop]]), rng=run * 4 + int(start)))
            decoded.append(member.estimator.decode(tally) / tally.n)
        tables = fldp.Tables(oracle, n, people, tuple(decoded), tuple(fldp.Tables.of(oracle, _any(oracle)).questions))
        estimates.append(tables.shares((0, 1)))
    truth = {questions: shares_of(rows, questions, answers) for questions in ((0,), (0, 1), (0, 2), (1, 2))}
    exact = _Known(oracle, n, people, tuple(decoded), tables.questions)
    object.__setattr__(exact, "truth", truth)
    variances = exact.variances((0, 1)).reshape(3, 2)
    measured = np.var(estimates, axis=0, ddof=1)
    bias = (np.mean(estimates, axis=0) - truth[0, 1]) / np.sqrt(variances / runs)
    assert abs(bias).max() < 5
    ratio = measured / variances
    assert abs(ratio - 1).max() < 5 * np.sqrt(2 / runs) * 1.2
    assert abs(ratio.mean() - 1) < 0.08
    population_variances = exact.variances((0, 1), people="population").reshape(3, 2)
    expected = truth[0, 1] * (1 - truth[0, 1]) / n
    assert (population_variances > variances).all()
    np.testing.assert_allclose(population_variances - variances, expected, rtol=0.35)


class _Known(fldp.Tables):
    """Tables whose true shares are known, in place of estimated ones."""

    def plausible(self, questions):
        return self.truth[questions]


def _any(oracle):
    return oracle.tally(oracle.privatize(oracle._sample_records(), rng=0))


def test_estimates_of_one_question():
    oracle = fldp.Sampled(epsilon=2.0, answers=[3, 2], views=2)
    rows = population([3, 2], 20_000, 7)
    estimate = oracle.estimate(oracle.privatize(rows, rng=8))[0]
    truth = np.bincount(rows[:, 0], minlength=3)
    assert (abs(estimate.counts - truth) < 5 * estimate.stderr).all()
    assert estimate.sum([0, 1, 2]).stderr == 0
    assert estimate.sum([0, 1]).stderr == pytest.approx(estimate.stderr[2])
    later = oracle.estimate(oracle.privatize(rows, rng=9))[0]
    assert not estimate.compare(later).significant(0.9999).any()
    assert "3 largest" in str(estimate)


def test_a_table_that_no_view_has_is_refused_with_those_there_are():
    oracle = fldp.Sampled(epsilon=1.0, answers=[2, 2, 2], views=[[0, 1], [2]])
    tables = oracle.estimate(oracle.privatize([[0, 0, 0], [1, 1, 1]] * 50, rng=1))
    with pytest.raises(fldp.ParameterError) as error:
        tables.cross(0, 2)
    assert str(error.value) == "cross: '0' and '2' are not asked together in any view; this survey crosses 0 x 1"
    assert tables.crosses == [(0, 1)]


def test_questions_are_named_as_they_are(three_questions):
    for action, message in (
        (lambda: three_questions["colour"], "tables: the question must be one of 0, 1, 2, got 'colour'"),
        (lambda: three_questions.shares((1, 0)), "tables: questions must be different, and in their order, got (1, 0)"),
        (lambda: three_questions.cross(1, 1), "cross: name two different questions, got '1' twice"),
        (lambda: three_questions[0].answered(), "answered: '0' is not optional"),
        (lambda: of_questions("fldp", fldp.GRR(1.0, 4)), "'sampled', which asks several questions"),
    ):
        with pytest.raises(fldp.ParameterError) as error:
            action()
        assert message in str(error.value)


def test_single_records_are_privatized_and_not_counted():
    oracle = fldp.Sampled(epsilon=1.0, answers=[4, 3, 2], views=2)
    few = oracle.among([[0, 0, 0], [3, 2, 1], [1, 1, 1]])
    assert repr(few) == f"{oracle!r}.among(3 records)"
    assert (few.name, few.parameters) == (oracle.name, oracle.parameters)
    rows = oracle.record_code.decode(few.records[[2, 0, 1, 1]])
    assert (few.privatize([2, 0, 1, 1], rng=3).data == oracle.privatize(rows, rng=3).data).all()
    for refused in (lambda: few.estimate(few.privatize([0, 1], rng=1)), lambda: few.variance(2, 1)):
        with pytest.raises(fldp.ParameterError, match="single records are not counted; estimate tables instead"):
            refused()
    with pytest.raises(fldp.ParameterError, match=r"chosen must be 1 to .* different records"):
        oracle.among([[0, 0, 0], [0, 0, 0]])
    with pytest.raises(fldp.ParameterError, match="base must be an oracle over records"):
        AmongRecords(1.0, base=fldp.GRR(1.0, 4), chosen=(0, 1))


def test_simulated_tallies_are_those_of_people():
    """The mean over tallies that are drawn is that over people; 5 standard errors of 200 runs."""
    oracle = fldp.Sampled(epsilon=1.0, answers=[3, 2], views=[[0], [0, 1]], weights=[1, 2], base="oue")
    counts = np.array([[50, 0], [10, 30], [0, 10]])
    drawn = np.array([fldp.simulate(oracle, counts, rng=k).state for k in range(200)])
    people = np.repeat(np.arange(6), counts.reshape(-1))
    real = np.array([oracle.tally(oracle.privatize(people, rng=1000 + k)).state for k in range(200)])
    spread = np.sqrt((drawn.var(axis=0) + real.var(axis=0)) / 200)
    assert (abs(drawn.mean(axis=0) - real.mean(axis=0)) < 5 * spread).all()
    np.testing.assert_allclose(drawn.std(axis=0), real.std(axis=0), rtol=0.4)
    assert fldp.simulate(fldp.Sampled(epsilon=1.0, answers=[3, 2], views=2), counts, rng=1).n == 100


@each_example
def test_bytes_tallies_and_merging(oracle):
    reports = oracle.privatize(np.arange(200) % oracle._values_end, rng=3)
    assert wire.decode(wire.encode(reports)) == reports
    tally = oracle.tally(reports)
    assert wire.decode_tally(wire.encode_tally(tally)) == tally
    assert oracle.tally(reports[:70]) + oracle.tally(reports[70:]) == tally
    assert sum(oracle.estimator.people(tally)) == 200
    wrong = tally.state.copy()
    wrong[0] += 1
    with pytest.raises(fldp.DomainError):
        fldp.Tally(oracle, wrong, 200)


def test_tickets_derive_the_view():
    for base in ("ss", "hrr"):
        oracle = fldp.Sampled(epsilon=1.0, answers=[4, 3, 2], views=2, base=base)
        assert ticket_words.can_derive(oracle)
        rows = [ticket_words.privatize(oracle, record, "fldp_ticket_x", "00").data[0] for record in (0, 23, 5)]
        assert len({oracle.report_format.outcome(row)[0] for row in rows}) == 1
        assert all(ticket_words.fits(oracle, row, "fldp_ticket_x", "00") for row in rows)
        others = [ticket_words.fits(oracle, rows[0], f"fldp_ticket_{k}", "00") for k in range(20)]
        assert not all(others)
    assert not ticket_words.can_derive(fldp.Sampled(epsilon=1.0, answers=[8, 8], views=1, base="fwr", eta=0.5))


BAD = [
    ({"answers": [8] * 21, "views": 1}, "Sampled: answers must be at most 2^62 combinations, got 8^21"),
    ({"answers": [1, 2], "views": 1}, "Sampled: a number in answers must be an integer from 2 to 2147483647, got 1"),
    ({"answers": [2], "views": 2}, "Sampled: views must be at most the number of questions, 1, got 2"),
    ({"answers": [2, 2], "views": [[1, 0]]}, "lists of numbers of questions from 0 to 1, rising, got [1, 0]"),
    ({"answers": [2, 2], "views": [[0]]}, "none tells the answers to question 1 apart"),
    ({"answers": [8], "views": [["cells", 0, 4]]}, "none tells the answers to question 0 apart"),
    ({"answers": [8], "views": [[0], ["cells", 0, 3]]}, "divides the 8 answers of question 0"),
    ({"answers": [8], "views": [[0], ["circle", 0, 3]]}, "or lists that begin with"),
    ({"answers": [2, 2], "views": 1, "weights": [1]}, "Sampled: weights must be 2 numbers, one for each view, got 1"),
    ({"answers": [2, 2], "views": 1, "weights": [0, 1]}, "a number in weights must be an integer from 1"),
    ({"answers": [2, 2], "views": 1, "eta": 0.5}, "Sampled: eta must be 1 with base 'ss'; 'fwr' has others, got 0.5"),
    ({"answers": [2, 2], "views": 1, "base": "fwr", "eta": 0.5}, "a single report can reveal the value"),
    ({"answers": [300, 300], "views": 2}, "views of at most 65,536 values each"),
    ({"answers": [2, 2], "views": [[0], [5]]}, "lists of numbers of questions from 0 to 1, rising, got [5]"),
    ({"answers": [2, 2], "views": [[0], [0], [1]]}, "views must be different views; weights say how often"),
    ({"answers": [2, 2], "views": []}, "Sampled: views must be 1, 2 or a list of 1 to"),
    ({"answers": [8], "views": [[0], ["cells", 0]]}, "views must be ['cells', question, number], got ['cells', 0]"),
    (
        {"answers": [2, 2], "views": 1, "weights": 3},
        "must be a list of whole numbers, one for each view, got 3",
    ),
    ({"answers": [2, 2], "views": 1, "weights": [2**32, 1]}, "weights must be at most 2^32 together, got 4294967297"),
    (
        {"answers": [8, 2], "views": [["wave", 0, 3], [0], [1]], "base": "fwr", "eta": Fraction(1, 2)},
        "a view 'wave' has eta 1: leave it out, or eta",
    ),
]


@pytest.mark.parametrize(("parameters", "message"), BAD, ids=[message[:40] for _, message in BAD])
def test_bad_parameters(parameters, message):
    with pytest.raises(fldp.ParameterError) as error:
        fldp.Sampled(epsilon=1.0, **parameters)
    assert message in str(error.value)


@pytest.mark.parametrize("rows", [[[0, 1], [0]], [[0, 3]], [[0, -1]], [[0.0, 1.0]], [["0", "1"]], [[True, 0]], [[]]])
def test_bad_records(rows):
    with pytest.raises(fldp.DomainError):
        fldp.Sampled(epsilon=1.0, answers=[2, 3], views=1).privatize(rows)


def test_records_come_as_integers_rows_arrays_and_frames():
    oracle = fldp.Sampled(epsilon=1.0, answers=[2, 3], views=1)
    rows = [[0, 2], [1, 1]]
    expected = oracle.privatize([2, 4], rng=1)
    assert oracle.privatize(rows, rng=1) == expected
    assert oracle.privatize(np.array(rows), rng=1) == expected
    import pandas

    assert oracle.privatize(pandas.DataFrame(rows, columns=["a", "b"]), rng=1) == expected


def test_one_description_for_one_oracle():
    pairs = fldp.Sampled(epsilon=1.0, answers=[2, 2, 2], views=[[0, 1], [0, 2], [1, 2]], weights=[7, 7, 7])
    assert pairs == fldp.Sampled(epsilon=1.0, answers=[2, 2, 2], views=2)
    assert pairs.parameters == {"epsilon": 1.0, "answers": [2, 2, 2], "views": 2}


def test_integrity_sees_fakes_that_crowd_into_a_view():
    oracle = fldp.Sampled(epsilon=1.0, answers=[2, 2, 2], views=1)
    honest = oracle.privatize([[0, 1, 0]] * 3000, rng=1)
    assert fldp.integrity(honest).passed
    fakes = fldp.Reports(oracle, honest.data[oracle._tagged.tags(honest.data) == 0][:400])
    findings = fldp.integrity(fldp.Reports.concatenate([honest, fakes]))
    assert "views" in [finding.test for finding in findings.flagged]


def test_few_people_make_no_association():
    """At n = 60 the noise of the margins is as large as that of the table: without it 31 % of these were alarms.

    Of 200 honest runs at 5 %, more than 24 are alarms with probability 1e-5.
    """
    oracle, alarms = fldp.questions([4, 4], 0.5, "all", base="ss"), 0
    for run in range(200):
        rows = np.random.default_rng(run).integers(0, 4, (60, 2))
        tables = oracle.estimate(oracle.privatize(rows, rng=run))
        alarms += tables.cross(0, 1).independence().p_value <= 0.05
    assert alarms <= 24


def test_a_report_of_a_view_counts_for_as_many_as_it_stands_for():
    """Of a question that one view has, each GRR report adds 1 - 1/d over p - q, and stands for n/N people."""
    oracle = fldp.Sampled(epsilon=1.0, answers=[4, 3], views=1, base="grr")
    tables = oracle.estimate(oracle.privatize([[0, 0]] * 300, rng=1))
    (law,), alone = tables[0]._laws, fldp.GRR(epsilon=1.0, domain_size=4)
    own, other = (float(chance) for chance in (alone.estimator.p, alone.estimator.q))
    assert law.jump == pytest.approx(np.full(4, 300 / tables.people[0] * 0.75 / (own - other)))
