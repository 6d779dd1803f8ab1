"""Every number of the card is computed, and is what enumeration or simulation gives."""

import json
from fractions import Fraction
from html.parser import HTMLParser
from itertools import product

import numpy as np
import pytest

import fldp
from fldp import card_view
from fldp.privacy.attack import averaging, bayes
from fldp.privacy.card import Card, values_left
from fldp.privacy.elimination import remaining, repeats
from fldp.survey import Survey

SURVEY = {
    "name": "browser",
    "question": "Which <browser> & why?",
    "labels": ["chrome", "firefox", "safari", "edge", "other"],
    "oracle": {"name": "fhr", "epsilon": 1.0},
}


def brute_left(oracle, reports):
    """The mean number of values that independent reports leave possible, over all values and all reports."""
    publics = list(oracle.publics())
    laws = [
        {(k, o): p for k, q in enumerate(publics) for o, p in oracle.law(v, q).items()}
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
    ids=str,
)
def test_the_mean_number_of_values_left(oracle):
    assert values_left(oracle, 2) == (oracle.domain_size, brute_left(oracle, 1), brute_left(oracle, 2))


@pytest.mark.parametrize("oracle", [fldp.FHR(1.0, 1000), fldp.FWR(2.0, 300, 0.25), fldp.OLH(1.0, 100)], ids=str)
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
    made = fldp.card(oracle, users=10_000, rng=7)
    assert made.guess == bayes(oracle)
    assert (made.least_left, made.left[1]) == (4, 4)
    exact = repeats(oracle)
    assert [made.repeats.within(share) for share in (0.5, 0.99)] == [exact.within(share) for share in (0.5, 0.99)]
    again = averaging(oracle, rng=3, trials=4000)
    spread = np.hypot(again.stderr, made.averaging.stderr)
    assert (np.abs(again.success - made.averaging.success) <= 6 * spread + 1e-6).all()
    for deal, decoder in zip(made.deals, ("full", "paper"), strict=True):
        variance = oracle.variance(10_000, 0.0, decoder=decoder)
        assert deal.reach == pytest.approx(1.959964 * variance**0.5 / 10_000, rel=1e-6)
        plain = fldp.OUE(deal.plain_epsilon, 7)
        assert plain.variance(10_000, 0.0) == pytest.approx(variance, rel=2e-3)
        assert deal.plain_guess.after == pytest.approx(bayes(plain).after, rel=1e-6)


def test_the_prior_is_the_attackers():
    known = fldp.card(fldp.GRR(1.0, 5), users=100, prior=[96, 1, 1, 1, 1], rng=1).guess
    assert (known.before, known.after) == pytest.approx((0.96, 0.96))


def words_of(made):
    return " ".join(card_view.as_text(made).split())


def test_the_design_s_figures():
    """At eps 1 on 1,023 values: 2.9-fold, 11 and 17 reports, plain epsilons 1.23 and 2.03, 4.3-fold."""
    made = fldp.card(fldp.FHR(1.0, 1023), users=593_358, rng=5)
    assert made.guess.gain == pytest.approx(2.9, abs=0.05)
    assert (made.repeats.within(0.5), made.repeats.within(0.99)) == (11, 17)
    assert [deal.plain_epsilon for deal in made.deals] == pytest.approx([2.03, 1.23], abs=0.01)
    assert made.deals[0].plain_guess.gain == pytest.approx(4.3, abs=0.1)
    text = words_of(made)
    for words in (
        "it leaves 512 possible",
        "2.9 times as often",
        "11 fresh answers",
        "and 17 in",
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
    made = fldp.card(fldp.Grouped(1.0, base="oue", groups=(3, 2, 8)), users=1000, rng=1)
    text = words_of(made)
    assert "In which group your answer is. This is weak" in text
    assert "(weak)" in text
    assert "at least 2." in text


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
    made = fldp.card(Survey.from_dict(SURVEY), users=1000, rng=1)
    card_view.save_card(made, tmp_path / "card.html")
    page = Balanced()
    page.feed((tmp_path / "card.html").read_text())
    assert page.open == []
    assert {"svg", "h1", "h2", "figure"} <= page.tags
    assert not {"script", "browser", "link", "img"} & page.tags
    said = "".join(page.text)
    assert "Which <browser> & why?" in said
    for section in card_view.sections(made):
        assert section.heading in said
        assert all(line in said for line in section.lines)


def test_pictures(tmp_path):
    made = fldp.card(fldp.FWR(1.0, 20, 0.5), users=1000, rng=1)
    for name in ("card.png", "card.svg"):
        card_view.save_card(made, tmp_path / name)
        assert (tmp_path / name).stat().st_size > 20_000
    with pytest.raises(fldp.ParameterError, match=r"the ending of .*card.pdf must be one of"):
        card_view.save_card(made, tmp_path / "card.pdf")


def test_json():
    made = fldp.card(Survey.from_dict(SURVEY), users=1000, rng=1)
    facts = json.loads(card_view.as_json(made))
    assert facts["survey"] == Survey.from_dict(SURVEY).version
    assert (facts["epsilon"], facts["eta"], facts["least_left"]) == (1.0, 0.5, 2)
    assert facts["guess"]["after"] == made.guess.after
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
