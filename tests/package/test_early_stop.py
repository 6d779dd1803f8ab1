"""What is left of a handler for servers that still start, once they have started and ended."""

import signal

import pytest

from fldp.support.early_stop import ends_early


@pytest.fixture(autouse=True)
def before():
    handler = signal.getsignal(signal.SIGTERM)
    yield handler
    signal.signal(signal.SIGTERM, handler)


def test_a_server_that_did_not_start_leaves_nothing(before):
    with ends_early():
        assert signal.getsignal(signal.SIGTERM) != before
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_server_that_ended_in_order_goes_on_ignoring_late_signals():
    with ends_early():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_IGN
