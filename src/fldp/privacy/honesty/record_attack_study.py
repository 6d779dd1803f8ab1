"""Measured attacks on several questions in one report: what fakes that choose its view add to the cells of a table."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fldp.data.reports import Reports, Tally
from fldp.oracles.base.strategy import TargetCells
from fldp.oracles.base.ticket_words import can_derive
from fldp.oracles.sampled.sampled import Sampled, of_questions
from fldp.oracles.sampled.sampled_fakes import wanted
from fldp.oracles.sampled.tables import Tables
from fldp.privacy.honesty import integrity
from fldp.privacy.honesty.attack_study import AttackOutcome, fakes_among, zipf
from fldp.privacy.poisoning.attackers import ATTACKS, leverage, poison
from fldp.randomness.stream import Stream
from fldp.support.progress import Progress, ignore

_WAYS = ((ATTACKS[0], False), (ATTACKS[0], True), (ATTACKS[1], False), (ATTACKS[2], False))


def record_outcomes(
    oracle: Sampled,
    cells: TargetCells,
    *,
    users: int = 50_000,
    share: float = 0.05,
    rng: int = 0,
    progress: Progress = ignore,
) -> Iterator[AttackOutcome]:
    """Yield what every attack adds to the cells of a table, of people whose answers do not go together.

    The expected gain counts in that fakes crowd into a view: it is what estimates without noise would show.

    >>> import fldp
    >>> oracle = fldp.Sampled(epsilon=1.0, answers=[3, 2, 2], views=2)
    >>> measured = list(record_outcomes(oracle, {0: [1], 1: [0]}, users=2000, share=0.01))
    >>> [(one.attack, one.tickets, round(one.leverage, 1)) for one in measured][:2]
    [('maximal-gain', False, 6.2), ('maximal-gain', True, 3.7)]
    """
    fakes = fakes_among(users, share)
    rows = _people(oracle, users - fakes, rng)
    stream = Stream(rng).child(oracle.name)
    honest = oracle.privatize(rows, rng=stream)
    for attack, tickets in _WAYS:
        if not tickets or can_derive(oracle):
            fake = poison(oracle, cells, fakes, attack=attack, tickets=tickets, rng=stream.child(attack, int(tickets)))
            yield _outcome(rows, (honest, fake), cells, (attack, tickets))
        progress(1)


def rarest_cell(oracle: Sampled) -> dict[int, list[int]]:
    """Return the first cell of the view that is drawn least often: there a fake counts most.

    >>> import fldp
    >>> rarest_cell(fldp.Sampled(epsilon=1.0, answers=[3, 2], views=[[0], [1], [0, 1]], weights=[2, 3, 1]))
    {0: [0], 1: [0]}
    """
    views, weights = oracle.design.views, oracle.design.weights
    rarest = min(range(len(weights)), key=weights.__getitem__)
    return {question: [0] for question in views[rarest].questions}


def _people(oracle: Sampled, count: int, rng: int) -> NDArray[np.int64]:
    """Return the answers of people: to each question in proportion to ``1/(v+1)``, without any association."""
    generator = np.random.default_rng(rng)
    columns = [generator.permutation(np.repeat(np.arange(size), zipf(count, size))) for size in oracle.answers]
    return np.stack(columns, axis=1)


def _outcome(
    rows: NDArray[np.int64], sent: tuple[Reports, Reports], cells: TargetCells, way: tuple[str, bool]
) -> AttackOutcome:
    honest, fake = sent
    oracle, users = of_questions("poison", honest.oracle), len(honest) + len(fake)
    every = Reports.concatenate([honest, fake])
    tally, fakes = oracle.tally(every), oracle.tally(fake)
    weights, questions = wanted(oracle, cells), tuple(sorted(cells))
    held = float(np.all([np.isin(rows[:, a], cells[a]) for a in questions], axis=0).mean())
    estimated, variance = oracle.estimate(tally).linear(questions, weights)
    without_noise = expected_tables(oracle, rows, fakes).linear(questions, weights)[0]
    return AttackOutcome(
        oracle,
        *way,
        len(fake) / users,
        leverage(oracle, cells, attack=way[0], tickets=way[1]),
        without_noise - held,
        estimated - held,
        float(np.sqrt(variance)),
        tuple(finding.test for finding in integrity(every).flagged),
        tuple(finding.test for finding in integrity(tally).flagged),
    )


def expected_tables(oracle: Sampled, rows: NDArray[np.int64], fakes: Tally) -> Tables:
    """Return the tables of people and fakes if neither the reports of people nor their views had any noise."""
    mixed, people = [], []
    weights, views, parts = oracle.design.weights, oracle.design.views, oracle.estimator.split(fakes)
    for weight, shown, member, part in zip(weights, views, oracle.members, parts, strict=True):
        honest = round(len(rows) * weight / sum(weights))
        shares = np.bincount(shown.values(rows), minlength=shown.size) / len(rows)
        added = member.estimator.decode(part) if part.n else 0.0
        mixed.append((honest * shares + added) / max(1, honest + part.n))
        people.append(honest + part.n)
    return replace(oracle.estimate(fakes), n=sum(people), people=tuple(people), decoded=tuple(mixed))
