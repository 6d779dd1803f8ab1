"""The short form of ``make soak PART=faults`` for collectors that share a PostgreSQL database."""

import pytest

from soak.faults import runs
from support.postgres_server import PostgresServer


@pytest.fixture
def cluster():
    """A server of its own: it is stopped and started under the load."""
    cluster = PostgresServer()
    yield cluster
    cluster.remove()


def test_two_collectors_count_once_while_they_are_killed_and_the_database_goes_away(tmp_path, cluster):
    make = runs.postgres(tmp_path, cluster.database())
    result = runs.pair(make, 6, 1, cluster)
    assert result.problems == []
    done = {name: result.counted[name] for name in ("kills", "restarts of PostgreSQL", "cuts")}
    assert done == {"kills": 2, "restarts of PostgreSQL": 1, "cuts": 1}
    assert {"answer", "fold"} <= result.phases.keys()
