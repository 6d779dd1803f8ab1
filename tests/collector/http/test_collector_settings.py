"""Settings: from flags, the environment and a file, in that order; and the commands on a collector's folder."""

import json
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from unittest.mock import patch

import pytest

from fldp.collector.config.settings import Settings, SettingsError, described
from fldp.collector.storage.sqlite.store import SqliteStore
from support.collector_server import Server, batch
from support.shell import fldp

ROOT = Path(__file__).parents[3]
DOCUMENT = (ROOT / "docs" / "collector.md").read_text()


def test_the_folder_of_the_datasets_is_not_that_of_the_collector():
    environment = {"FLDP_DATA": "datasets", "FLDP_SERVE_DATA": "kept"}
    assert Settings.load({}, environment).data == Path("kept")
    assert Settings.load({}, {"FLDP_DATA": "datasets"}).data == Path()


def test_flags_come_before_the_environment_and_that_before_the_file(tmp_path):
    file = tmp_path / "collector.toml"
    file.write_text('port = 1\nhost = "file"\nrate = 1\nlog_senders = true\n')
    environment = {"FLDP_PORT": "2", "FLDP_HOST": "environment", "FLDP_CONFIG": str(file), "FLDP_ELSE": "x"}
    settings = Settings.load({"port": "3", "host": None}, environment)
    assert (settings.port, settings.host, settings.rate, settings.log_senders) == (3, "environment", 1.0, True)
    assert Settings.load({}, {}) == Settings()
    assert Settings.load({}, {}, file).port == 1


def test_all_mistakes_are_told_at_once(tmp_path):
    file = tmp_path / "collector.toml"
    file.write_text('prot = 1\nmax_body = "1e9"\n')
    with pytest.raises(SettingsError) as caught:
        Settings.load({"port": "99999", "log": "maybe"}, {"FLDP_RATE": "nan"}, file)
    assert caught.value.mistakes == [
        f"serve: {file}: prot is not a setting",
        "serve: port must be an integer from 1 to 65535, got 99999 from --port",
        f"serve: max_body must be an integer from 1024 to 1073741824, got '1e9' from {file}",
        "serve: rate must be a number from 0 to 1e+09, got nan from FLDP_RATE",
        "serve: log must be true or false, got 'maybe' from --log",
    ]


def test_a_file_that_cannot_be_read_is_one_mistake_among_others(tmp_path):
    file, missing = tmp_path / "broken.toml", tmp_path / "missing.toml"
    file.write_text("port =\n")
    for path, why in ((missing, "cannot be read: No such file or directory"), (file, "is not TOML: Invalid value")):
        with pytest.raises(SettingsError) as caught:
            Settings.load({"port": "0", "tls_key": __file__}, {}, path)
        first, *others = caught.value.mistakes
        assert first.startswith(f"serve: {path}: {why}")
        assert others == [
            "serve: port must be an integer from 1 to 65535, got 0 from --port",
            "serve: tls_certificate and tls_key must be given together",
        ]


def test_what_one_body_takes_must_fit_into_what_may_be_buffered():
    with pytest.raises(SettingsError, match="max_buffered must be at least 4 times max_body, which is 1024, got 4095"):
        Settings.load({"max_body": "1024", "max_buffered": "4095"}, {})
    assert Settings.load({"max_body": "1024", "max_buffered": "4096"}, {}).max_buffered == 4096


@pytest.mark.parametrize("value", ["", "x", "-1", "1e400", "\x00", "[]", "9" * 5000])
def test_no_value_of_any_setting_is_a_surprise(value):
    refusals = {}
    for name, _, _ in described():
        try:
            Settings.load({name: value}, {})
        except SettingsError as error:
            refusals[name] = str(error)
    assert refusals
    assert [name for name, refusal in refusals.items() if name not in refusal] == []


def test_check_prints_the_settings_or_what_is_wrong_with_them(tmp_path):
    good = fldp("serve", "--check", "--data", tmp_path, "--port", 9000, FLDP_RATE="5")
    assert "port = 9000\n" in good.stdout
    assert "rate = 5.0\n" in good.stdout
    assert list(tmp_path.iterdir()) == []
    bad = fldp("serve", "--check", "--port", "x", "--data", tmp_path, FLDP_LOG="?", code=1)
    assert len(bad.stderr.splitlines()) == 2
    assert "must be a folder" in fldp("serve", "--check", "--data", tmp_path / "none" / "inside", code=1).stderr
    assert "must be a folder" in fldp("serve", "--data", tmp_path / "none" / "inside", code=2).stderr
    fldp("serve", "--check", "--data", tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_the_folders_are_made_for_nobody_else(tmp_path):
    with patch("fldp.collector.server.run") as run, patch("fldp.collector.server.exit_now"):
        fldp("serve", "--data", tmp_path / "kept", "--lake", tmp_path / "lake")
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("kept", "lake")] == [0o700, 0o700]
    run.assert_called_once()


