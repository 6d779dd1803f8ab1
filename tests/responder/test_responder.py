"""The responder: labels or numbers in, reports or batches out; light, discreet, and what ``privatize`` uses."""

import json
import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import fldp
from fldp import Responder, Survey, wire
from fldp.data import batch_frame
from fldp.data.reports import Reports
from fldp.errors import DomainError, ParameterError, WireError
from fldp.oracles.base import ticket_words
from fldp.privacy.auditor.external_command import Command
from fldp.randomness.word_pool import WordSource
from fldp.responder import registry
from support import cases
from support.defects import OffByOneRow, SwappedProbabilities
from support.scripted_words import Script

ORACLES = {name: case[1] for name, case in cases.CASES.items() if case[1].name in registry.names()}
MORE = {"rr": {}, "lwr": {"domain_size": 100, "epsilon_permanent": 2.0}}  # parameters beside epsilon
LABELS = ["chrome", "firefox", "safari", "edge", "other"]


def survey(oracle="grr", **changes):
    described = oracle if isinstance(oracle, dict) else {"name": oracle, "epsilon": 1.0}
    return Survey.from_dict({"name": "browser", "question": "Which?", "labels": LABELS, "oracle": described, **changes})


@pytest.mark.parametrize("oracle", ORACLES.values(), ids=ORACLES)
def test_the_bytes_are_those_of_a_batch_of_one(oracle):
    responder, value = Responder(oracle), oracle.domain_size - 1
    reports = []
    responder._draw = lambda value, draw=responder._draw: reports.append(draw(value)) or reports[-1]
    sent = responder.encode(value)
    data = oracle._answered(reports[0]).data
    assert Reports(oracle, data).data.dtype == oracle.report_format.dtype  # which checks that the oracle can produce it
    assert sent == wire.encode(Reports(oracle, data))


@pytest.mark.parametrize("count", [1, 3, 7, 8, 9, 16, 100])
@pytest.mark.parametrize("name", registry.names())
def test_several_answers_are_one_batch(monkeypatch, name, count):
    """Also where a batch has several chunks: here one holds 16 reports at most."""
    oracle = fldp.oracles.get(name)(1.0, **MORE.get(name, {"domain_size": 100}))
    monkeypatch.setattr(batch_frame, "CHUNK_BYTES", 2 * oracle.report_format.bits)
    responder, reports = Responder(oracle), []
    responder._draw = lambda value, draw=responder._draw: reports.append(draw(value)) or reports[-1]
    sent = responder.encode_all(k % oracle.domain_size for k in range(count))
    assert sent == wire.encode(oracle._answered(*reports))
    assert len(wire.decode(sent)) == count
    assert responder._frame._bits == oracle.report_format.bits
    with pytest.raises(DomainError, match="at least one answer"):
        responder.encode_all([])


@pytest.mark.parametrize("oracle", ORACLES.values(), ids=ORACLES)
def test_the_json_of_an_oracle_makes_the_same_responder(oracle):
    responder, same = Responder(oracle), Responder.from_dict(json.loads(json.dumps(wire.describe(oracle))))
    assert (responder.epsilon, responder.eta, repr(responder)) == (same.epsilon, same.eta, repr(same))
    assert (same.epsilon, same.eta) == (oracle.epsilon, oracle.eta)
    assert responder._frame._start == same._frame._start


def test_a_survey_is_answered_by_labels():
    asked = survey("fhr")
    for responder in (Responder(asked), Responder.from_dict(asked.canonical, version=asked.version)):
        reports = wire.decode(responder.encode("safari"), asked.oracle, asked.version)
        assert len(reports) == 1
        assert responder.version == asked.version
        assert responder.labels == tuple(LABELS)
        assert repr(responder).startswith("<responder of FHR(epsilon=1.0, domain_size=5), eta 1/2, survey ")


def test_every_label_and_number_reaches_its_value():
    """With words that keep the value, the report is the value."""
    oracle = fldp.GRR(1.0, 5)
    script, responder = Script(oracle), Responder(survey())
    responder._draw = lambda value: script.draw(value, [0])
    assert [responder(label) for label in LABELS] == [0, 1, 2, 3, 4]
    numbers = Responder(oracle)
    numbers._draw = responder._draw
    assert [numbers(value) for value in (0, 4, np.int64(3), np.uint8(2))] == [0, 4, 3, 2]


