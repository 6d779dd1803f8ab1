"""Admission by itself: what it decides, and that nothing of what it writes tells in which order requests came."""

import itertools

import numpy as np
import pytest

import fldp
from fldp.collector.storage.admission import Admission
from fldp.collector.storage.protocol import (
    REPORTS,
    TAKEN_REPORTS,
    TAKEN_TALLY,
    TALLY,
    Admitted,
    KnownKey,
    PassOrder,
    Submission,
    SubmissionResult,
    SubmittedRow,
    Withdrawal,
    day_hash,
)

ORACLE = fldp.GRR(epsilon=1.0, domain_size=5)
DAY, BEFORE = "2026-11-16", "2026-11-15"
TICKET, SPENT, UNKNOWN = b"ticket", b"spent", b"unknown"


def reports(*symbols):
    return fldp.Reports(ORACLE, np.array(symbols, np.uint8))


def admission(known=None, **more):
    """An admission to surveys 1 to 3, of which 3 is closed; one ticket is there, and one is spent."""
    facts = {
        "known": lambda survey, key: (known or {}).get((survey, key)),
        "closed": {1: False, 2: False, 3: True}.get,
        "spent": lambda _, ticket: {TICKET: False, SPENT: True}.get(ticket),
        "days": lambda _: (BEFORE,),
        "held": lambda _, __: (),
    }
    return Admission(DAY, **facts | more)


def submitted(survey, name, *symbols, **more):
    return Submission(survey, name, name, reports(*symbols), **more)


def taking(name, known=True, **more):
    """A withdrawal of one report of survey 1, which was counted the day before under the same key."""
    return Withdrawal(1, name, name, reports(2), secret=b"key" if known else b"", **more)


def of_yesterday(name=b"a"):
    return {(1, name): KnownKey(name, 1, day_hash(b"key", BEFORE))}


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_no_order_of_arrival_is_left(order):
    several = reports(4, 1, 3)
    rows = [SubmittedRow(1, name, name, b"", (several, row)) for name, row in ((b"c", 0), (b"d", 2))]
    requests = [submitted(2, b"b", 2), submitted(1, b"a", 0), *rows]
    deciding = admission()
    for place in order:
        assert deciding.admit(requests[place]).verdict is Admitted.ACCEPTED
    assert [key[:2] for key in deciding.keys] == [(1, b"a"), (1, b"c"), (1, b"d"), (2, b"b")]
    written = [(survey, day, part.kind, part.n, part.data) for survey, day, part in deciding.segments()]
    alone = admission()
    alone.admit(submitted(1, b"x", 0, 3, 4))
    alone.admit(submitted(2, b"y", 2))
    assert written == [(survey, day, part.kind, part.n, part.data) for survey, day, part in alone.segments()]
    assert [(survey, n) for survey, _, _, n, _ in written] == [(1, 3), (2, 1)]


def test_what_is_taken_out_is_sorted_by_its_surveys_and_days():
    known = {(number, b"k"): KnownKey(b"k", 1, day_hash(b"key", BEFORE)) for number in (1, 2)}
    known |= {(number, b"t"): KnownKey(b"t", 1, day_hash(b"key", DAY)) for number in (1, 2)}
    deciding = admission(known)
    for number, name in ((2, b"t"), (2, b"k"), (1, b"t"), (1, b"k")):
        taken = deciding.admit(Withdrawal(number, name, name, reports(2), secret=b"key"))
        assert (taken.verdict, taken.accepted) == (Admitted.WITHDRAWN, 1)
    assert [(survey, day, part.kind, part.n) for survey, day, part in deciding.segments()] == [
        (1, BEFORE, TAKEN_REPORTS, -1),
        (1, DAY, TAKEN_REPORTS, -1),
        (2, BEFORE, TAKEN_REPORTS, -1),
        (2, DAY, TAKEN_REPORTS, -1),
    ]
    assert deciding.keys == []
    assert [(*mark[:2], mark[5]) for mark in deciding.marks] == [(*place, 1) for place in sorted(known)]


def tallied(name, *symbols, **more):
    return Submission(1, name, name, ORACLE.tally(reports(*symbols)), tallied=True, **more)


