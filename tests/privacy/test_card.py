"""Every number of the card is computed, and is what enumeration or simulation gives."""

import dataclasses
import json
import re
from fractions import Fraction
from html.parser import HTMLParser
from itertools import product

import matplotlib as mpl
import numpy as np
import pytest

import fldp
from fldp.oracles.kit import analysis
from fldp.presentation import card
from fldp.presentation.card_text import number
from fldp.presentation.plot import save_bars
from fldp.privacy.bayes_attack import averaging, bayes
from fldp.privacy.elimination_attack import remaining, repeats
from fldp.privacy.privacy_card import Card, values_left
from fldp.survey import Survey

SURVEY = {
    "name": "browser",
    "question": "Which <browser> & why?",
    "labels": ["chrome", "firefox", "safari", "edge", "other"],
    "oracle": {"name": "fhr", "epsilon": 1.0},
}


def brute_left(oracle, reports):
    """The mean number of values that independent reports leave possible, over all values and all reports."""
    publics = list(analysis(oracle).publics())
    laws = [
        {(k, o): p for k, q in enumerate(publics) for o, p in analysis(oracle).law(v, q).items()}
        for v in range(oracle.domain_size)
    ]
    total = Fraction(0)
    for law in laws:
        for seen in product(law, repeat=reports):
            chance = Fraction(1)
            for report in seen:
                chance *= law[report] / len(publics)
            total += chance * sum(all(other.get(report, 0) for report in seen) for other in laws)
    return total / len(laws)


@pytest.mark.parametrize(
    "oracle",
    [
        fldp.FHR(1.0, 3),
        fldp.FHR(0.1, 3, items="paper", allow_exposure=True),
        fldp.FWR(1.0, 4, 0.5, 1, allow_exposure=True),
        fldp.GRR(1.0, 5),
        fldp.Grouped(1.0, base="grr", groups=(2, 3, 1), allow_exposure=True),
    ],
    ids=repr,
)
def test_the_mean_number_of_values_left(oracle):
    assert values_left(oracle, 2) == (oracle.domain_size, brute_left(oracle, 1), brute_left(oracle, 2))


@pytest.mark.parametrize("oracle", [fldp.FHR(1.0, 1000), fldp.FWR(2.0, 300, 0.25), fldp.OLH(1.0, 100)], ids=repr)
def test_the_mean_number_of_values_left_on_large_domains(oracle):
    """By 300 people who send 1 and 3 fresh reports; false alarms below 1e-6 by the normal approximation."""
    values = np.random.default_rng(1).integers(0, oracle.domain_size, 300)
    for count in (1, 3):
        reports = oracle.privatize(np.repeat(values, count), rng=count)
        left = [len(remaining(reports[k : k + count])) for k in range(0, len(reports), count)]
        expected = float(values_left(oracle, count)[count])
        assert abs(np.mean(left) - expected) <= 5 * np.std(left) / np.sqrt(300) + 1e-9


def test_the_numbers_are_those_of_the_attacks():
    oracle = fldp.FHR(1.0, 7)
    card = fldp.card(oracle, users=10_000, rng=7)
    assert card.guess == bayes(oracle)
    assert (card.least_left, card.left[1]) == (4, 4)
    exact = repeats(oracle)
    assert [card.repeats.within(share) for share in (0.5, 0.99)] == [exact.within(share) for share in (0.5, 0.99)]
    again = averaging(oracle, rng=3, trials=4000)
    spread = np.hypot(again.stderr, card.averaging.stderr)
    assert (np.abs(again.success - card.averaging.success) <= 6 * spread + 1e-6).all()
    for deal, decoder in zip(card.deals, ("full", "paper"), strict=True):
        variance = oracle.variance(10_000, 0.0, decoder=decoder)
        assert deal.reach == pytest.approx(1.959964 * variance**0.5 / 10_000, rel=1e-6)
        plain = fldp.OUE(deal.plain_epsilon, 7)
        assert plain.variance(10_000, 0.0) == pytest.approx(variance, rel=2e-3)
        assert deal.plain_guess.after == pytest.approx(bayes(plain).after, rel=1e-6)


