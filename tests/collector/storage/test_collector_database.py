"""The address of a database: commands that take it, and a password that nobody sees."""

import pytest

from fldp import FldpError
from fldp.collector.config import clock
from fldp.collector.config.database_url import Database
from fldp.collector.service import tokens
from fldp.collector.storage.postgres import schema
from fldp.collector.storage.postgres.store import PostgresStore
from support.collector_store import publish
from support.postgres_server import ENCODED, server
from support.shell import fldp


@pytest.fixture
def url():
    return server().database()


SECRET_ADDRESSES = [
    "postgresql://u:{}@127.0.0.1:1/x",
    "postgresql://127.0.0.1:1/x?user=u&password={}",
    "postgresql://u:{}/x",
    "postgresql://u:{}@h:port/x",
    "postgresql://u:{}%zz@127.0.0.1:1/x",
    "postgresql://u:a/{}@127.0.0.1:1/x",
    "postgresql://u:a#{}@127.0.0.1:1/x",
    "postgresql://u:a?{}@127.0.0.1:1/x",
    "postgresql://u:{}@127.0.0.1:1/x?nonsense=1",
    "mysql://u:{}@127.0.0.1/x",
    "u:{}@127.0.0.1/x",
    "postgresql://u:{}\n@127.0.0.1:1/x",
    "host=127.0.0.1 port=1 password={}",
]


@pytest.mark.parametrize("address", SECRET_ADDRESSES)
def test_the_password_is_in_no_message(tmp_path, address):
    secret = "correct-horse"
    url = address.format(secret)
    (tmp_path / "c.toml").write_text(f"database = {url!r}\n".replace("\\n", " "))
    for arguments, code in (
        (("serve", "--database", url), 2),
        (("--debug", "serve", "--database", url), 2),
        (("serve", "--config", tmp_path / "c.toml"), 2),
        (("fsck", "--database", url), 2),
        (("token", "list", "--database", url), 2),
    ):
        done = fldp(*arguments, code=code)
        assert done.stderr
        assert secret not in done.stdout + done.stderr
        assert "--debug" in arguments or len(done.stderr.splitlines()) == 1
    checked = fldp("serve", "--check", "--database", url, code=None)
    assert secret not in checked.stdout + checked.stderr


def test_a_wrong_password_is_one_line(url):
    wrong = url.replace(ENCODED, "wr0ng")
    said = fldp("fsck", "--database", wrong, code=2).stderr
    assert "password authentication failed" in said
    assert "wr0ng" not in said


def test_commands_on_a_database(tmp_path, url):
    store = PostgresStore(Database(url))
    publish(store)
    token = fldp("token", "create", "read", "--database", url).stdout.strip()
    assert tokens.find_token(store, token, clock.system()) is not None
    store.close()
    assert "read" in fldp("token", "list", FLDP_DATABASE=url).stdout
    assert "survey browser" in fldp("fsck", FLDP_DATABASE=url).stdout
    assert "is not there" in fldp("fsck", "--data", tmp_path, code=2, FLDP_DATABASE=url).stderr
    assert "not both" in fldp("fsck", "--data", tmp_path, "--database", url, code=2).stderr
    assert "one of them" in fldp("token", "list", "--to", "http://127.0.0.1:1", "--database", url, code=2).stderr


def test_an_address_shows_no_secret():
    shown = str(Database(f"postgres://u:{ENCODED}@a:1,b:2/x?sslpassword=y&host=c"))
    assert shown == "postgres://u@a:1,b:2/x?host=c"
    assert repr(Database("postgresql:///x")) == "Database('postgresql:///x')"
    assert Database("postgresql://[::1]:5432/x") != Database("postgresql:///x")
    with pytest.raises(FldpError, match="understands"):
        schema.parameters(Database("postgresql://u:p%zz@h/x"))
