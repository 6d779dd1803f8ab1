"""Results in files: estimates and raw reports, from a collector that runs and from servers that are none."""

import csv
import io
import json
import os
import subprocess

import pyarrow.parquet
import pytest

import fldp
import fldp.parquet
from fldp import AsyncClient, Client, CollectorError, FldpError, ParameterError
from support.client import LABELS, TOKEN, estimates_reply, survey
from support.client_kinds import asked as ask
from support.raw_server import answer, raw
from support.serving import FLDP, collector, shell

ASKED = survey("saved", collect={"minimum": 10})
VERSION = "ab" * 32


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with collector(tmp_path_factory.mktemp("data")) as service, Client(*service) as client:
        client.create(ASKED)
        client.send(ASKED.oracle.privatize([k % 5 for k in range(500)]), ASKED)
        yield service


@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_estimates_are_saved_as_the_collector_gives_them(service, tmp_path, kind):
    with Client(*service) as client:
        wanted = client.estimates(ASKED, top=3, level=0.9, post="norm-sub")
    for name in ("e.csv", "e.json", "e.parquet"):
        told = []

        def save(client, path=tmp_path / name, told=told):
            return client.save_estimates(ASKED, path, top=3, level=0.9, post="norm-sub", progress=told.append)

        assert ask(kind, service[0], save, token=service[1]) == (tmp_path / name).stat().st_size == sum(told)
    assert json.loads((tmp_path / "e.json").read_text()) == wanted
    rows = list(csv.DictReader((tmp_path / "e.csv").read_text().splitlines()))
    assert [row["label"] for row in rows] == [row["label"] for row in wanted["rows"]]
    assert [float(row["count"]) for row in rows] == [row["count"] for row in wanted["rows"]]
    assert pyarrow.parquet.read_table(tmp_path / "e.parquet").to_pylist() == wanted["rows"]


def test_the_format_is_named_or_follows_from_the_name(service, tmp_path):
    with Client(*service) as client:
        client.save_estimates(ASKED, tmp_path / "plain", format="csv")
        assert (tmp_path / "plain").read_text().startswith("value,label,count,")
        with pytest.raises(ParameterError, match=r"path must be a name that ends in one of \.csv, \.json, \.parquet"):
            client.save_estimates(ASKED, tmp_path / "other")
        with pytest.raises(ParameterError, match="format must be one of"):
            client.save_estimates(ASKED, tmp_path / "e.csv", format="xlsx")
        with pytest.raises(TypeError, match="unexpected keyword argument 'tpo'"):
            client.save_estimates(ASKED, tmp_path / "e.csv", tpo=3)
    assert [path.name for path in tmp_path.iterdir()] == ["plain"]


@pytest.mark.parametrize("body", [b"<html>", b"", b"{}", b"value,label,count", b"PAR1 cut off", b"not PAR1"])
def test_what_is_no_such_file_is_not_saved(tmp_path, body):
    with raw(answer(body)) as (url, _), Client(url, TOKEN, retries=0) as client:
        for action in (
            lambda: client.save_estimates(VERSION, tmp_path / "e.csv"),
            lambda: client.save_estimates(VERSION, tmp_path / "e.parquet"),
            lambda: client.export(VERSION, tmp_path / "r.parquet"),
        ):
            with pytest.raises(CollectorError, match="the answer is not a whole file of"):
                action()
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_breaks_off_is_begun_again(tmp_path):
    whole = b"value,label,count\n" + b"0,a,1.0\n" * 1000
    cut = [answer(whole)[0][:-500]]
    turns, told = iter([cut, cut, answer(whole)]), []
    with raw(lambda asked: next(turns)) as (url, _), Client(url, TOKEN, patience=0.01) as client:
        assert client.save_estimates(VERSION, tmp_path / "e.csv", progress=told.append) == len(whole)
    assert (tmp_path / "e.csv").read_bytes() == whole
    assert sum(told) == len(whole)


def test_what_went_into_a_pipe_is_not_written_twice(tmp_path):
    whole = b"value,label,count\n" + b"0,a,1.0\n" * 1000
    reading, writing = os.pipe()
    with (
        raw([answer(whole)[0][:-500]]) as (url, seen),
        Client(url, TOKEN, patience=0.01) as client,
        pytest.raises(FldpError, match="the answer broke off, and what was written cannot be undone"),
    ):
        client.save_estimates(VERSION, f"/dev/fd/{writing}", format="csv")
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        assert file.read() == whole[:-500]
    assert len(seen) == 2