def test_the_prior_is_the_attackers():
    known = fldp.card(fldp.GRR(1.0, 5), users=100, prior=[96, 1, 1, 1, 1], rng=1).guess
    assert (known.before, known.after) == pytest.approx((0.96, 0.96))


def words_of(written):
    return " ".join(card.as_text(written).split())


def test_the_design_s_figures():
    """At eps 1 on 1,023 values: 2.9-fold, 11 and 17 reports, plain epsilons 1.23 and 2.03, 4.3-fold."""
    card = fldp.card(fldp.FHR(1.0, 1023), users=593_358, rng=5)
    assert card.guess.gain == pytest.approx(2.9, abs=0.05)
    assert (card.repeats.within(0.5), card.repeats.within(0.99)) == (11, 17)
    assert [deal.plain_epsilon for deal in card.deals] == pytest.approx([2.03, 1.23], abs=0.01)
    assert card.deals[0].plain_guess.gain == pytest.approx(4.3, abs=0.1)
    text = words_of(card)
    for words in (
        "it leaves 512 possible",
        "2.9 times as often",
        "11 fresh answers",
        "after 17, in",
        "Promised: (1, 1/2)-FLDP",
    ):
        assert words in text
    assert "less often than" in text
    assert "this is weaker" in text


def test_plain_ldp_says_so():
    text = words_of(fldp.card(fldp.OUE(1.0, 20), users=1000, rng=1))
    assert "Nothing. Each of the 20 answers could have given your report." in text
    assert "This is plain local differential privacy." in text
    assert "weak" not in text


def test_grouped_says_weak():
    card = fldp.card(fldp.Grouped(1.0, base="oue", groups=(3, 2, 8)), users=1000, rng=1)
    assert_spoken(card)
    text = words_of(card)
    assert "Which group your answer is in. This is weak" in text
    assert "(weak)" in text
    assert "at least 2." in text


def test_the_accuracy_is_that_of_an_even_population():
    """With all users in one block it is seven times as bad; a simulation of the even population says which is right.

    The standard deviation of 600 trials has a relative standard error of 2.9 %: false alarms below 1e-8.
    """
    for oracle in (fldp.HR(5.0, 1024, blocks=128), fldp.Grouped(2.0, base="grr", groups=(8, 120))):
        rare, users = oracle.domain_size - 1, 10 * (oracle.domain_size - 1)
        deal = fldp.card(oracle, users=users, rng=1).deals[0]
        values = np.repeat(np.arange(rare), 10)
        estimates = [oracle.estimator.decode(oracle.tally(oracle.privatize(values, rng=k)))[rare] for k in range(600)]
        assert deal.reach == pytest.approx(1.96 * np.std(estimates) / users, rel=0.18)
        plain = fldp.OUE(deal.plain_epsilon, oracle.domain_size)
        assert 1.96 * plain.variance(users, 0.0) ** 0.5 / users == pytest.approx(deal.reach, rel=2e-3)