@pytest.mark.parametrize("answer", [5, -1, True, 1.0, "1", None, [1], 2**70, np.float64(1)])
def test_what_is_no_value_is_refused_and_not_shown(answer):
    with pytest.raises(DomainError, match=r"an integer from 0 to 4 \(not shown"):
        Responder(fldp.GRR(1.0, 5))(answer)


@pytest.mark.parametrize("answer", ["opera", "", 1])
def test_an_unknown_label_is_refused_and_not_shown(answer):
    with pytest.raises(DomainError) as error:
        Responder(survey())(answer)
    assert str(error.value) == "Responder: unknown label (not shown, to protect the answer)"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"name": "rappor", "epsilon": 1.0}, "must be one of fhr, fwr, grr"),
        ({"name": ["grr"]}, "must be one of"),
        ({"name": "grr", "epsilon": 1.0}, "GRR: needs domain_size"),
        ({"name": "grr", "domain_size": 5}, "GRR: needs epsilon"),
        ({"name": "grr", "epsilon": 0, "domain_size": 5}, "epsilon must be a positive"),
        ({"name": "grr", "epsilon": 1e-300, "domain_size": 5}, "too small for this domain"),
        ({"name": "grr", "epsilon": 1, "domain_size": 1}, "domain_size must be an integer from 2"),
        ({"name": "grr", "epsilon": 1, "domain_size": 5, "x": 1}, "GRR: has no parameter 'x'"),
        ({"name": "rr", "epsilon": 1, "domain_size": 3}, r"domain_size must be 2 \(GRR takes more\)"),
        ({"name": "hr", "epsilon": 1, "domain_size": 8, "blocks": 3}, "blocks must be a power of two"),
        ({"name": "hr", "epsilon": 1, "domain_size": 8, "blocks": 16}, "blocks must be at most domain_size, 8"),
        ({"name": "fhr", "epsilon": 1, "domain_size": 1024, "items": "paper"}, "can reveal the value"),
        ({"name": "fwr", "epsilon": 1, "domain_size": 4, "eta": 0.125}, "can reveal the value"),
        ({"name": "fwr", "epsilon": 1, "domain_size": 4, "eta": 0.3}, "eta must be 1, 1/2, 1/4"),
        ({"name": "fwr", "epsilon": 1, "domain_size": 100, "eta": 2**-11}, "eta must be at least 1/1024"),
        ({"name": "hrr", "epsilon": 1, "domain_size": 4, "eta": 0.5}, "1; FWR has others"),
        ({"name": "fwr", "epsilon": 1, "domain_size": 70_000, "eta": 0.5}, "make the oracle, fldp.FWR"),
        (
            {"name": "ss", "epsilon": 1, "domain_size": 5, "set_size": 5},
            "must be below the number of values, 5",
        ),
        ([("name", "grr")], "the JSON object of a survey or of an oracle"),
    ],
)
def test_a_bad_description_is_refused_with_a_reason(fields, said):
    with pytest.raises(ParameterError, match=said):
        Responder.from_dict(fields)


@pytest.mark.parametrize("oracle", cases.CASES.values(), ids=cases.CASES)
def test_what_a_class_accepts_its_description_accepts(oracle):
    described = wire.describe(oracle[1])
    if described["name"] in registry.names():
        assert Responder.from_dict(described).eta == oracle[1].eta


def test_a_large_domain_of_fwr_is_fine_where_numpy_has_counted():
    assert Responder(fldp.FWR(1.0, 70_000, 0.5)).eta == 1 / 2


def test_surveys_that_need_more_than_the_answer_are_refused():
    tickets = survey("olh", collect={"submit": "ticket", "derive": True})
    strings = Survey.from_dict(
        {"name": "words", "question": "?", "domain": "strings", "oracle": {"name": "cms", "epsilon": 1.0}}
    )
    daily = {"name": "words", "question": "?", "domain": "strings", "collect": {"repeat": "daily"}}
    daily = Survey.from_dict({**daily, "oracle": {"name": "rappor", "epsilon": 1.0, "epsilon_permanent": 2.0}})
    for asked, said in ((tickets, "ticket="), (strings, "must list its values"), (daily, "must list its values")):
        for make in (Responder, lambda asked: Responder.from_dict(asked.canonical)):
            with pytest.raises(ParameterError, match=said):
                make(asked)


