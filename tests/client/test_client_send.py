"""Files of reports on their way to a collector: split, interrupted, killed, sent again, counted once."""

import asyncio
import hashlib
import json
import os
import signal
import subprocess
import time

import numpy as np
import pytest

import fldp
from fldp import AsyncClient, Client, FldpError, wire
from fldp.client import Sent, upload
from fldp.client.uploading import PIECE_BYTES
from support.client import TOKEN, survey
from support.cutting_proxy import proxied
from support.serving import FLDP, collector, double, has_collector, shell

COUNT = 20_000  # 6 bits each: 15,000 bytes, in 15 pieces of 1,024 bytes


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    """Where it is noted how far an upload came."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "fldp"


@pytest.fixture(scope="module")
def server():
    with double() as url:
        yield url


@pytest.fixture(scope="module")
def service(request, tmp_path_factory):
    """Give the address and the token of a collector; a tree without one has the double, which takes its time."""
    if has_collector():
        with collector(tmp_path_factory.mktemp("data")) as service:
            yield service
    else:
        yield f"{request.getfixturevalue('server')}/gentle", TOKEN


@pytest.fixture
def folder(tmp_path, request):
    """A survey of this test alone, and a file of reports."""
    asked = survey("f-" + hashlib.sha256(request.node.nodeid.encode()).hexdigest()[:20])
    reports = asked.oracle.privatize([k % 5 for k in range(COUNT)])
    (tmp_path / "reports.fldp").write_bytes(wire.encode(reports, asked.version))
    (tmp_path / "survey.json").write_text(json.dumps(asked.canonical))
    return tmp_path


def survey_in(folder):
    return fldp.Survey.load(folder / "survey.json")


def published(service, folder):
    url, token = service
    with Client(url, token) as client:
        client.create(survey_in(folder))
    return url, token


def number(service, folder):
    with Client(*service) as client:
        return {row["version"]: row["n"] for row in client.surveys()}[survey_in(folder).version]


def run(service, *arguments, code=0):
    out, said = shell(*arguments, "--to", service[0], token=service[1], code=code)
    assert TOKEN not in out + said
    return out, said


def test_a_file_is_sent_in_pieces_and_again_it_changes_nothing(service, folder):
    published(service, folder)
    told = []
    with Client(*service) as client:
        for _ in range(2):
            receipt = client.send_file(folder / "reports.fldp", piece_bytes=1024, progress=told.append)
            assert receipt == Sent(COUNT, 15, survey_in(folder).version)
    assert sum(told) == 2 * COUNT
    assert number(service, folder) == COUNT


def test_an_event_loop_sends_files_too(service, folder):
    published(service, folder)

    async def send():
        async with AsyncClient(*service) as client:
            files = [client.send_file(folder / "reports.fldp", piece_bytes=2048) for _ in range(3)]
            return await asyncio.gather(*files)

    assert {receipt.reports for receipt in asyncio.run(send())} == {COUNT}
    assert number(service, folder) == COUNT


def test_a_killed_sender_is_run_again_and_all_is_counted_once(service, folder, state):
    published(service, folder)
    asked = survey_in(folder)
    (folder / "long.fldp").write_bytes(wire.encode(asked.oracle.privatize([0] * 5 * COUNT), asked.version))
    command = [FLDP, "send", "long.fldp", "--piece", "1024", "--to", service[0]]
    environment = {**os.environ, "FLDP_TOKEN": service[1]}
    process = subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.DEVNULL)
    counted = 0
    while counted < COUNT and process.poll() is None:  # it stands still while it is looked at, however long that takes
        process.send_signal(signal.SIGCONT)
        time.sleep(0.003 if counted else 0.05)
        process.send_signal(signal.SIGSTOP)
        counted = number(service, folder)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert COUNT <= number(service, folder) < 5 * COUNT  # in the middle: otherwise this test tests nothing
    out, said = run(service, "send", folder / "long.fldp", "--piece", "1024", "--json")
    assert number(service, folder) == 5 * COUNT
    sent = json.loads(out)
    assert sent["resumed"] >= COUNT - 1360  # what was counted when it was killed, except for the last piece
    assert sent["batches"] == -(-(5 * COUNT - sent["resumed"]) // 1360)
    assert said.startswith(f"{sent['resumed']:,} of 100,000 reports were acknowledged before and are not sent again")
    assert list(state.glob("upload-*")) == []


def test_the_line_of_a_shell(service, folder):
    published(service, folder)
    out, said = run(service, "send", folder / "reports.fldp")
    assert (out, said) == ("", f"20,000 reports in 1 batch of survey version {survey_in(folder).version[:12]}: "
                               f"all counted by {service[0]}\n")  # fmt: skip
    out, _ = run(service, "send", folder / "reports.fldp", "--json")
    assert json.loads(out)["reports"] == COUNT
    with (folder / "reports.fldp").open("rb") as file:
        command = f"cat | {FLDP} send - --to {service[0]}"
        environment = {**os.environ, "FLDP_TOKEN": service[1]}
        subprocess.run(["sh", "-c", command], stdin=file, env=environment, check=True, stderr=subprocess.PIPE)
    assert number(service, folder) == COUNT


def test_other_pieces_of_a_file_that_was_sent_are_refused(service, folder):
    published(service, folder)
    run(service, "send", folder / "reports.fldp", "--piece", "1024")
    _, said = run(service, "send", folder / "reports.fldp", "--piece", "2048", code=1)
    assert "409" in said
    assert said.count("\n") == 1
    assert number(service, folder) == COUNT


def test_senders_with_equal_files_count_each(service, folder):
    published(service, folder)
    tiny = folder / "tiny.fldp"
    tiny.write_bytes(wire.encode(survey_in(folder).oracle.privatize([1, 2]), survey_in(folder).version))
    _, said = run(service, "send", tiny)
    assert "name the --sender" in said
    for sender in ("north", "south", "south"):
        assert "--sender" not in run(service, "send", tiny, "--sender", sender)[1]
    assert number(service, folder) == 6


def test_parquet_is_sent_too(service, folder):
    published(service, folder)
    asked = survey_in(folder)
    with (folder / "reports.parquet").open("wb") as file:
        fldp.parquet.write(file, asked.oracle, [asked.oracle.privatize([0] * 1000)], asked.version)
    run(service, "send", folder / "reports.parquet")
    assert number(service, folder) == 1000


def test_a_file_without_a_survey_needs_one(service, folder):
    published(service, folder)
    plain = folder / "plain.fldp"
    plain.write_bytes(wire.encode(survey_in(folder).oracle.privatize([0] * 500)))
    _, said = run(service, "send", plain, code=2)
    assert said.endswith("names no survey; name the one that it answers with --survey\n")
    run(service, "send", plain, "--survey", folder / "survey.json")
    assert number(service, folder) == 500


def test_a_bad_file_is_refused_before_anything_is_sent(service, folder):
    published(service, folder)
    good = (folder / "reports.fldp").read_bytes()
    nothing = wire.encode(survey_in(folder).oracle.privatize([0])[:0], survey_in(folder).version)
    for bad in (nothing, good[:-1], good[: len(good) // 2], good[:9000] + b"\0" + good[9001:], b"", b"FLDP", b"PAR1"):
        (folder / "bad.fldp").write_bytes(bad)
        if bad != good:
            _, said = run(service, "send", folder / "bad.fldp", "--piece", "1024", code=2)
            assert said.startswith(f"{folder}/bad.fldp: ")
            assert said.count("\n") == 1
    assert number(service, folder) == 0


def test_an_unknown_survey_is_exit_code_1(service, folder):
    _, said = run(service, "send", folder / "reports.fldp", code=1)
    assert said.count("\n") == 1
    assert "status 4" in said


@pytest.mark.parametrize("moment", ["within the request", "before the answer", "within the answer"])
def test_a_wire_that_breaks_again_and_again(service, folder, moment):
    published(service, folder)
    with proxied(service[0], moment, cuts=5) as url, Client(url, service[1], patience=0.05, retries=6) as client:
        client.send_file(folder / "reports.fldp", piece_bytes=1024)
    assert number(service, folder) == COUNT


def test_a_file_that_changes_on_the_way_is_noticed(server, folder):
    published((f"{server}/plain", TOKEN), folder)
    with upload(str(folder / "reports.fldp")) as sent:
        pieces = sent.pieces(1024)
        next(pieces)
        with (folder / "reports.fldp").open("ab") as file:
            file.write(b"x")
        with pytest.raises(FldpError, match="was changed while it was sent"):
            list(pieces)


def test_pieces_are_batches_of_their_own_and_keys_are_all_different(folder):
    asked = survey_in(folder)
    with upload(str(folder / "reports.fldp")) as sent:
        pieces = list(sent.pieces(1024))
        again = list(sent.pieces(1024))
        named = list(sent.pieces(1024, "north"))
    parts = [wire.decode(piece.body, asked.oracle, asked.version) for piece in pieces]
    assert fldp.Reports.concatenate(parts) == wire.decode((folder / "reports.fldp").read_bytes())
    assert [piece.offset for piece in pieces] == [1360 * k for k in range(15)]
    assert pieces == again
    assert len({piece.key for piece in pieces + named}) == 30
    assert max(len(piece.body) for piece in pieces) < 1024 + 300


def test_a_large_file_stays_below_a_piece(tmp_path):
    oracle = fldp.OUE(epsilon=1.0, domain_size=5000)
    (tmp_path / "r.fldp").write_bytes(wire.encode(oracle.privatize([7] * 3000), "ab" * 32))
    with upload(str(tmp_path / "r.fldp")) as sent:
        assert [piece.count for piece in sent.pieces()] == [1672, 1328]
        assert max(len(piece.body) for piece in sent.pieces()) < PIECE_BYTES + 300


def test_small_reports_are_limited_by_their_number(tmp_path):
    oracle = fldp.RR(epsilon=1.0)
    reports = fldp.Reports(oracle, np.zeros(3_000_000, np.uint8))
    (tmp_path / "r.fldp").write_bytes(wire.encode(reports, "ab" * 32))
    with upload(str(tmp_path / "r.fldp")) as sent:
        assert [piece.count for piece in sent.pieces()] == [1 << 20, 1 << 20, 3_000_000 - (2 << 20)]


def test_a_busy_collector_is_waited_for_and_that_is_said(server, folder):
    published((f"{server}/plain", TOKEN), folder)
    _, said = run((f"{server}/busy", TOKEN), "send", folder / "reports.fldp")
    assert said.count("too many requests in flight (status 503); trying again in") == 2
    _, said = run((f"{server}/always", TOKEN), "send", folder / "reports.fldp", "--retries", "0", code=2)
    assert said == f"{server}/always: busy for ever (status 503)\n"
    assert number((f"{server}/plain", TOKEN), folder) == COUNT


def test_the_token_may_be_an_argument_and_is_not_shown(server, folder):
    published((f"{server}/plain", TOKEN), folder)
    _, said = run((f"{server}/echo", None), "send", folder / "reports.fldp", "--token", TOKEN, code=1)
    assert said == f"{server}/echo: Bearer [secret] None [31m is wrong (status 401)\n"
    _, said = run(("http://collector.example", None), "send", folder / "reports.fldp", "--token", TOKEN, code=2)
    assert "must not go over plain http" in said
