"""The privacy card: what a report gives away, in numbers for people."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from numpy.typing import ArrayLike

from fldp.data.comparison import z_score
from fldp.errors import ParameterError
from fldp.estimation.expected_error import even_error, plain_epsilon_of, users_constraint
from fldp.estimation.question_planner import planned
from fldp.oracles.base.analysis import analysis
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.oracle import Oracle, as_oracle
from fldp.oracles.plain.unary import OUE
from fldp.oracles.shuffle_privacy import Shuffled, crowd_of
from fldp.privacy.bayes_attack import Averaging, Guess, averaging, bayes
from fldp.privacy.elimination_attack import Repeats, repeats
from fldp.privacy.verifier import verifiable, verify
from fldp.randomness.stream import Stream
from fldp.support.display import Displayed, drawing
from fldp.support.progress import Progress, ignore
from fldp.support.validation import fail
from fldp.survey.survey import Survey

LEVEL = 0.95
MAX_REPEATS = 64
_WORK = 1 << 26  # likelihoods that an attack may compute: a few seconds
_MAX_TRIALS, _MIN_TRIALS = 1000, 24  # few on large domains; standard errors show it


@dataclass(frozen=True)
class Deal:
    """One decoder: its accuracy, and plain LDP of the same accuracy.

    ``reach`` is half the length of the 95 % interval of the share of a value that nobody holds, if all others are
    equally frequent; for Grouped, of a value with the largest error. ``plain_epsilon`` is the epsilon at which OUE has
    the same error, and ``plain_guess`` the attacker's success against that OUE; None if there is none.
    """

    decoder: str | None
    reach: float
    plain_epsilon: float | None
    plain_guess: Guess | None


@dataclass(frozen=True)
class Card(Displayed):
    """What one report gives away, and how accurate the estimates from many are.

    ``left[k]`` is the mean number of values that ``k`` independent reports of one value leave possible, exactly.
    ``least_left`` is the least that one report can leave. ``print`` and ``text`` say it in words, as ``fldp card``
    does; ``html`` is a page with pictures. ``crowd`` is what being one of many adds, where that may be told.

    >>> import fldp
    >>> card = fldp.card(fldp.RR(epsilon=1.0), users=100)
    >>> card, card.certain
    (<card of RR(epsilon=1.0) with 100 users>, False)
    """

    oracle: FrequencyOracle
    survey: Survey | None
    users: int
    guess: Guess
    least_left: int
    left: tuple[Fraction, ...]
    repeats: Repeats
    averaging: Averaging
    deals: tuple[Deal, ...]
    crowd: Shuffled | None = None
    first: tuple[str, ...] = ()  # what to know before the rest, where several questions are asked
    reaches: tuple[float, ...] = ()  # of several questions: of a share of one, and of two together

    @property
    def certain(self) -> bool:
        """Whether a report rules anything out for certain."""
        return self.least_left < self.oracle.domain_size

    def fresh_for(self, share: float) -> int | None:
        """Return after how many fresh reports the best guess is right with probability ``share``; None above 64."""
        if self.guess.after >= share:
            return 1
        later = self.averaging.reports > 1  # a simulated success on one report may lie above the exact one
        enough = self.averaging.reports[later & (self.averaging.success >= share)]
        return int(enough[0]) if len(enough) else None

    def text(self, width: int = 88) -> str:
        """Return the card in words, in lines of at most ``width`` characters.

        >>> import fldp
        >>> print(fldp.card(fldp.RR(epsilon=1.0), users=100).text(width=60))
        RR, 2 values
        ============
        <BLANKLINE>
        What your report says for certain
          Nothing. Both answers could have given your report.
        ...
        """
        text: str = drawing().card_text(self, width)
        return text

    def html(self) -> str:
        """Return the card as a page of its own, with pictures; needs the extra ``plot``."""
        page: str = drawing().card_page(self)
        return page

    def __repr__(self) -> str:
        return f"<card of {self.oracle!r} with {self.users} users>"


def card(
    subject: Oracle | Survey,
    *,
    users: int,
    prior: ArrayLike | None = None,
    rng: int | Stream | None = None,
    progress: Progress | None = None,
) -> Card:
    """Return the privacy card of an oracle or a survey with this many users.

    ``prior`` is the attacker's prior knowledge, a number for each value; None is uniform. Attacks on large domains are
    simulated; ``progress`` is called with each finished share of the work.

    >>> import fldp
    >>> fhr = card(fldp.FHR(epsilon=1.0, domain_size=7), users=10_000, rng=7)
    >>> fhr.least_left, fhr.left[1], round(fhr.guess.gain, 2), round(fhr.deals[0].plain_epsilon, 2)
    (4, Fraction(4, 1), 2.36, 2.03)
    """
    survey = subject if isinstance(subject, Survey) else None
    asked = as_oracle(subject.oracle if isinstance(subject, Survey) else subject)
    if asked is None:
        raise fail("card", "subject", "an oracle or a survey", subject)
    oracle = analysis(asked).explained
    users_constraint("card", "users", users)
    advance, stream = progress or ignore, Stream.of(rng)
    guess = _guess(oracle, prior, stream)
    advance(0.1)
    known = _repeats(oracle, stream)
    advance(0.3)
    averaged = averaging(oracle, prior, most=MAX_REPEATS, trials=_trials(oracle, MAX_REPEATS), rng=stream)
    advance(0.4)
    several = analysis(asked).answers is not None
    decoders = () if several else oracle.estimator.decoders or (None,)
    deals = tuple(_deal(oracle, decoder, users, prior, stream) for decoder in decoders)
    advance(0.2)
    left = values_left(oracle, MAX_REPEATS)
    crowd = None if several else _crowd(oracle, survey, users)
    first = analysis(asked).in_short
    reaches = _reaches(asked, users) if several else ()
    return Card(oracle, survey, users, guess, oracle.anonymity, left, known, averaged, deals, crowd, first, reaches)


def _crowd(oracle: FrequencyOracle, survey: Survey | None, users: int) -> Shuffled | None:
    """Return what being one of many adds; nothing is said where people answer again, or tickets decide a part."""
    if survey is not None and (survey.repeat != "once" or (survey.derives and survey.pass_terms is None)):
        return None
    step = survey.release if survey is not None else None
    return crowd_of(oracle, users if step is None else min(users, step))  # who looks twice sees a step


def _reaches(oracle: Oracle, users: int) -> tuple[float, ...]:
    """Return half the 95 % interval of a share of one question, and of two together where any are: the largest."""
    expected = planned(oracle, users)
    sizes = sorted({len(table) for table in expected.tables})
    return tuple(
        z_score(LEVEL) * max(expected.stderr(table) for table in expected.tables if len(table) == size)
        for size in sizes
    )


def _trials(oracle: FrequencyOracle, reports: int) -> int:
    """Return how many users to draw, within the work allowed; the attack on one report gets a quarter of it."""
    most, work = (10 * _MAX_TRIALS, _WORK // 4) if reports == 1 else (_MAX_TRIALS, _WORK)
    return max(_MIN_TRIALS, min(most, work // (reports * oracle.domain_size)))


def _repeats(oracle: FrequencyOracle, stream: Stream) -> Repeats:
    quick = analysis(oracle).parities() is not None  # elimination does not look at all values
    return repeats(oracle, trials=_MAX_TRIALS if quick else _trials(oracle, MAX_REPEATS), rng=stream)


def _guess(oracle: FrequencyOracle, prior: Any, stream: Stream) -> Guess:
    return bayes(oracle, prior, draws=_trials(oracle, 1), rng=stream)


def _deal(oracle: FrequencyOracle, decoder: str | None, users: int, prior: Any, stream: Stream) -> Deal:
    error = even_error(oracle, users, decoder)
    reach, epsilon = z_score(LEVEL) * error, plain_epsilon_of(error, users)
    try:
        plain = OUE(epsilon=epsilon, domain_size=oracle.domain_size)
    except ParameterError:
        return Deal(decoder, reach, None, None)
    return Deal(decoder, reach, epsilon, _guess(plain, prior, stream))


def values_left(oracle: FrequencyOracle, most: int) -> tuple[Fraction, ...]:
    """Return the mean number of values that 0, 1, ... independent reports of one value leave possible.

    Another value survives each report with the probability that it shares it; values are equally frequent. If an oracle
    cannot be verified at its size, these probabilities come from a small domain.

    >>> import fldp
    >>> [float(left) for left in values_left(fldp.FHR(epsilon=1.0, domain_size=1023), 3)]
    [1023.0, 512.0, 256.5, 128.75]
    """
    size, shares = oracle.domain_size, _shares(oracle)
    survive = [sum((share**k * weight for share, weight in shares.items()), Fraction(0)) for k in range(most + 1)]
    return tuple(1 + (size - 1) * part for part in survive)


def _shares(oracle: FrequencyOracle) -> dict[Fraction, Fraction]:
    """Return the shared probability mass of two values, and the share of pairs that have it."""
    size = oracle.domain_size
    if oracle.anonymity == size:
        return {Fraction(1): Fraction(1)}
    return analysis(oracle).overlaps() or dict(verify(verifiable(oracle)).overlaps)