def test_a_survey_that_follows_a_value_is_answered_from_what_is_kept():
    """With hardly any noise, a report is the parity of the label of the day under the mask that is kept."""
    described = {"name": "lwr", "epsilon": 13.9, "epsilon_permanent": 14.0}
    asked = survey(described, collect={"repeat": "daily"})
    for responder in (Responder(asked), Responder.from_dict(asked.canonical, version=asked.version)):
        assert (responder.follows, responder.epsilon, responder.eta) == (True, 13.9, 1)
        for draw in (responder, responder.encode, lambda label: responder.encode_all([label])):  # noqa: B023
            with pytest.raises(ParameterError, match=r"keep\(\) once, store that, and answer by following\(kept\)"):
                draw("firefox")
        kept = responder.keep()
        mine = responder.following(kept)
        assert (mine.follows, mine.version, mine.labels) == (True, asked.version, tuple(LABELS))
        for value, label in enumerate(LABELS):
            ((mask, bit),) = wire.decode(mine.encode(label), asked.oracle, asked.version).data.tolist()
            assert bit == int(asked.oracle._parities.items[value] & mask).bit_count() % 2  # wrong once in 10^5
            assert mask == asked.oracle.memoization.basis(kept).data["mask0"][0]
        with pytest.raises(DomainError, match="unknown label"):
            mine("lynx")


def test_a_survey_that_asks_once_draws_as_any_other():
    responder = Responder(survey({"name": "lwr", "epsilon": 0.5, "epsilon_permanent": 1.0}))
    assert len({responder.encode("edge") for _ in range(50)}) > 5  # masks of their own


def test_other_oracles_keep_nothing():
    responder = Responder(survey())
    assert not responder.follows
    for call in (responder.keep, lambda: responder.following(b"")):
        with pytest.raises(ParameterError, match="nothing is kept of GRR"):
            call()


def test_what_is_wrong_with_a_survey_for_a_responder_is_said():
    with pytest.raises(ParameterError, match="version= is for a survey"):
        Responder.from_dict({"name": "rr", "epsilon": 1.0}, version="0" * 64)
    daily = {**survey().canonical, "collect": {"repeat": "daily"}}
    with pytest.raises(ParameterError, match="answered daily from a stored response"):
        Responder.from_dict(daily)
    three = {**survey().canonical, "labels": ["a", "b", "c"], "oracle": {"name": "rr", "epsilon": 1.0}}
    with pytest.raises(ParameterError, match="number of labels must be 2, got 3"):
        Responder.from_dict(three)


def test_another_version_of_a_survey_is_refused():
    asked = survey()
    with pytest.raises(WireError, match=f"must be {asked.version}, got"):
        Responder.from_dict({**asked.canonical, "question": "What?"}, version=asked.version)
    with pytest.raises(ParameterError, match="64 hexadecimal digits"):
        Responder.from_dict(asked.canonical, version="latest")
    with pytest.raises(ParameterError, match="its whole JSON"):
        Responder.from_dict({"name": "browser", "labels": LABELS, "oracle": {"name": "grr", "epsilon": 1.0}})
    with pytest.raises(ParameterError, match="different texts"):
        Responder.from_dict({**asked.canonical, "labels": ["a", "a"]})
    with pytest.raises(ParameterError, match="an oracle or a survey"):
        Responder({"name": "grr"})
    with pytest.raises(ParameterError, match="others draw by"):
        Responder(fldp.Exponential(1.0, 5, distance="line"))


def test_a_responder_needs_no_numpy():
    """For every oracle that has a response, from its JSON to the bytes; and a survey."""
    described = [wire.describe(oracle) for oracle in ORACLES.values() if oracle.domain_size <= 1025]
    code = (
        "import json, sys, fldp\n"
        "for fields in json.load(sys.stdin):\n"
        "    responder = fldp.Responder.from_dict(fields)\n"
        "    mine = responder.following(responder.keep()) if responder.follows else responder\n"
        "    mine.encode(mine.labels[0] if mine.labels else 1)\n"
        "print(sorted({'numpy', 'numba', 'cryptography', 'typer', 'rich', 'asyncio'} & {*sys.modules}))\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps([*described, survey().canonical]), text=True,
        capture_output=True, check=False,
    )  # fmt: skip
    assert said.stdout == "[]\n", said.stderr


