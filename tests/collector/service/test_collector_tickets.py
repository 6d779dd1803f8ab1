"""Tickets for a survey that is deleted while they are made: none of them is kept."""

import pytest

from fldp.collector.service import tokens
from fldp.collector.service.pass_issuer import PassIssuer, create_key
from fldp.passes.tokens import PassTerms
from support.collector_store import STORES, opened, publish, rows


@pytest.fixture(params=STORES)
def store(request, tmp_path):
    store = opened(request.param, tmp_path)
    yield store
    store.close()


def test_tickets_of_a_survey_that_was_deleted_are_not_kept(store):
    _, number = publish(store, submit="ticket")
    assert len(tokens.create_tickets(store, number, 2)) == 2
    store.delete_surveys([number])
    assert tokens.create_tickets(store, number, 2) is None
    assert rows(store, "SELECT * FROM tickets") == []


def test_a_key_that_signs_is_found_although_another_thread_forgets_it_at_once(store):
    class Forgetful(dict):
        def __setitem__(self, key_id, key):
            """Keep nothing, as where another thread clears all keys right after."""

    key = create_key(store, "2026-11-01T00:00:00Z")
    issuer = PassIssuer(store)
    issuer._keys = Forgetful()
    assert issuer.key_of(PassTerms(key.public, b"")) == key
    issuer.stop()
