"""poison: reports of fake users who promote values of their choice, and what they gain."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from fldp.data.reports import Reports
from fldp.data.values import as_values, shown
from fldp.errors import DomainError, ParameterError
from fldp.oracles.base.analysis import analysis
from fldp.oracles.base.oracle import Oracle
from fldp.oracles.base.strategy import Strategy, TargetCells, Targets
from fldp.oracles.base.string_oracle import listed
from fldp.randomness.stream import Stream
from fldp.support.validation import fail, integer, one_of

AskedTargets = int | str | Iterable[int | str] | Mapping[int, int | Iterable[int]]
ATTACKS = ("maximal-gain", "random-item", "random-report")


def poison(
    oracle: Oracle,
    targets: AskedTargets,
    users: int,
    *,
    attack: str = "maximal-gain",
    tickets: bool = False,
    rng: int | Stream | None = None,
) -> Reports:
    """Return the reports of fake users who promote a set of target values.

    ``"maximal-gain"`` sends what adds most to the estimates of the targets, ``"random-item"`` the honest report of a
    target, ``"random-report"`` any report. With ``tickets``, masks and hash seeds are not theirs to choose (see
    ``fldp.oracles.base.ticket_words``); where a report has neither, that changes nothing. An oracle over strings is
    given among the candidates that estimates are asked for, and targets are some of these. Of several questions,
    targets are the answers that a cell of a table has: ``{0: 2, 3: [1, 4]}``; with ``tickets`` the ticket decides what
    a report is about.

    >>> import fldp
    >>> oracle = fldp.OUE(epsilon=1.0, domain_size=100)
    >>> fake = poison(oracle, [7, 8], 1000, rng=7)
    >>> oracle.estimate(oracle.tally(fake)).counts[[7, 8]].round()
    array([3164., 3164.])
    >>> oracle = fldp.HCMS(epsilon=1.0, hashes=64, width=64).among(["firefox", "chrome", "safari"])
    >>> fake = poison(oracle, ["safari"], 1000, rng=7)
    >>> oracle.estimate(oracle.tally(fake)).counts[2].round()
    np.float64(2182.0)
    """
    known, chosen = _checked(oracle, targets)
    count = integer(0, 1 << 32)("poison", "users", users)
    one_of(*ATTACKS)("poison", "attack", attack)
    stream = Stream.of(rng)
    generator = np.random.Generator(np.random.PCG64(stream.words(4).tolist()))
    if attack == "random-item":
        return known.privatize(_holders(known, chosen, count, generator), rng=stream)
    plan = _strategy(known, chosen)
    if attack == "random-report":
        return Reports(known, plan.blind(count, generator))
    if tickets and known.report_format.public_words:
        honest = known.privatize(np.zeros(count, np.int64), rng=stream)
        return Reports(known, plan.best_given(honest.data))
    return Reports(known, plan.craft(count, generator))


def leverage(oracle: Oracle, targets: AskedTargets, *, attack: str = "maximal-gain", tickets: bool = False) -> float:
    """Return how many honest holders of a target one fake user counts for, on average.

    It is exact, except for FWR with tickets on a large domain, where it is a mean over 16,384 draws of masks. For OLH
    without tickets it assumes a seed under which all targets have one symbol. For CMS and HCMS it is conditional on
    their hash functions, so an honest report of a target can count for a little more or less than 1. Of several
    questions it holds for a few fakes among many people, since each of many fakes in one view counts for less.

    >>> import fldp
    >>> oracle = fldp.OLH(epsilon=1.0, domain_size=100)
    >>> [round(leverage(oracle, [1, 2, 3, 4, 5], tickets=tickets), 2) for tickets in (False, True)]
    [16.64, 5.46]
    >>> leverage(oracle, [1, 2], attack="random-item")
    1.0
    >>> oracle = fldp.Sampled(epsilon=1.0, answers=[4] * 10, views=2)
    >>> [round(leverage(oracle, {0: 1, 1: 2}, tickets=tickets), 1) for tickets in (False, True)]
    [140.5, 8.7]
    """
    plan = _strategy(*_checked(oracle, targets))
    one_of(*ATTACKS)("leverage", "attack", attack)
    if attack == "random-item":
        return plan.honest_mean()
    if attack == "random-report":
        return plan.blind_mean()
    return plan.best_on_average() if tickets else plan.best()


def gain(share: float, leverage: float, held: float = 0.0) -> float:
    """Return how much the targets' estimated share of all users grows, if this share of users is fake.

    ``held`` is the share of honest users who hold a target, some of whom the fakes displace.

    >>> round(gain(0.05, 16.64, held=0.1), 3)
    0.827
    """
    if not 0 <= share <= 1:
        raise fail("gain", "share", "a share of all users, from 0 to 1", share)
    return float(share) * (leverage - held)


def _strategy(oracle: Oracle, targets: Targets | TargetCells) -> Strategy:
    about = analysis(oracle)
    known = about.fakes_in(targets) if isinstance(targets, Mapping) else about.fakes(targets)
    if known is None:
        rule = f"no strategy is registered for {oracle.title}: its best fake reports are not known"
        raise ParameterError(f"poison: {rule}")
    return known


def _holders(oracle: Oracle, targets: Targets | TargetCells, count: int, generator: np.random.Generator) -> Targets:
    """Return values of people who hold a target; their answers to other questions are any."""
    if not isinstance(targets, Mapping):
        return np.asarray(generator.choice(targets, count))
    sizes = analysis(oracle).answers
    assert sizes is not None
    rows = [generator.choice(targets.get(question, range(size)), count) for question, size in enumerate(sizes)]
    return np.stack(rows, axis=1)


def _checked(oracle: Oracle, targets: AskedTargets) -> tuple[Oracle, Targets | TargetCells]:
    """Return the oracle over values that targets are some of, and these; cells of a table where values are records."""
    sizes = analysis(oracle).answers
    if sizes is not None:
        return oracle, _cells(sizes, targets)
    known = listed("poison", oracle)
    asked = list(targets) if isinstance(targets, Iterable) and not isinstance(targets, str) else [targets]
    if not asked:
        raise DomainError("poison: name at least one target")
    candidates = analysis(known).candidates
    if candidates is not None and any(isinstance(target, str) for target in asked):
        asked = [_number(candidates, target) for target in asked]
    return known, np.unique(as_values("poison", asked, known.domain_size, secret=False)).astype(np.int64)


def _cells(sizes: Sequence[int], targets: AskedTargets) -> TargetCells:
    if not isinstance(targets, Mapping) or not targets:
        raise ParameterError("poison: of several questions, targets are answers by question, such as {0: 2, 3: [1, 4]}")
    questions = [integer(0, len(sizes) - 1)("poison", "a question", question) for question in targets]
    answers = (list(few) if isinstance(few, Iterable) else [few] for few in targets.values())
    pairs = zip(questions, answers, strict=True)
    cells = {
        question: np.unique(as_values("poison", few, sizes[question], secret=False)).tolist() for question, few in pairs
    }
    return dict(sorted(cells.items()))


def _number(candidates: Sequence[str], target: Any) -> int:
    if target not in candidates:
        raise DomainError(f"poison: targets must be some of the candidates, got {shown(target)}")
    return candidates.index(target)
