"""Withdrawals at full size: 240 random schedules of 120 steps, each exact at every look. Run by ``make acceptance``."""

import secrets
from itertools import product

import pytest

from fldp.collector.storage.fsck import fsck
from fldp.collector.storage.postgres.store import PostgresStore
from fldp.collector.storage.protocol import Admitted, Withdrawal
from support.collector_store import DAY, STORES, opened, publish, submission, whole
from support.withdrawals import ORACLES, Schedule, published

SCHEDULES, STEPS, STRANGERS = 240, 120, 100_000


@pytest.mark.parametrize("kind", STORES)
def test_a_tally_is_that_of_those_who_stayed_at_every_look(kind, tmp_path):
    stores = [opened(kind, tmp_path)]
    stores += [PostgresStore(stores[0].database)] if kind == "postgres" else []
    cases = list(product(ORACLES, ("raw", "tally")))
    for seed in range(SCHEDULES):
        oracle, retention = cases[seed % len(cases)]
        survey, number = published(stores[0], oracle, retention)
        Schedule(stores, survey, number, seed).run(STEPS)
        stores[0].delete_surveys([number])
    print(f"{kind}: {SCHEDULES} schedules of {STEPS} steps, exact at every look")
    for store in stores:
        store.close()


def test_a_hundred_thousand_random_keys_take_nothing(tmp_path):
    store = opened("sqlite", tmp_path)
    survey, number = publish(store)
    sent = submission(survey, number, b"sent", [1] * 100, secret=b"sent")
    store.commit([sent], DAY)
    for _ in range(STRANGERS // 1000):
        keys = [secrets.token_bytes(32) for _ in range(1000)]
        taken = [Withdrawal(number, key, sent.body, sent.content, secret=key) for key in keys]
        assert {(one.verdict, one.accepted) for one in store.commit(taken, DAY)} == {(Admitted.WITHDRAWN, 0)}
    assert whole(store, survey, number) == survey.oracle.tally(sent.content)
    assert fsck(store)[1] == []
    store.close()
