"""Tickets that decide what is public in a report: in Python, in JavaScript, and at the collector."""

import numpy as np
import pytest

import fldp
from fldp import Participant, Survey, wire
from fldp.errors import FldpError
from fldp.oracles.base import ticket_words
from fldp.oracles.kit import analysis
from fldp.participant_store import MemoryStore
from fldp.privacy import Verification, verify
from fldp.privacy.poisoning import poison
from support.collector_app import collector, play  # noqa: F401
from support.collector_server import key, specification
from support.javascript import ask
from support.publishing import publish

OLH, HRR, FWR, HCMS = ({"name": name, "epsilon": 1.0} for name in ("olh", "hrr", "fwr", "hcms"))
TICKET, OTHER = (f"fldp_ticket_{letter * 43}" for letter in "ab")
ORIGIN = "https://collector.example"


def survey(oracle=OLH, **changes):
    fields = specification(oracle=oracle, **{"submit": "ticket", "derive": True, "minimum": 1, **changes})
    if oracle is HCMS:
        fields = {**fields, "domain": "strings"}
        del fields["labels"]
    return Survey.from_dict(fields)


def public(asked, batch):
    return asked.oracle.report_format.outcome(wire.decode(batch, asked.oracle, asked.version).data[0])[0]


# -------------------------------------------------------------------------------------------------------- the words


@pytest.mark.parametrize(
    "oracle", [fldp.OLH(1.0, 9), fldp.HRR(1.0, 9), fldp.FWR(2.0, 9), fldp.FWR(1.0, 9, 1, 8), fldp.HCMS(1.0)], ids=repr
)
def test_public_words_decide_the_public_part_and_all_of_it(oracle):
    """Other words change nothing of it, and each of these changes something."""
    words = fldp.Stream(5).words(oracle.words)

    def shown(changed):
        data = np.empty((1,), oracle.report_format.dtype)
        oracle.perturb(np.array([3]), changed[None], data)
        return oracle.report_format.outcome(data[0])[0]

    for place in range(oracle.words):
        other = words.copy()
        other[place] = ~other[place]
        assert (shown(other) != shown(words)) == (place < oracle.report_format.public_words)


def test_the_rest_is_drawn_and_keeps_its_law():
    """The symbols of 4,000 reports of one ticket and value: the coin's shares. False alarm: 1e-6 for each of 4."""
    oracle = fldp.OLH(1.0, 9)
    reports = [ticket_words.privatize(oracle, 3, TICKET, "00").data[0] for _ in range(4000)]
    assert len({int(report["seed"]) for report in reports}) == 1
    law = analysis(oracle).law(3, int(reports[0]["seed"]))
    for symbol, share in law.items():
        count = sum(int(report["symbol"]) == symbol for report in reports)
        assert abs(count - 4000 * share) < 4.9 * float(4000 * share * (1 - share)) ** 0.5


def test_epsilon_holds_for_every_public_part_where_it_may_be_derived():
    """What is refused with an eta below 1: there the masks choose what is leaked, and some tell two values apart."""
    assert isinstance(verification := verify(fldp.FWR(1.0, 8)), Verification)
    assert verification.eta == 1
    leaking = fldp.FWR(1.0, 8, 0.5)
    told_apart = {
        masks
        for masks in analysis(leaking).publics()
        if not analysis(leaking).law(1, masks).keys() & analysis(leaking).law(2, masks).keys()
    }
    assert told_apart
    assert not ticket_words.can_derive(leaking)
    with pytest.raises(FldpError, match="derive: the oracle must be one of plain LDP"):
        ticket_words.privatize(leaking, 1, TICKET, "00")


# ------------------------------------------------------------------------------------------------------- the survey


def test_a_rule_that_is_off_changes_no_version():
    plain = specification(oracle=OLH, submit="ticket")
    assert Survey.from_dict({**plain, "collect": {**plain["collect"], "derive": False}}).version == (
        Survey.from_dict(plain).version
    )
    assert survey().derives
    assert survey().canonical["collect"]["derive"] is True


