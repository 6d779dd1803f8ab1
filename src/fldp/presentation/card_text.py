"""The text of a privacy card, in sentences that need no prior knowledge."""

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Context
from math import exp, expm1

from fldp.oracles.base.analysis import analysis
from fldp.oracles.base.memoization import Memoization, following, lasting_epsilon
from fldp.oracles.shuffle_privacy import Shuffled, stands_out
from fldp.presentation.parties import Rows, beside, spoken, who_sees
from fldp.privacy.notions import declared
from fldp.privacy.privacy_card import LEVEL, MAX_REPEATS, Card, Deal
from fldp.support.exact_numbers import decimal, number_text, share_text

_SCALES = ((10**12, " trillion"), (10**9, " billion"), (10**6, " million"))
_ENOUGH_TRIALS = 500  # to speak of 99 of 100 cases
_PERIODS = {"weekly": ("week", 52), "monthly": ("month", 12)}  # and how many of them a year has


@dataclass(frozen=True)
class Section:
    """A heading and the lines below it; where there is a table, it stands before them."""

    heading: str
    lines: tuple[str, ...]
    table: Rows = ()

    @property
    def spoken(self) -> tuple[str, ...]:
        """All of it as lines."""
        return (*spoken(self.table), *self.lines)


def title(card: Card) -> str:
    """Return the title of the card."""
    if card.survey is not None:
        return card.survey.title or card.survey.question
    return f"{card.oracle.title}, {card.oracle.domain_size:,} values"


def sections(card: Card) -> list[Section]:
    """Return the sections of the card, in plain words."""
    always = [
        *([Section("Several questions, one report", card.first)] if card.first else []),
        Section("What your report says for certain", _certain(card)),
        Section("What somebody can guess from it", _guessed(card)),
        Section("If you answered again and again", _repeated(card)),
        Section("The two numbers", _numbers(card)),
        Section("What can be learned from all answers together", _accuracy(card)),
    ]
    crowd = _in_a_crowd(card)
    always += [Section("If only totals are published", crowd)] if crowd else []
    if card.survey is not None:
        always.append(Section("Who sees what", beside(card.survey), who_sees(card.survey)))
    if not card.deals:
        return always
    if card.oracle.eta < 1:
        return [*always, Section("Plain local privacy with the same accuracy", _plain(card))]
    return always if card.oracle.name == "oue" else [*always, Section("Another way to the same accuracy", _other(card))]


def _in_a_crowd(card: Card) -> tuple[str, ...]:
    """Say what being one of many adds, that it adds nothing, or nothing at all where that is not known."""
    nothing = stands_out(card.oracle)
    if nothing is not None:
        return (nothing,)
    if card.crowd is None:
        return ()
    step = card.survey.release if card.survey else None
    return in_a_crowd(card.crowd, card.oracle.epsilon), TWO_LOOKS if step is None else _STEPS.format(step)


TWO_LOOKS = (
    "Readers who may look at the results more than once can subtract two looks. For them, only those who answered in "
    "between are a crowd."
)


_STEPS = (
    "Results are shown in steps of at least {:,} answers. A reader who looks twice still sees a crowd of that size."
)


def short(delta: float) -> str:
    """Write a small probability with two digits.

    >>> short(2e-7), short(1.25e-12)
    ('2e-7', '1.2e-12')
    """
    digits, _, power = f"{delta:.2g}".partition("e")
    return f"{digits}e{int(power)}" if power else digits


def in_a_crowd(crowd: Shuffled, epsilon: float) -> str:
    """Say what a crowd adds, and for whom it adds nothing."""
    share = "half" if crowd.honest == 0.5 else percent(crowd.honest)
    seen = f"For somebody who sees only published totals of at least {crowd.reports:,} answers"
    kept = f"epsilon {number(crowd.epsilon, 2, ROUND_CEILING)}, delta {short(crowd.delta)}"
    return (
        f"{seen}, of which at least {share} were given honestly: {kept}. For the collector itself: "
        f"epsilon {number(epsilon, 6)}."
    )