NAMED = Survey.from_dict({**SURVEY, "title": "Browsers"})
SPOKEN = {
    "rr": (fldp.RR(1.0), 100, "After 7 fresh answers, the best guess would be right in 90 % of all cases or more."),
    "rr, sure": (fldp.RR(20.0), 10_000, "at most 486 million times as likely"),
    "rr, exact": (fldp.RR(20.0), 10_000, "is known to less than 0.001 percentage points (95 % interval)"),
    "rr, vague": (fldp.RR(0.001), 100, "at most 1.0011 times as likely"),
    "grr, 2": (fldp.GRR(1.0, 2), 1000, "Both answers could have given your report."),
    "grr, 3": (fldp.GRR(1.0, 3), 1000, "OUE would need epsilon 1.6 for the same error."),
    "grr, 3, why not": (fldp.GRR(1.0, 3), 1000, "But its promise is weaker: one of its reports can be 4.98 times as"),
    "grr, 4": (fldp.GRR(1e-5, 4), 1000, "Promised: 0.00001-LDP."),
    "grr, 5": (fldp.GRR(3.0, 5), 1000, "or more."),
    "grr, 100": (fldp.GRR(10.0, 100), 1000, "With it, in 99.6 %: 100 times as often."),
    "grr, one": (fldp.GRR(0.001, 10), 1, "1 answer tells nothing about a single share. It takes more."),
    "grr, hardly": (fldp.GRR(0.001, 10), 10**12, "With it, in 10 %: hardly more often."),
    "fhr, 5": (fldp.FHR(1.0, 5), 1000, "Of 5 answers it leaves 3 possible on average, and at least 2."),
    "fhr, 2": (fldp.FHR(1.0, 2, allow_exposure=True), 5, "Of 2 answers it leaves"),
    "fhr, 1023": (fldp.FHR(1.0, 1023), 1, "Decoded in full: 1 answer tells nothing about a single share."),
    "fwr": (fldp.FWR(1.0, 100, 0.25), 1000, "eta 1/4."),
    "fwr, huge": (fldp.FWR(12.0, 100, 0.5), 10**9, "Plain local privacy with the same accuracy"),
    "oue": (fldp.OUE(1.0, 20), 1000, "After 1"),
    "olh": (fldp.OLH(1.0, 100), 1000, "Another way to the same accuracy OUE would need epsilon 0.999"),
    "alone": (
        fldp.Grouped(1.0, base="grr", groups=(1, 1, 1, 2), allow_exposure=True),
        1000,
        "A single answer already leaves only yours possible in 60 % of all cases",
    ),
    "alone at times": (
        fldp.Grouped(1.0, base="grr", groups=(1, 5, 3), allow_exposure=True),
        1000,
        "Of 9 answers it leaves 3.89 possible on average, and sometimes only yours.",
    ),
    "hr": (fldp.HR(5.0, 1024, blocks=128), 10_000, "is known to within 0.463 percentage points"),
    "survey": (NAMED, 1000, "Browsers ===="),
}


def assert_spoken(written):
    """What holds for the words of any card."""
    every = [line for section in card.sections(written) for line in section.lines]
    for line in every:
        assert line.endswith(".")
        assert not re.search(r"\de[+-]?\d|\binf\b|\bnan\b", re.sub(r"delta \S+", "", line))  # which is tiny
        assert not re.search(
            r"(?<![\d.,])1 ((fresh )?answers|times)|often than than|about as often than|as often without", line
        )
        assert "After 1 fresh" not in line
    said = " ".join(every).replace("\N{NO-BREAK SPACE}", " ")
    assert all(float(share) <= 100 for share in re.findall(r"([\d.]+) %", said.replace(",", "")))


@pytest.mark.parametrize("name", SPOKEN)
def test_the_words(name):
    subject, users, words = SPOKEN[name]
    card = fldp.card(subject, users=users, rng=1)
    assert_spoken(card)
    assert words in words_of(card)


@pytest.mark.parametrize(("repeat", "year"), [("weekly", "52 weeks would give away epsilon 20.8"), ("monthly", "12 m")])
def test_the_words_where_each_period_is_drawn_anew(repeat, year):
    fields = {**SURVEY, "oracle": {"name": "grr", "epsilon": 0.4}, "collect": {"repeat": repeat}}
    card = fldp.card(Survey.from_dict(fields), users=1000, rng=1)
    assert_spoken(card)
    period = repeat.removesuffix("ly")
    assert f"Your device draws a new answer each {period}, which costs epsilon 0.4 and eta 1 again" in words_of(card)
    assert f"an answer that stays the same for {year}" in words_of(card)
    assert "answers once" not in words_of(card)
    assert card.crowd is None


def test_the_words_where_much_is_known_beforehand():
    card = fldp.card(fldp.GRR(1.0, 5), users=1000, prior=[96, 1, 1, 1, 1], rng=1)
    assert_spoken(card)
    assert "With it, in 96 %: no more often." in words_of(card)
    assert "The best guess is right in 96 % of all cases even without your answer." in words_of(card)


def test_a_single_answer_that_is_enough():
    text = words_of(fldp.card(fldp.GRR(10.0, 100), users=1000, rng=1))
    assert "A single answer is enough for a guess that is right in 99.6 % of all cases." in text