def test_an_endless_file_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr("fldp.client.operations.results.MAX_ESTIMATES", 10_000)
    pouring = [b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nvalue,label,\n", *[b"0,a\n" * 1000] * 20]
    with (
        raw(pouring) as (url, _),
        Client(url, TOKEN, retries=0) as client,
        pytest.raises(CollectorError, match="the answer is larger than 10,000 bytes"),
    ):
        client.save_estimates(VERSION, tmp_path / "e.csv")
    assert list(tmp_path.iterdir()) == []


def test_too_few_reports_is_a_refusal_and_no_file(service, tmp_path):
    few = survey("few-reports")
    with Client(*service) as client:
        client.create(few)
        with pytest.raises(CollectorError) as error:
            client.save_estimates(few, tmp_path / "e.csv")
    assert error.value.kind == "urn:fldp:too-few"
    assert list(tmp_path.iterdir()) == []


# --- the shell


def run(service, *arguments, code=0):
    return shell(*arguments, "--to", service[0], token=service[1], code=code)


def test_the_shell_shows_estimates(service):
    out, said = run(service, "estimates", "saved")
    assert out.startswith("The 5 largest of 5 estimates")
    assert all(label in out for label in (*LABELS, "95 % interval", "std. error", "500 reports of survey version"))
    assert "at least 2 of 5 remain possible" in out
    assert "too few" not in out
    assert said == ""
    out, _ = run(
        service, "estimates", "saved", "--top", "2", "--level", "0.9", "--post", "simplex", "--decoder", "paper"
    )
    assert "The 2 largest of 5 estimates" in out
    assert "90 % interval" in out
    assert "By simplex: biased." in out
    assert "500 reports are too few: at epsilon 1 they tell shares to" in out


def test_the_shell_gives_every_format(service, tmp_path):
    out, _ = run(service, "estimates", "saved", "--json")
    assert json.loads(out) == json.loads(run(service, "estimates", "saved", "--format", "json")[0])
    for form in ("json", "csv", "parquet"):
        path = tmp_path / f"e.{form}"
        assert run(service, "estimates", "saved", "--format", form, "--version", ASKED.version, "-o", path) == ("", "")
    assert json.loads((tmp_path / "e.json").read_text()) == json.loads(out)
    assert pyarrow.parquet.read_table(tmp_path / "e.parquet").num_rows == 5
    command = f"{FLDP} estimates saved --format csv --to {service[0]} | cat"
    piped = subprocess.run(
        command, shell=True, env={**os.environ, "FLDP_TOKEN": service[1]}, capture_output=True, check=True
    )
    assert piped.stdout == (tmp_path / "e.csv").read_bytes()
    assert len(list(csv.DictReader(io.StringIO(piped.stdout.decode())))) == 5


def test_the_shell_exports_reports(service, tmp_path):
    _, said = run(service, "export", "saved", "-o", tmp_path / "r.parquet")
    assert said.endswith(f"bytes of reports of survey version {ASKED.version[:12]}\n")
    with (tmp_path / "r.parquet").open("rb") as file:
        oracle, version, reports = fldp.parquet.read(file)
        assert (version, sum(len(part) for part in reports)) == (ASKED.version, 500)
    assert oracle == ASKED.oracle
    assert "403" in run(service, "export", "saved", "--until", "2020-01-01", "-o", tmp_path / "n.parquet", code=1)[1]
    assert "403" in run(service, "estimates", "saved", "--from", "2999-01-01", code=1)[1]
    assert [path.name for path in tmp_path.iterdir()] == ["r.parquet"]


def test_the_shell_says_what_is_wrong_in_one_line(service, tmp_path):
    for arguments, code, message in [
        (("estimates", "nobody"), 1, "404"),
        (("estimates", "saved", "--format", "xlsx"), 2, "--format must be one of"),
        (("estimates", "saved", "-o", tmp_path / "e"), 2, "a table is only shown"),
        (("estimates", "saved", "--decoder", "other"), 1, "status 4"),
        (("estimates", "saved", "--since", "yesterday"), 1, "from must be a day such as"),
        (("estimates", "saved", "--version", VERSION), 1, "404"),
        (("export", "../tokens"), 2, "the name of a survey must be"),
    ]:
        _, said = run(service, *arguments, code=code)
        assert message in said
        assert said.count("\n") == 1


def test_the_shell_prints_no_escape_sequences(tmp_path):
    bad = "\x1b]0;x\x07\x9b2J"
    row = {"value": 0, "label": bad, "count": 1.0, "stderr": 1.0, "low": 0, "high": 2.0, "frequency": 0.1}
    reply = {**estimates_reply(row), "biased": True, "method": "simplex" + bad, bad: bad}

    def script(lines):
        asked = {"version": ASKED.version, "survey": ASKED.canonical, "state": "open"}
        return answer(json.dumps(reply if "/estimates?" in lines[0] else asked).encode())

    for form in ("text", "json"):
        with raw(script) as (url, _):
            out, said = shell("estimates", "saved", "--format", form, "--to", url, token=TOKEN)
        assert not [c for c in out + said if not (c.isprintable() or c == "\n")]
