"""The attacks on an oracle together: the best guess from one report, from many, and what reports prove."""

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from fldp.data.dataframes import Columns, Framed
from fldp.numerics.types import Floats
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.oracle import Oracle, as_oracle
from fldp.oracles.base.string_oracle import listed
from fldp.privacy.bayes_attack import Averaging, Guess, averaging, bayes, draws_of, most_of
from fldp.privacy.elimination_attack import Repeats
from fldp.privacy.elimination_attack import repeats as until_known
from fldp.randomness.stream import Stream
from fldp.support.display import Displayed
from fldp.support.progress import Progress, ignore
from fldp.support.validation import fail
from fldp.survey.survey import Survey

_MAX_DRAWS, _MIN_DRAWS = 2000, 100
_WORK = 1 << 28  # likelihoods that the attack on many reports may compute: a few seconds


@dataclass(frozen=True)
class Attack(Framed, Displayed):
    """What attackers achieve against one oracle.

    ``guess`` is the best guess after one report, ``averaging`` after growing numbers of independent reports of one
    value, and ``repeats`` how many of them leave no other value possible. ``print`` says what ``fldp attack`` prints.

    >>> import fldp
    >>> fldp.attack(fldp.GRR(epsilon=1.0, domain_size=5), repeats=4, draws=100, rng=7)
    <attack on GRR(epsilon=1.0, domain_size=5): the best guess is right in 40.5 %>
    """

    guess: Guess
    repeats: Repeats
    averaging: Averaging

    @property
    def oracle(self) -> FrequencyOracle:
        """The oracle that was attacked."""
        return self.guess.oracle

    @property
    def certain(self) -> Floats:
        """The probability that the value is known for certain, for each number of reports of ``averaging``."""
        return np.asarray(self.repeats.known[np.minimum(self.averaging.reports, len(self.repeats.known) - 1)])

    def _columns(self) -> Columns:
        many = self.averaging
        return {
            "reports": many.reports,
            "success": many.success,
            "stderr": many.stderr,
            "certain": self.certain,
            "repeated": np.full(len(many.reports), self.guess.after),
        }

    def __repr__(self) -> str:
        return f"<attack on {self.oracle!r}: the best guess is right in {100 * self.guess.after:.3g} %>"


def attack(
    subject: Oracle | Survey,
    prior: ArrayLike | None = None,
    *,
    repeats: int = 64,
    draws: int | None = None,
    rng: int | Stream | None = None,
    progress: Progress | None = None,
) -> Attack:
    """Attack an oracle, or the oracle of a survey: how often a guess is right after one report, and after many.

    ``prior`` is what the attacker knows beforehand, a count or a probability for every value; None is uniform. Up to
    ``repeats`` independent reports of one value are attacked. What cannot be enumerated is simulated with ``draws``
    people, 2,000 unless given, and fewer on large domains. ``progress`` is called with each finished share of the work.

    >>> import fldp
    >>> fhr = attack(fldp.FHR(epsilon=1.0, domain_size=7), repeats=8, draws=200, rng=7)
    >>> round(fhr.guess.before, 2), round(fhr.guess.after, 2), fhr.repeats.within(0.5)
    (0.14, 0.34, 4)
    """
    oracle, most = _attacked(subject), most_of("attack", "repeats", repeats)
    people = _affordable(oracle, most) if draws is None else draws_of("attack", "draws", draws)
    advance = progress or ignore
    guess = bayes(oracle, prior, draws=people, rng=rng)
    advance(0.1)
    known = until_known(oracle, trials=people, rng=rng)
    advance(0.1)
    drawn = partial(_share_of, advance, 0.8 / (people * most))
    return Attack(guess, known, averaging(oracle, prior, most=most, trials=people, rng=rng, progress=drawn))


def _attacked(subject: object) -> FrequencyOracle:
    oracle = as_oracle(subject.oracle if isinstance(subject, Survey) else subject)
    if oracle is None:
        raise fail("attack", "subject", "an oracle or a survey", subject)
    return listed("attack", oracle)


def _affordable(oracle: FrequencyOracle, most: int) -> int:
    """Return how many people can be simulated in a few seconds."""
    return min(_MAX_DRAWS, max(_MIN_DRAWS, _WORK // (oracle.domain_size * most)))


def _share_of(advance: Progress, share: float, reports: int) -> None:
    advance(share * reports)