@pytest.mark.parametrize(
    ("oracle", "collect", "mistake"),
    [
        (OLH, {"submit": "open", "derive": True}, "derive must be false unless submit is 'ticket' or 'pass', got True"),
        (OLH, {"submit": "ticket", "derive": 1}, "derive must be true or false, got 1"),
        ({"name": "fwr", "epsilon": 1.0, "eta": 0.5, "allow_exposure": True}, {}, "one of plain LDP whose reports"),
        ({"name": "fhr", "epsilon": 1.0}, {}, "one of plain LDP whose reports have a public part"),
        ({"name": "oue", "epsilon": 1.0}, {}, "olh, hrr, hcms, sampled, or fwr with eta 1, got OUE"),
    ],
)
@pytest.mark.long
def test_surveys_that_cannot_derive_are_refused_in_both_languages(oracle, collect, mistake):
    fields = specification(oracle=oracle, **{"submit": "ticket", "derive": True, **collect})
    with pytest.raises(FldpError, match=mistake):
        Survey.from_dict(fields)
    (told,) = ask([{"do": "derived", "survey": fields, "label": "edge", "ticket": None}])
    assert told["error"] == "ParameterError"  # if not the survey, then an answer without a ticket: nothing is drawn


def test_a_client_that_does_not_know_the_rule_refuses_the_survey():
    """An unknown rule of collecting is refused, so a client from before this one sends nothing rather than wrong."""
    fields = specification(oracle=OLH, submit="ticket", inspired=True)
    with pytest.raises(FldpError, match="a rule of collecting"):
        Survey.from_dict(fields)
    (told,) = ask([{"do": "version", "survey": fields}])
    assert told["error"] == "ParameterError"


# ------------------------------------------------------------------------------------------------------- the person


@pytest.mark.parametrize("oracle", [OLH, HRR, FWR, {**FWR, "hash_bits": 8}, HCMS], ids=str)
def test_both_clients_draw_the_public_part_of_their_ticket(oracle):
    asked = survey(oracle)
    mine = Participant(MemoryStore()).answer(asked, "edge", origin=ORIGIN, ticket=TICKET).report
    requests = [{"do": "derived", "survey": asked.canonical, "label": "edge", "ticket": TICKET}]
    requests += [{"do": "version", "survey": asked.canonical}, {**requests[0], "ticket": None}]
    theirs, version, without = ask(requests)
    assert version["result"] == asked.version
    assert public(asked, mine) == public(asked, bytes.fromhex(theirs["result"]))
    assert "a ticket must be given" in without["message"]
    for batch in (mine, bytes.fromhex(theirs["result"])):
        report = wire.decode(batch, asked.oracle, asked.version).data[0]
        assert ticket_words.fits(asked.oracle, report, TICKET, asked.version)
        assert not ticket_words.fits(asked.oracle, report, OTHER, asked.version)
        assert not ticket_words.fits(asked.oracle, report, TICKET, "0" * 64)


def test_an_answer_belongs_to_its_ticket():
    person, asked = Participant(MemoryStore()), survey()
    with pytest.raises(FldpError, match="survey browser needs a ticket"):
        person.answer(asked, "edge", origin=ORIGIN)
    assert person.history() == ()
    first = person.answer(asked, "edge", origin=ORIGIN, ticket=TICKET)
    again = person.answer(asked, "chrome", origin=ORIGIN, ticket=TICKET)
    assert (again.repeated, again.report) == (True, first.report)
    with pytest.raises(FldpError, match="must be sent with the ticket that it was answered with"):
        person.answer(asked, "edge", origin=ORIGIN, ticket=OTHER)
    assert len(person.history()) == 1


# ---------------------------------------------------------------------------------------------------- the collector


def test_the_collector_refuses_what_is_not_of_its_ticket_and_spends_nothing(collector):
    asked = survey()

    async def story(client):
        where = await publish(client, asked)
        one, two = (await client.post(f"{where}/tickets", json={"count": 2})).json()["tickets"]

        async def send(report, ticket):
            headers = {"Idempotency-Key": key(), "Fldp-Ticket": ticket}
            return await client.post(f"{where}/reports", content=wire.encode(report, asked.version), headers=headers)

        chosen = fldp.Reports(asked.oracle, poison(asked.oracle, [0, 3], 1, rng=1).data)
        for wrong in (chosen, asked.privatize(["edge"]), asked.privatize_with(two, "edge")):
            refused = await send(wrong, one)
            assert (refused.status_code, refused.json()["type"]) == (422, "urn:fldp:not-derived")
        assert (await send(asked.privatize_with(one, "edge"), one)).json() == {"accepted": 1}
        assert (await send(asked.privatize_with(one, "edge"), one)).status_code == 403  # spent
        assert (await send(asked.privatize_with(two, "edge"), two)).status_code == 200

    play(collector, story)