def drawn_once(monkeypatch, oracle):
    """Have the oracle's response draw one known report, and return that as the oracle's array."""
    report = oracle._response.draw(1)
    monkeypatch.setitem(vars(oracle), "_response", registry.Response(oracle.domain_size, lambda value: report, 0, None))
    return oracle._answered(report)


@pytest.mark.parametrize("values", [1, [1], (1,), np.array([1]), np.int64(1), np.array(1), range(1, 2)])
def test_privatize_of_one_value_draws_by_the_response(monkeypatch, values):
    oracle = fldp.FHR(1.0, 1023)
    expected = drawn_once(monkeypatch, oracle)
    assert oracle.privatize(values) == expected


def test_with_a_seed_or_a_ticket_one_value_is_a_batch_of_one(monkeypatch):
    for oracle in (fldp.OLH(1.0, 100), fldp.OUE(1.0, 100), fldp.SS(1.0, 100)):
        batch = oracle.privatize([3, 5, 7], rng=5)
        drawn_once(monkeypatch, oracle)
        assert oracle.privatize(3, rng=5) == batch[0]
        assert oracle.privatize(3, rng=fldp.Stream(5)) == batch[0]
    olh = fldp.OLH(1.0, 100)
    drawn_once(monkeypatch, olh)
    assert ticket_words.fits(olh, ticket_words.privatize(olh, 3, "ticket", "00").data[0], "ticket", "00")


def test_what_is_not_a_value_is_refused_as_before():
    for wrong in (-1, 5, True, 1.5, "1", None, [], [[1]]):
        with pytest.raises(DomainError, match=r"^GRR: values must"):
            fldp.GRR(1.0, 5).privatize(wrong)


def test_a_class_that_perturbs_otherwise_has_no_response_of_ours():
    for oracle in (OffByOneRow(1.0, 5), SwappedProbabilities(20.0)):
        assert oracle._response is None
    assert SwappedProbabilities(20.0).privatize(1).data.tolist() == [0]  # by chance, otherwise, once in 10^8


def steps_of(action):
    """Return how often each line of a response ran."""
    ran = Counter()

    def trace(frame, event, _argument):
        if "responder" not in frame.f_code.co_filename:
            return None
        if event == "line":
            ran[frame.f_code.co_filename, frame.f_lineno] += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        action()
    finally:
        sys.settrace(before)
    return ran


@pytest.mark.parametrize("name", registry.names())
def test_the_lines_that_run_are_the_same_for_every_value_and_every_coin(name):
    """With the same bytes for every value; with coins of both kinds for one. ``make soak PART=timing`` times it."""
    oracle = fldp.oracles.get(name)(1.0, **MORE.get(name, {"domain_size": 100}))
    every = range(oracle.domain_size)

    def draw(value, words, raw):
        supply = iter(words)
        source = WordSource(lambda: next(supply), lambda count: raw[:count])
        draw = registry.response(name, oracle.parameters, source=source).draw
        return steps_of(lambda: draw(value))

    raw = fldp.Stream(3).words(1000).tobytes()
    words = fldp.Stream(4).words(8).tolist()
    counted = [draw(value, words, raw) for value in every]
    assert all(ran == counted[0] for ran in counted)
    coins = [[word] * 8 for word in (0, 2**63, 2**64 - 1)] + [fldp.Stream(seed).words(8).tolist() for seed in range(9)]
    assert all(draw(1, coin, raw) == counted[0] for coin in coins)


def test_the_client_of_the_documents_can_be_audited(tmp_path):
    """The program of docs/audit.md, run as ``fldp audit --command`` runs it."""
    document = (Path(__file__).parents[2] / "docs" / "audit.md").read_text()
    program = next(part for part in document.split("```python\n") if "Responder.from_dict" in part).split("```")[0]
    asked = survey("olh")
    (tmp_path / "survey.json").write_text(json.dumps(asked.canonical))
    (tmp_path / "client.py").write_text(program.replace('"survey.json"', repr(str(tmp_path / "survey.json"))))
    line = shlex.join([sys.executable, str(tmp_path / "client.py")])
    client = Command(line, asked.oracle, label=asked.label, survey=asked.version)
    assert len(client([2] * 50)) == 50
