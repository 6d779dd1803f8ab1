"""The first admin token: made beforehand, into a file or on a terminal, and never where a log may be."""

import os
import pty
import re
import select
import signal
import subprocess
import sys

import httpx
import pytest

from fldp.collector.service.tokens import secret_file
from fldp.errors import FldpError
from support.collector_server import Server
from support.collector_store import stored_in
from support.ports import free_port
from support.shell import fldp

SECRET = re.compile(r"fldp_admin_[A-Za-z0-9_-]{43}")


def serve(folder, *flags):
    return [sys.executable, "-m", "fldp", "serve", "--data", str(folder), "--port", str(free_port()), *flags]


def stopped(process):
    process.send_signal(signal.SIGTERM)
    out, beside = process.communicate(timeout=120)
    assert process.returncode == 0, beside
    return out + (beside or "")


def started(folder, *flags):
    """Start a collector whose standard output is a pipe; give it, its address and the second line if there is one."""
    process = subprocess.Popen(
        serve(folder, *flags), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ)
    )
    return process, process.stdout.readline().split()[-1]


def may_administer(url, secret):
    return httpx.get(f"{url}/v1/tokens", headers={"Authorization": f"Bearer {secret}"}).status_code == 200


def test_a_log_gets_no_token_but_the_command_that_makes_one(tmp_path):
    process, url = started(tmp_path / "kept")
    line = process.stdout.readline()
    assert line == (
        f"fldp: there is no admin token: 'fldp token create admin --data {tmp_path / 'kept'}' makes one,"
        " also while the collector runs\n"
    )
    assert "[]" in fldp("token", "list", "--data", tmp_path / "kept", "--json").stdout
    secret = fldp("token", "create", "admin", "--data", tmp_path / "kept").stdout.strip()
    assert may_administer(url, secret)
    assert not SECRET.search(line + stopped(process))


def test_a_token_that_was_made_beforehand(tmp_path):
    fldp("token", "create", "admin", "--data", tmp_path / "new", "-o", tmp_path / "admin")
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700
    secret = (tmp_path / "admin").read_text().strip()
    process, url = started(tmp_path / "new")
    assert may_administer(url, secret)
    said = stopped(process)
    assert "admin token" not in said
    assert not SECRET.search(said)


def test_a_token_in_a_file_for_its_owner_alone(tmp_path):
    file = tmp_path / "admin"
    process, url = started(tmp_path / "kept", "--admin-token-file", str(file))
    assert process.stdout.readline() == f"fldp: the admin token is in {file}\n"
    assert file.stat().st_mode & 0o777 == 0o600
    secret = file.read_text().strip()
    assert SECRET.fullmatch(secret)
    assert may_administer(url, secret)
    assert not SECRET.search(stopped(process))
    process, url = started(tmp_path / "kept", "--admin-token-file", str(file))
    assert may_administer(url, secret)
    stopped(process)
    assert file.read_text().strip() == secret


def test_a_file_that_is_there_is_not_overwritten(tmp_path):
    file = tmp_path / "admin"
    file.write_text("mine")
    process = subprocess.run(
        serve(tmp_path, "--admin-token-file", str(file)), capture_output=True, text=True, check=False
    )
    assert process.returncode == 2
    assert f"{file}: already exists, and is not overwritten" in process.stderr
    assert "is not overwritten" in fldp("token", "create", "admin", "--data", tmp_path, "-o", file, code=2).stderr
    assert file.read_text() == "mine"
    assert "[]" in fldp("token", "list", "--data", tmp_path, "--json").stdout  # none was made in vain


def test_a_file_that_appears_meanwhile_stays(tmp_path):
    file = tmp_path / "admin"
    with pytest.raises(FldpError, match="already exists"), secret_file(file):
        file.write_text("mine")
    assert [path.name for path in tmp_path.iterdir()] == ["admin"]
    assert file.read_text() == "mine"


def test_a_terminal_is_shown_the_token(tmp_path):
    ours, theirs = pty.openpty()
    with subprocess.Popen(serve(tmp_path), stdout=theirs, stderr=subprocess.PIPE, env=dict(os.environ)) as process:
        os.close(theirs)
        said = b""
        while said.count(b"\n") < 2:
            assert select.select([ours], [], [], 120)[0]
            said += os.read(ours, 4096)
        process.send_signal(signal.SIGTERM)
        assert not SECRET.search(process.stderr.read().decode())
    os.close(ours)
    assert SECRET.search(said.decode())


def test_a_folder_is_made_for_an_admin_token_that_says_where_and_for_no_other(tmp_path):
    assert "is not there" in fldp("token", "create", "read", "--data", tmp_path / "typo", code=2).stderr
    assert not (tmp_path / "typo").exists()
    before = os.getcwd()
    os.chdir(tmp_path)
    try:
        assert "is not there" in fldp("token", "create", "admin", code=2).stderr
    finally:
        os.chdir(before)
    assert list(tmp_path.iterdir()) == []
    fldp("token", "create", "admin", FLDP_SERVE_DATA=str(tmp_path / "new"))
    assert (tmp_path / "new" / "fldp.db").is_file()


def test_a_token_for_a_database_that_has_no_tables_yet(tmp_path):
    database = stored_in("postgres")["database"]
    secret = fldp("token", "create", "admin", "--database", database).stdout.strip()
    server = Server(tmp_path, token=secret, database=database)
    try:
        assert may_administer(server.url, secret)
        assert len(server.tokens()) == 1
    finally:
        server.stop()


def test_the_file_must_lie_in_a_folder_that_is_there(tmp_path):
    file = tmp_path / "none" / "admin"
    said = fldp("serve", "--check", "--admin-token-file", file, code=1).stderr
    assert "admin_token_file must be a file in a folder that exists" in said