def test_all_that_comes_together_is_one_tally_where_a_batch_is_tallied():
    deciding = admission()
    row = SubmittedRow(1, b"r", b"r", b"", (reports(4, 4), 0))
    merged = Submission(1, b"m", b"m", ORACLE.tally(reports(0)), day=BEFORE)
    for new in (tallied(b"a", 1, 2), submitted(1, b"b", 2), row, merged, tallied(b"c", 3), submitted(2, b"d", 1)):
        assert deciding.admit(new).verdict is Admitted.ACCEPTED
    placed = deciding.segments()
    assert [(survey, day, part.kind, part.n) for survey, day, part in placed] == [
        (1, BEFORE, TALLY, 1),
        (1, DAY, TALLY, 5),
        (2, DAY, REPORTS, 1),
    ]
    assert np.frombuffer(placed[1][2].data, "<i8").tolist() == [0, 1, 2, 1, 1]


def test_all_tallied_batches_of_a_day_are_taken_out_together():
    names = (b"a", b"b", b"c")
    known = {(1, name): KnownKey(name, 1, day_hash(b"key", BEFORE)) for name in names}
    deciding = admission(known)
    for name in names:
        more = {"tallied": name != b"c"}  # the last is a tally of another collector
        taken = Withdrawal(1, name, name, ORACLE.tally(reports(2)), secret=b"key", **more)
        assert deciding.admit(taken).verdict is Admitted.WITHDRAWN
    assert [(day, part.kind, part.n) for _, day, part in deciding.segments()] == [
        (BEFORE, TAKEN_TALLY, -1),
        (BEFORE, TAKEN_TALLY, -2),
    ]


@pytest.mark.parametrize(
    ("new", "verdict"),
    [
        (submitted(9, b"a", 1), Admitted.GONE),
        (submitted(3, b"a", 1), Admitted.CLOSED),
        (submitted(1, b"a", 1, closed=True), Admitted.CLOSED),
        (Submission(3, b"a", b"a", ORACLE.tally(reports(1))), Admitted.ACCEPTED),  # a tally of another collector
        (Submission(3, b"a", b"a", ORACLE.tally(reports(1)), closed=True), Admitted.CLOSED),
        (
            Submission(3, b"a", b"a", ORACLE.tally(reports(1)), tallied=True),
            Admitted.CLOSED,
        ),  # it was a batch of reports
        (submitted(1, b"a", 1, ticket=TICKET), Admitted.ACCEPTED),
        (submitted(1, b"a", 1, ticket=SPENT), Admitted.SPENT),
        (submitted(1, b"a", 1, ticket=UNKNOWN), Admitted.SPENT),
        (submitted(1, b"a", ticket=SPENT), Admitted.ACCEPTED),  # nothing costs nothing
        (PassOrder(1, b"a", b"a", reports(), ticket=SPENT), Admitted.SPENT),
        (PassOrder(1, b"a", b"a", reports(), ticket=TICKET), Admitted.ACCEPTED),
        (submitted(1, b"a", 1, ticket=UNKNOWN, is_pass=True), Admitted.ACCEPTED),
        (submitted(1, b"a", 1, ticket=SPENT, is_pass=True), Admitted.SPENT),
        (submitted(1, b"a", 1, ticket=TICKET, is_pass=True), Admitted.SPENT),
        (Withdrawal(9, b"a", b"a", reports(1)), Admitted.GONE),
        (taking(b"a"), Admitted.WITHDRAWN),
        (taking(b"a", needs_ticket=True), Admitted.UNTICKETED),
        (taking(b"a", needs_ticket=True, ticket=SPENT), Admitted.SPENT),
        (taking(b"a", needs_ticket=True, ticket=TICKET), Admitted.WITHDRAWN),
        (taking(b"a", ticket=SPENT), Admitted.WITHDRAWN),
    ],
)
def test_what_nothing_is_known_of(new, verdict):
    deciding = admission()
    result = deciding.admit(new)
    accepted = new.n if verdict is Admitted.ACCEPTED else 0
    assert (result.verdict, result.accepted) == (verdict, accepted)
    is_noted = verdict in (Admitted.ACCEPTED, Admitted.WITHDRAWN)
    assert [key[:2] for key in deciding.keys] == [(new.survey, new.key)] * is_noted
    counted = sum(part.n for _, _, part in deciding.segments())
    assert counted == (accepted if new.counts and not isinstance(new, Withdrawal) else 0)
    assert (deciding.tickets, deciding.passes) == (
        [(1, TICKET)] if is_noted and new.ticket == TICKET else [],
        [(1, UNKNOWN)] if is_noted and new.is_pass else [],
    )


