"""Tickets for a survey that is deleted while they are made: none of them is kept."""

import pytest

from fldp.collector.service import tokens
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
