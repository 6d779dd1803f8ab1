"""What all tests of pages share."""

import pytest

from support.browser import chromium


@pytest.fixture(scope="module")
def browser():
    """A running browser, of one file of tests."""
    with chromium() as running:
        yield running