def test_what_is_known_is_answered_as_before_whatever_became_of_the_survey():
    known = {(3, b"a"): KnownKey(b"a", 7), (3, b"b"): KnownKey(b"b", 7, None, 1)}
    for new, expected in (
        (submitted(3, b"a", 1, ticket=SPENT), (Admitted.REPEATED, 7)),
        (Submission(3, b"a", b"other", reports(1)), (Admitted.CONFLICT, 0)),
        (submitted(3, b"b", 1), (Admitted.WITHDRAWN, 0)),
        (Withdrawal(3, b"b", b"b", reports(1)), (Admitted.WITHDRAWN, 7)),
        (Withdrawal(3, b"b", b"other", reports(1)), (Admitted.CONFLICT, 0)),
    ):
        deciding = admission(known)
        result = deciding.admit(new)
        assert (result.verdict, result.accepted) == expected
        assert deciding.keys == deciding.marks == deciding.segments() == []


def test_a_key_counts_once_and_is_taken_back_once_in_one_commit():
    deciding = admission()
    new = Submission(1, b"a", b"a", reports(2), secret=b"key")
    verdicts = [deciding.admit(each) for each in (new, new, taking(b"a"), taking(b"a"), new)]
    assert [(result.verdict, result.accepted) for result in verdicts] == [
        (Admitted.ACCEPTED, 1),
        (Admitted.REPEATED, 1),
        (Admitted.WITHDRAWN, 1),
        (Admitted.WITHDRAWN, 1),
        (Admitted.WITHDRAWN, 0),
    ]
    assert [(part.kind, part.n, day) for _, day, part in deciding.segments()] == [
        (REPORTS, 1, DAY),
        (TAKEN_REPORTS, -1, DAY),
    ]
    assert ([key[5] for key in deciding.keys], deciding.marks) == ([1], [])


def test_the_day_is_that_whose_hash_is_stored():
    deciding = admission(of_yesterday())
    assert deciding.admit(taking(b"a")).verdict is Admitted.WITHDRAWN
    assert [day for _, day, _ in deciding.segments()] == [BEFORE]
    lost = admission(of_yesterday(), days=lambda _: ())  # the day is deleted
    assert lost.admit(taking(b"a")).verdict is Admitted.UNDATED
    assert lost.marks == lost.segments() == []


def test_without_a_hash_the_day_that_is_named_must_hold_the_reports():
    (row,) = (part for _, _, part in _counted(2, 2))
    known = {(1, name): KnownKey(name, 1) for name in (b"a", b"b", b"c", b"d")}
    deciding = admission(known, held=lambda _, day: [row] if day == BEFORE else [])
    wanted = [taking(name, known=False, day=day) for name, day in ((b"a", None), (b"b", DAY))]
    assert [deciding.admit(new).verdict for new in wanted] == [Admitted.UNDATED] * 2
    wanted = [taking(name, known=False, day=BEFORE) for name in (b"b", b"c", b"d")]
    verdicts = [deciding.admit(new).verdict for new in wanted]
    assert verdicts == [Admitted.WITHDRAWN, Admitted.WITHDRAWN, Admitted.UNDATED]  # there were two
    assert [(day, part.n) for _, day, part in deciding.segments()] == [(BEFORE, -2)]


def _counted(*symbols):
    deciding = admission()
    deciding.admit(submitted(1, b"x", *symbols))
    return deciding.segments()


def test_as_many_are_accepted_as_came():
    deciding = admission()
    results = [deciding.admit(submitted(1, bytes([count]), *[0] * count)) for count in (1, 2, 3)]
    assert results == [SubmissionResult(Admitted.ACCEPTED, count) for count in (1, 2, 3)]