def number(amount: float, digits: int = 3, rounding: str = ROUND_HALF_EVEN) -> str:
    """Write a number as people do, with ``digits`` significant digits.

    >>> number(99.6, 2), number(50_000.5), number(0.00001234), number(485_165_195.4), number(1e18)
    ('100', '50,000', '0.0000123', '485 million', '1,000,000 trillion')
    """
    rounded = Context(prec=digits, rounding=rounding).create_decimal(amount)
    scale, name = next(((scale, name) for scale, name in _SCALES if rounded >= scale), (1, ""))
    return f"{(rounded / scale).normalize():,f}{name}"


def percent(share: float) -> str:
    r"""Write a share as people do; one that is not 0 or 1 is never written as if it were.

    >>> [percent(share).replace("\N{NO-BREAK SPACE}", " ") for share in (0.5, 0.00123, 1e-9, 0.99999, 1.0)]
    ['50 %', '0.123 %', 'less than 0.001 %', 'more than 99.9 %', '100 %']
    """
    if 0 < share < 0.99e-5:
        return "less than 0.001\N{NO-BREAK SPACE}%"
    if 0.9995 <= share < 1:
        return "more than 99.9\N{NO-BREAK SPACE}%"
    return f"{number(100 * share)}\N{NO-BREAK SPACE}%"


def _points(share: float) -> str:
    return percent(share).replace("%", "percentage points")


def mean_left(card: Card, reports: int) -> str:
    """Write the mean number of answers that a number of fresh reports leaves possible."""
    left = float(card.left[reports])
    return f"{left:,.0f}" if left >= 100 else number(left)


def _answers(count: int, what: str = "answer") -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _certain(card: Card) -> tuple[str, ...]:
    size = card.oracle.domain_size
    if not card.certain:
        return (f"Nothing. {'Both' if size == 2 else f'Each of the {size:,}'} answers could have given your report.",)
    if card.oracle.eta == 0:
        first = "Which group your answer is in. This is weak: answers in different groups are not protected at all."
    else:
        first = analysis(card.oracle).unprotected or "That some answers are not yours, whatever epsilon is."
    return first, f"Of {_answers(size)} it leaves {_left(card)}."


def _left(card: Card) -> str:
    mean, least = mean_left(card, 1), f"{card.least_left:,}"
    if card.left[1] == 1:
        return "only yours possible"
    if mean == least:
        return f"{least} possible" if card.left[1] == card.least_left else f"at least {least} possible"
    return f"{mean} possible on average, and {f'at least {least}' if card.least_left > 1 else 'sometimes only yours'}"


def _guessed(card: Card) -> tuple[str, ...]:
    guess = card.guess
    return (
        f"Without your report, the best guess of your answer is right in {percent(guess.before)} of all cases. "
        f"With it, in {percent(guess.after)}: {_times(guess.gain)}.",
    )


def _times(gain: float, than: str = "") -> str:
    """Return how much more often a guess is right, compared with ``than``."""
    if gain < 1.05:
        how = "hardly more often" if gain > 1 + 1e-9 else "no more often"
        return how + (f" than {than}" if than else "")
    return f"{number(gain, 2)} times as often" + (f" as {than}" if than else "")


def _repeated(card: Card) -> tuple[str, ...]:
    if card.survey is not None and card.survey.repeat in _PERIODS and not card.survey.keeps:
        return _anew(card, _PERIODS[card.survey.repeat])
    if card.first:
        return ("Your device answers once and repeats that same answer, which reveals nothing new.",)
    sent = analysis(card.oracle).sent
    lasting = lasting_epsilon(sent)
    stages = following(sent)
    if stages is not None:
        return (*_followed(stages), _fresh(card))
    if lasting == card.oracle.epsilon:
        return "Your device answers once and repeats that same answer, which reveals nothing new.", _fresh(card)
    often = card.survey.repeat if card.survey is not None and card.survey.keeps else "daily"
    return (
        f"Your device draws noise once and keeps it. Asked {often}, it adds more noise for every report.",
        f"Together, all reports made from what it keeps are at most {_ratio(lasting)} times as likely for one answer "
        f"as for another: epsilon {number(lasting)}, however many there are.",
        _fresh(card),
    )