def test_neither_import_nor_help_loads_the_server(tmp_path):
    program = (
        "import sys; before = {*sys.modules}; import fldp.cli; sys.argv = ['fldp', '--help']\n"  # coverage loads some
    )
    program += "try: fldp.cli.main()\nexcept SystemExit: pass\n"
    names = ("starlette", "granian", "httpx", "sqlite3", "psycopg", "numba")
    program += f"print([name for name in sys.modules if name in {names} and name not in before])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[]\n")


def test_tokens_on_the_folder_itself_and_at_once(tmp_path):
    server = Server(tmp_path)
    try:
        token = fldp("token", "create", "read", "--data", tmp_path, "--survey", "browser").stdout.strip()
        survey = server.publish(minimum=1)
        server.send(survey, batch(survey, 3))
        with server.client(token) as client:
            assert client.get(f"/v1/versions/{survey.version}/estimates").json()["n"] == 3
        listed = json.loads(fldp("token", "list", "--data", tmp_path, "--json").stdout)
        assert [(row["scope"], row["survey"]) for row in listed] == [("admin", None), ("read", "browser")]
        assert token not in fldp("token", "list", "--data", tmp_path).stdout
        fldp("token", "revoke", listed[1]["id"], "--data", tmp_path)
        with server.client(token) as client:
            assert client.get(f"/v1/versions/{survey.version}/estimates").status_code == 401
        assert "survey browser" in fldp("fsck", "--data", tmp_path).stdout
    finally:
        server.stop()
    assert "scope must be one of" in fldp("token", "create", "root", "--data", tmp_path, code=2).stderr
    late = fldp("token", "create", "read", "--data", tmp_path, "--expires", "2020-01-01T00:00:00Z", code=2)
    assert "expires must be a time in the future" in late.stderr
    named = fldp("token", "create", "read", "--data", tmp_path, "--survey", "No Name", code=2)
    assert "survey must be 1 to 64 of the characters" in named.stderr
    assert "no token has the id" in fldp("token", "revoke", "x", "--data", tmp_path, code=2).stderr
    assert "is not there" in fldp("token", "list", "--data", tmp_path / "none", code=2).stderr
    assert "is not there" in fldp("fsck", "--data", tmp_path / "none", code=2).stderr


def test_fsck_exits_with_1_on_a_difference(tmp_path):
    server = Server(tmp_path, fold_seconds=0.05)
    survey = server.publish()
    server.send(survey, batch(survey, 30))
    server.stop()
    fldp("fsck", "--data", tmp_path)
    connection = sqlite3.connect(tmp_path / "fldp.db")
    connection.execute("UPDATE keys SET accepted = accepted + 1")
    connection.commit()
    connection.close()
    bad = fldp("fsck", "--data", tmp_path, code=1)
    assert "BAD   survey browser" in bad.stdout
    assert "30 reports are counted, 31 were acknowledged" in bad.stdout


def structure(connection):
    """The columns of all tables, in any order, and what else there is; migrations add columns at the end."""
    entries = connection.execute("SELECT type, name, sql FROM sqlite_schema WHERE sql NOT LIKE '%sqlite_sequence%'")
    settings = {}
    for kind, name, sql in entries.fetchall():
        columns = connection.execute("SELECT * FROM pragma_table_xinfo(?)", (name,)).fetchall()
        text = re.sub(r"\s+", " ", sql.partition("(")[0] + sql.rpartition(")")[2] if kind == "table" else sql)
        settings[name] = kind, text, sorted(map(repr, (column[1:] for column in columns)))
    return settings


def test_the_document_holds_the_schema_and_every_setting(tmp_path):
    SqliteStore(tmp_path / "fldp.db").close()
    with closing(sqlite3.connect(tmp_path / "fldp.db")) as stored, closing(sqlite3.connect(":memory:")) as documented:
        documented.executescript(re.search(r"```sql\n(.*?CREATE TABLE segments.*?)```", DOCUMENT, re.DOTALL)[1])
        assert structure(documented) == structure(stored)
    for name, default, about in described():
        assert f"| `{name}` | `{default}` | {about} |" in DOCUMENT, name