def test_the_comparison_does_not_call_plain_ldp_dearer():
    headings = {
        name: [section.heading for section in card.sections(fldp.card(SPOKEN[name][0], users=10, rng=1))]
        for name in ("rr", "oue", "fhr, 5")
    }
    assert headings["rr"][-1] == "Another way to the same accuracy"
    assert headings["oue"][-1] == "What can be learned from all answers together"
    assert headings["fhr, 5"][-1] == "Plain local privacy with the same accuracy"


@pytest.mark.parametrize("epsilon", [1e-6, 0.001, 0.0999, 0.1, 0.3, 0.4999, 0.5, 1.0, 1.5, 3.0, 10.0, 13.82, 20.0])
def test_a_bound_is_rounded_up(epsilon):
    text = words_of(fldp.card(fldp.RR(epsilon), users=10, rng=1))
    match = re.search(r"at most ([\d,.]+)( million)? times as likely", text)
    bound = float(match[1].replace(",", "")) * (1e6 if match[2] else 1)
    assert np.expm1(epsilon) <= bound - 1 + 1e-15 <= 1.1 * np.expm1(epsilon)


def test_numbers_as_people_write_them():
    assert [number(amount) for amount in (0.0000123, 0.5, 1, 12.34, 99_999, 123_456, 999_999, 2_345_678, 3e9)] == [
        "0.0000123", "0.5", "1", "12.3", "100,000", "123,000", "1 million", "2.35 million", "3 billion",
    ]  # fmt: skip


def test_a_large_domain_takes_few_trials_and_says_so():
    """All values are never looked at for more than 24 trials of 64 reports; what is exact stays exact."""
    written = fldp.card(fldp.FHR(1.0, 100_000), users=10**6, rng=1)
    assert_spoken(written)
    assert "Of 100,000 answers it leaves" in words_of(written)
    facts = card.facts(written)
    assert facts["fresh_reports"]["trials"] == 24
    assert facts["known"]["trials"] == 1000  # by elimination
    assert (facts["known"]["median"], 22 <= facts["known"]["within_99"] <= 25) == (18, True)
    assert facts["guess"]["stderr"] < 0.01 * facts["guess"]["after"]


def test_large_groups_are_exact():
    written = fldp.card(fldp.Grouped(1.0, base="grr", groups=[50_000, 50_000]), users=10**6, rng=1)
    assert_spoken(written)
    assert card.facts(written)["known"] == {"median": None, "within_99": None, "exact": True, "trials": 0}


class Balanced(HTMLParser):
    """Collects the text, and fails on a tag that is closed without having been opened."""

    def __init__(self):
        super().__init__()
        self.open, self.text, self.tags = [], [], set()

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        if tag not in ("meta",):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_the_page(tmp_path):
    written = fldp.card(Survey.from_dict(SURVEY), users=1000, rng=1)
    card.save_card(written, tmp_path / "card.html")
    page = Balanced()
    page.feed((tmp_path / "card.html").read_text())
    assert page.open == []
    assert {"svg", "h1", "h2", "figure"} <= page.tags
    assert not {"script", "browser", "link", "img"} & page.tags
    said = "".join(page.text)
    assert "Which <browser> & why?" in said
    for section in card.sections(written):
        assert section.heading in said
        assert all(line in said for line in section.lines)


def test_pictures(tmp_path):
    written = fldp.card(fldp.FWR(1.0, 20, 0.5), users=1000, rng=1)
    for name in ("card.png", "card.svg"):
        card.save_card(written, tmp_path / name)
        assert (tmp_path / name).stat().st_size > 20_000
    with pytest.raises(fldp.ParameterError, match=r"the ending of .*card.pdf must be one of"):
        card.save_card(written, tmp_path / "card.pdf")


DOLLARS = ["Do you pay $x_{ or $y^?", "Do you earn $1000 or $2000 a month?", r"a\$b", "$a$", "a$b_{$"]


@pytest.fixture(scope="session")
def plain_card():
    return fldp.card(Survey.from_dict(SURVEY), users=100, rng=1)