def _followed(stages: Memoization) -> tuple[str, ...]:
    """Say what reports about a value that may change give away together, and what no epsilon covers."""
    steady, lasting = stages.steady_epsilon, stages.lasting_epsilon
    return (
        "Your device draws noise once, before you answer, and keeps it. Asked again, it adds more noise each time.",
        f"Say that your answer stays the same. Then all reports together are at most {_ratio(steady)} times as likely "
        f"for it as for another that stays: epsilon {number(steady)}, however many there are.",
        f"If it changes, they are at most {_ratio(lasting)} times as likely as for other answers whose hashes change "
        f"in the same pattern: epsilon {number(lasting)}, {stages.answers} times {number(steady)}. Your device "
        "is charged that, once.",
        "No epsilon covers whether and when your answer changed. However long somebody watches, a change can be "
        f"seen with a probability of {percent(float(stages.change_visible))}. A part of each report stays the same. So "
        "others can tell that your reports come from one device.",
    )


def _anew(card: Card, period: tuple[str, int]) -> tuple[str, ...]:
    """Say what it means that a device draws again and again: the past is not forgotten."""
    name, in_a_year = period
    epsilon, share = card.oracle.epsilon, share_text(card.oracle.eta)
    sum_of_year = number_text(in_a_year * decimal(epsilon))
    return (
        f"Your device draws a new answer each {name}, which costs epsilon {number(epsilon)} and eta {share} again; "
        f"within a {name} it repeats the same one.",
        f"The answers add up and are not forgotten: an answer that stays the same for {in_a_year} {name}s would give "
        f"away epsilon {sum_of_year}. Your device stops at your limits.",
        *(() if card.first else (_fresh(card),)),
    )


def _fresh(card: Card) -> str:
    median = card.repeats.within(0.5)
    if median == 1:
        alone = percent(float(card.repeats.known[1]))
        return f"A single answer already leaves only yours possible in {alone} of all cases, at any epsilon."
    if median is not None:
        return f"After {median} fresh answers only yours would be left in {_often(card, median)}, at any epsilon."
    share = next((share for share in (0.5, 0.9) if card.guess.after < share), None)
    if card.guess.before >= 0.9:
        return f"The best guess is right in {percent(card.guess.before)} of all cases even without your answer."
    if share is None:
        return f"A single answer is enough for a guess that is right in {percent(card.guess.after)} of all cases."
    count = card.fresh_for(share)
    if count is not None:
        often = "half of all cases" if share == 0.5 else f"{percent(share)} of all cases"
        return f"After {count} fresh answers, the best guess would be right in {often} or more."
    success = percent(float(card.averaging.success[-1]))
    return f"After {MAX_REPEATS} fresh answers, the best guess would be right in {success} of all cases."


def _often(card: Card, median: int) -> str:
    """Return in how many cases the reports leave one answer, and how many reports nearly always do."""
    most = card.repeats.within(0.99)
    if most is None or not (card.repeats.exact or card.repeats.trials >= _ENOUGH_TRIALS):
        return "half of all cases or more"
    return "99 of 100 cases" if most == median else f"half of all cases or more; after {most}, in 99 of 100"


def _numbers(card: Card) -> tuple[str, ...]:
    oracle = card.oracle
    among = "Among the answers that it does not rule out, a" if card.certain else "A"
    ratio = f"report is at most {_ratio(oracle.epsilon)} times as likely for one answer as for another."
    return (
        f"epsilon {number(oracle.epsilon, 6)}. {among} {ratio}",
        f"eta {share_text(oracle.eta)}. {_eta(card)}",
        f"Promised: {_promise(card)}.",
        *(() if card.certain else filter(None, [analysis(oracle).unprotected])),
    )


def _promise(card: Card) -> str:
    epsilon = card.oracle.epsilon
    return str(declared(card.oracle)).replace(f"{epsilon:g}", number(epsilon, 6), 1)


def _ratio(epsilon: float) -> str:
    """Write ``e^epsilon`` rounded up, since it is a bound; near 1, with the digits that tell it from 1."""
    if epsilon >= 0.5:
        return number(exp(epsilon), 3, ROUND_CEILING)
    extra = number(expm1(epsilon), 3 if epsilon >= 0.1 else 2, ROUND_CEILING)
    return "1" + extra[1:]


def _eta(card: Card) -> str:
    if card.oracle.eta == 1:
        return "Each report could come from any answer. This is plain local differential privacy."
    if card.oracle.eta == 0:
        return "Some answers have no report in common. This is weak, and much weaker than local differential privacy."
    least = "at least " if analysis(card.oracle).unprotected else ""
    common = f"{least}{share_text(card.oracle.eta)} of their reports in common"
    share = f"Any two answers have {common}; the others tell them apart for certain."
    return f"{share} 1 would be plain local differential privacy; this is weaker."


def _accuracy(card: Card) -> tuple[str, ...]:
    if card.reaches:
        one = "an answer to one question" if card.first else "an answer"
        whats = (one, "a pair of answers to two questions")
        parts = zip(whats, card.reaches, strict=False)
        known = "; ".join(f"the share of {what} to within {_points(min(1.0, reach))}" for what, reach in parts)
        return (f"Of {_answers(card.users)}, they tell {known} or better ({100 * LEVEL:.0f} % interval).",)
    return tuple(_said(deal, _known(card, deal)) for deal in card.deals)


def _known(card: Card, deal: Deal) -> str:
    users = _answers(card.users)
    if deal.reach >= 1:
        return f"{users} {'tells' if card.users == 1 else 'tell'} nothing about a single share. It takes more."
    near = _points(deal.reach)
    within = near if near.startswith("less") else f"within {near}"
    return f"of {users}, the share of a rare one is known to {within} ({100 * LEVEL:.0f} % interval)."


def _plain(card: Card) -> tuple[str, ...]:
    sentences = [_said(deal, _comparison(card, deal)) for deal in card.deals]
    return (*sentences, "Plain local privacy rules nothing out.") if card.certain else tuple(sentences)


def _comparison(card: Card, deal: Deal) -> str:
    if deal.plain_epsilon is None:
        return "no epsilon reaches it."
    return f"epsilon {number(deal.plain_epsilon)} (OUE). {_attacked(card, deal)}"


def _other(card: Card) -> tuple[str, ...]:
    return tuple(_said(deal, _needed(card, deal)) for deal in card.deals)


def _needed(card: Card, deal: Deal) -> str:
    if deal.plain_epsilon is None:
        return "no epsilon makes OUE as accurate."
    return (
        f"OUE would need epsilon {number(deal.plain_epsilon)} for the same error. "
        f"{_attacked(card, deal)}{_weaker(card, deal, deal.plain_epsilon)}"
    )


def _weaker(card: Card, deal: Deal, plain_epsilon: float) -> str:
    """Say why not OUE, where it is guessed less often: its worst report says more."""
    if deal.plain_guess is None or deal.plain_guess.gain >= card.guess.gain or plain_epsilon <= card.oracle.epsilon:
        return ""
    return (
        f" But its promise is weaker: one of its reports can be {_ratio(plain_epsilon)} times as likely for one answer "
        f"as for another, and one of yours at most {_ratio(card.oracle.epsilon)} times."
    )


def _attacked(card: Card, deal: Deal) -> str:
    """Compare the attacker's success against OUE with that against this."""
    if deal.plain_guess is None:
        return ""
    gain, ours = deal.plain_guess.gain, card.guess.gain
    better = "more often than" if gain > ours else "less often than"
    if abs(gain - ours) < 0.05 * ours:
        better = "about as often as"
    return f"With it, the best guess is right {_times(gain, 'without a report')}: {better} with yours here."


_DECODERS = {"full": "Decoded in full", "paper": "Decoded as in the paper"}


def _said(deal: Deal, text: str) -> str:
    """Return a sentence that begins with the decoder, if there are several."""
    if deal.decoder is None:
        return text[0].upper() + text[1:]
    return f"{_DECODERS.get(deal.decoder, deal.decoder)}: {text}"