@pytest.mark.parametrize("text", DOLLARS)
def test_a_dollar_is_no_formula(tmp_path, plain_card, text):
    """Texts stand in the picture as they are. Letters are kept as such in this SVG, not drawn."""
    survey = Survey.from_dict({**SURVEY, "title": text, "labels": [text, "b", "c", "d", "e"]})
    written = dataclasses.replace(plain_card, survey=survey)
    estimate = survey.oracle.estimate(survey.oracle.privatize([0] * 50, rng=1))
    estimate = dataclasses.replace(estimate, labels=survey.labels)
    with mpl.rc_context({"svg.fonttype": "none"}):
        card.save_card(written, tmp_path / "card.svg")
        save_bars(estimate, tmp_path / "bars.svg", title=text)
    assert f">{text}</text>" in (tmp_path / "card.svg").read_text()
    bars = (tmp_path / "bars.svg").read_text()
    shown = text if len(text) <= 40 else text[:39] + "…"
    assert f">{text}</text>" in bars
    assert f">{shown}</text>" in bars


def test_a_long_question_is_there_in_whole(tmp_path, plain_card):
    question = " ".join(f"word{k}" for k in range(30))
    written = dataclasses.replace(plain_card, survey=Survey.from_dict({**SURVEY, "question": question}))
    with mpl.rc_context({"svg.fonttype": "none"}):
        card.save_card(written, tmp_path / "card.svg")
    assert all(f"word{k}" in (tmp_path / "card.svg").read_text() for k in range(30))
    assert max(map(len, card.as_text(written).splitlines())) <= 88


def test_json():
    written = fldp.card(Survey.from_dict(SURVEY), users=1000, rng=1)
    facts = json.loads(card.as_json(written))
    assert facts["survey"] == Survey.from_dict(SURVEY).version
    assert (facts["epsilon"], facts["eta"], facts["least_left"]) == (1.0, 0.5, 2)
    assert facts["guess"]["after"] == written.guess.after
    assert len(facts["mean_left"]) == 65
    assert [row["decoder"] for row in facts["decoders"]] == ["full", "paper"]


def test_progress_adds_up():
    steps = []
    assert isinstance(fldp.card(fldp.RR(1.0), users=10, progress=steps.append), Card)
    assert sum(steps) == pytest.approx(1)


@pytest.mark.parametrize(
    ("subject", "users", "message"),
    [("fhr", 10, "card: subject must be an oracle or a survey, got 'fhr'"), (fldp.RR(1.0), 0, "card: users must be")],
)
def test_bad_use(subject, users, message):
    with pytest.raises(fldp.ParameterError, match=message):
        fldp.card(subject, users=users)


@pytest.mark.parametrize(
    ("rules", "collector", "parties"),
    [
        ({}, "yes; it promises not to keep them", 2),
        ({"oblivious": True}, "the relay's address, when it arrives", 4),
    ],
)
def test_the_card_says_who_sees_what_on_the_way_that_the_reports_take(rules, collector, parties):
    answers_card = fldp.card(Survey.from_dict({**SURVEY, "collect": rules}), users=100, rng=1)
    (section,) = [section for section in card.sections(answers_card) if section.heading == "Who sees what"]
    rows = {who: cells for who, *cells in section.table[1:]}
    assert len(rows) == parties
    assert rows["the collector"] == [collector, "yes", "yes"]
    assert ("the relay" in rows) == bool(rules)
    assert f'<tr><th scope="row">the collector</th><td>{collector.replace(chr(39), "&#x27;")}</td>' in card.as_html(
        answers_card
    )
    said = " ".join(card.as_text(answers_card).split())
    assert ("A relay that handed out another one could read reports" in said) == bool(rules)
    assert f"The collector: your address, the time: {collector}; which survey: yes; your report: yes." in said
    assert json.loads(card.as_json(answers_card))["words"]["Who sees what"] == list(section.spoken)


def test_a_card_of_an_oracle_alone_names_no_way():
    drawn = fldp.card(fldp.RR(epsilon=1.0), users=100)
    assert "Who sees what" not in [section.heading for section in card.sections(drawn)]
