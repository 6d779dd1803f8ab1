"""Surveys, addresses and cards in JavaScript beside those in Python."""

import random
import re

import pytest

import fldp
from fldp.client.address import Address
from fldp.errors import FldpError
from fldp.presentation import card_text
from fldp.privacy.privacy_card import Card, values_left
from fldp.support import canonical_json
from fldp.survey import Survey
from support.javascript import ask

LABELS = ["chrome", "firefox", "safari", "edge", "other"]
BASE = {"name": "browser", "question": "Which browser are you using?", "labels": LABELS}
FHR = {"name": "fhr", "epsilon": 1.0}
GRR = {"name": "grr", "epsilon": 1.0}  # takes two labels, where FHR refuses them


def survey(**changes):
    fields = {**BASE, "oracle": FHR, **changes}
    return {key: value for key, value in fields.items() if value is not None}


GOOD = [
    survey(collect={"release": 5000}),
    survey(),
    survey(title="Browsers 🦊", description="Line one.\nLine two: “quotes” \\ / \u2028 \x7e", topic="web-2026_a"),
    survey(
        labels=[
            "ä",
            "ö",
            "\uff21",
            "\U0001f98a fox",
            "zażółć",
            "\ufeffmark",
            'a"b',
            "a\\b",
            "<script>alert(1)</script>",
        ]
    ),
    survey(labels=["x" * 200, "\U0001f98a" * 200, "y"], oracle=GRR),
    survey(labels=["a", "b"], oracle=GRR),
    survey(question="q" * 2000),
    survey(labels=None, domain_size=1023),
    survey(oracle={"name": "oue", "epsilon": 0.1}),
    survey(oracle={"name": "oue", "epsilon": 1e-3}),
    survey(oracle={"name": "olh", "epsilon": 3}),
    survey(oracle={"name": "fwr", "epsilon": 1.0, "eta": 0.5}, labels=[f"label {k}" for k in range(64)]),
    survey(oracle={"name": "fwr", "epsilon": 1.0, "eta": 1, "hash_bits": 2}),
    survey(oracle={"name": "hr", "epsilon": 1.0, "blocks": 1}),
    survey(oracle={"name": "hr", "epsilon": 3.5, "blocks": 4}),
    survey(oracle={"name": "grouped", "epsilon": 1.0, "base": "grr", "groups": [3, 2]}),
    survey(oracle={"name": "grouped", "epsilon": 1.0, "base": "grr", "groups": [3, 2], "allow_exposure": True}),
    survey(oracle={"name": "rr", "epsilon": 0.5}, labels=["no", "yes"]),
    survey(oracle={"name": "fhr", "epsilon": 1.25, "items": "paper", "allow_exposure": True}),
    survey(labels=None, domain="strings", oracle={"name": "cms", "epsilon": 2.0}),
    survey(labels=None, domain="strings", oracle={"name": "cms", "epsilon": 2.0, "hashes": 16, "width": 1024}),
    survey(labels=None, domain="strings", oracle={"name": "hcms", "epsilon": 2.5, "width": 64, "hash_seed": 2**53 - 1}),
    survey(labels=None, domain="strings", oracle={"name": "rappor", "epsilon": 1, "epsilon_permanent": 2, "p": None}),
    survey(
        labels=None,
        domain="strings",
        oracle={"name": "rappor", "epsilon": 1, "epsilon_permanent": 2, "p": 0.25, "cohorts": 64},
        collect={"repeat": "daily"},
    ),
    survey(oracle={"name": "urr", "epsilon": 1.0, "sensitive": [3, 0]}),
    survey(oracle={"name": "urappor", "epsilon": 2, "sensitive": [4]}),
    survey(oracle={"name": "idue", "epsilon": 2.0, "budgets": [[4, 1.0], [1, 0.5]]}),
    survey(oracle={"name": "idue", "epsilon": 2.0, "budgets": [[1, 0.5]], "balance": 600}),
    survey(oracle={"name": "exponential", "epsilon": 2.0, "distance": "ring"}),
    survey(collect={"repeat": "once"}),
    survey(collect={}),
    survey(collect={"submit": "ticket", "minimum": 1, "retention": "tally"}),
    survey(collect={"origins": ["https://a.example", "http://localhost:3000"]}),
    survey(collect={"opens": "2026-11-01T00:00:00Z", "closes": "2027-01-31T12:30:59Z"}),
    survey(collect={"origins": ["http://[::1]:8080", "https://xn--mnchen-3ya.example"], "minimum": 10**9}),
    survey(collect={"release": 10**12, "oblivious": False, "derive": False}, language="pt-BR"),
    {"format": "fldp-survey-1", **survey()},
]

BAD = [
    None,
    [],
    "{}",
    {},
    survey(name=None),
    survey(question=None),
    survey(name="Browser"),
    survey(name="-a"),
    survey(name="a" * 65),
    survey(topic="a b"),
    survey(topic=""),
    survey(title=" blank"),
    survey(title="blank\u00a0"),
    survey(description="bell\x07"),
    survey(description="x" * 2001),
    survey(surprise=1),
    survey(labels=None),
    survey(labels=["a"], oracle=GRR),
    survey(labels=["a", "a"], oracle=GRR),
    survey(labels=["\u00e9", "e\u0301"], oracle=GRR),
    survey(labels=["a", "b\nc"], oracle=GRR),
    survey(labels=["a", " b"], oracle=GRR),
    survey(labels=["a", 1], oracle=GRR),
    survey(labels=["a", ""], oracle=GRR),
    survey(labels=["a", "\U0001f98a" * 201], oracle=GRR),
    survey(labels="ab", oracle=GRR),
    survey(domain_size=5),
    survey(labels=None, domain_size=1),
    survey(labels=None, domain_size=2**31),
    survey(labels=None, domain_size="5"),
    survey(labels=None, domain_size=True),
    survey(domain="strings"),
    survey(labels=None, domain="strings"),
    survey(labels=None, domain="texts", oracle={"name": "cms", "epsilon": 2.0}),
    survey(labels=None, domain=["strings"], oracle={"name": "cms", "epsilon": 2.0}),
    survey(labels=None, domain="strings", domain_size=5, oracle={"name": "cms", "epsilon": 2.0}),
    survey(labels=None, domain="strings", oracle={"name": "grr", "epsilon": 2.0}),
    survey(labels=None, domain="strings", oracle={"name": "grr", "epsilon": 2.0, "domain_size": 5}),
    survey(labels=None, domain="strings", oracle={"name": "cms", "epsilon": 2.0, "width": 1}),
    survey(labels=None, domain="strings", oracle={"name": "cms", "epsilon": 2.0, "hashes": 65536}),
    survey(labels=None, domain="strings", oracle={"name": "hcms", "epsilon": 2.0, "hash_seed": 2**53}),
    survey(oracle={"name": "cms", "epsilon": 2.0}),
    survey(collect={"repeat": "daily"}),
    survey(labels=None, domain="strings", oracle={"name": "cms", "epsilon": 2.0}, collect={"repeat": "daily"}),
    survey(labels=None, domain="strings", oracle={"name": "rappor", "epsilon": 1, "epsilon_permanent": 0.5}),
    survey(labels=None, domain="strings", oracle={"name": "rappor", "epsilon": 1, "epsilon_permanent": 2, "p": 0}),
    survey(
        labels=None,
        domain="strings",
        oracle={"name": "rappor", "epsilon": 1, "epsilon_permanent": 2},
        collect={"repeat": "hourly"},
    ),
    survey(oracle=None),
    survey(oracle=["fhr"]),
    survey(oracle={"name": "nope", "epsilon": 1.0}),
    survey(oracle={"name": "fhr"}),
    survey(oracle={"name": "fhr", "epsilon": -1.0}),
    survey(oracle={"name": "fhr", "epsilon": "1"}),
    survey(oracle={"name": "fhr", "epsilon": True}),
    survey(oracle={"name": "fhr", "epsilon": 1e9}),
    survey(oracle={"name": "fhr", "epsilon": 1.0, "eta": 0.5}),
    survey(oracle={"name": "fhr", "epsilon": 1.0, "__proto__": 1}),
    survey(oracle={"name": "fhr", "epsilon": 1.0}, labels=["a", "b"]),
    survey(oracle={"name": "fwr", "epsilon": 1.0, "eta": 0.3}),
    survey(oracle={"name": "rr", "epsilon": 1.0}),
    survey(oracle={"name": "grouped", "epsilon": 1.0, "base": "grr", "groups": [3, 3]}),
    survey(oracle={"name": "urr", "epsilon": 1.0}),
    survey(oracle={"name": "urr", "epsilon": 1.0, "sensitive": []}),
    survey(oracle={"name": "urr", "epsilon": 1.0, "sensitive": [0, 0]}),
    survey(oracle={"name": "urr", "epsilon": 1.0, "sensitive": [5]}),
    survey(oracle={"name": "urr", "epsilon": 1.0, "sensitive": [True]}),
    survey(oracle={"name": "urr", "epsilon": 1.0, "sensitive": ["chrome"]}),
    survey(oracle={"name": "urappor", "epsilon": 1.0, "sensitive": [0, 1, 2, 3, 4]}),
    survey(oracle={"name": "urappor", "epsilon": 1.0, "sensitive": 3}),
    survey(oracle={"name": "urappor", "epsilon": 1.0, "sensitive": [1]}, collect={"derive": True, "submit": "ticket"}),
    survey(oracle={"name": "idue", "epsilon": 1.0, "budgets": [[0, 1.0]]}),
    survey(oracle={"name": "idue", "epsilon": 1.0, "budgets": [[0, 0.5, 1]]}),
    survey(oracle={"name": "idue", "epsilon": 1.0, "budgets": [[0, "0.5"]]}),
    survey(oracle={"name": "idue", "epsilon": 1.0, "budgets": {"0": 0.5}}),
    survey(oracle={"name": "idue", "epsilon": 1.0, "budgets": [[0, 0.5]], "balance": 1024}),
    survey(oracle={"name": "exponential", "epsilon": 1.0, "distance": "plane"}),
    survey(oracle={"name": "exponential", "epsilon": 1.0, "distance": "line"}, labels=None, domain_size=513),
    survey(collect=[]),
    survey(collect={"submit": "anyone"}),
    survey(collect={"opens": "tomorrow"}),
    survey(collect={"closes": 5}),
    survey(collect={"surprise": 1}),
    survey(tables={}),
    survey(
        labels=None,
        number={"low": 0, "high": 9, "bins": 9},
        search=3,
        oracle={"name": "sampled", "epsilon": 1.0, "base": "ss", "views": [[0]], "weights": [1]},
    ),
    survey(questions=0),
    survey(oracle={**FHR, "domain_size": 5}),
    {"format": "fldp-survey-2", **survey()},
]


MISTAKES = {  # values that break the rule of one field, which the messages of both languages name
    "language": ["EN", "english", "en_US", "en-", "", 1, None],
    "topic": ["a b", "A"],
    "title": [" blank", 1],
    "collect.submit": ["anyone", False, None, "once"],
    "collect.origins": [
        None,
        "https://a.example",
        {},
        ["x"],
        [1],
        ["*"],
        ["null"],
        ["https://A.example"],
        ["https://a.example/"],
        ["https://a.example/path"],
        ["https://a.example:443"],
        ["https://a.example."],
        ["https://m\u00fcnchen.example"],
        ["https://a+b.example"],
        ["ftp://a.example"],
        ["http://a:0"],
        ["http://127.1"],
        ["http://[0:0::1]"],
    ],
    "collect.opens": ["tomorrow", "2026-02-30T00:00:00Z", "1969-12-31T23:59:59Z", "2026-11-01T25:00:00Z", False, 5],
    "collect.closes": ["2026-11-01", "0999-01-01T00:00:00Z", "once"],
    "collect.retention": ["all", None, False, ["raw"]],
    "collect.minimum": [0, -1, 0.5, 10**9 + 1, "100", True, None],
    "collect.release": [999, 10**12 + 1, 1500.5, "1000", None],
    "collect.repeat": ["hourly", False, 1],
    "collect.derive": ["once", 1, True],
    "collect.oblivious": ["once", 1, None],
    "collect.issuer_key": ["x", False],
    "collect.issuer": ["https://issuer.example", False],
}


def mistaken(field, value):
    table, _, key = field.rpartition(".")
    return {**survey(), **({"collect": {key: value}} if table else {field: value})}


def test_good_surveys_have_the_version_that_python_computes():
    for fields, answer in zip(GOOD, ask([{"do": "version", "survey": fields} for fields in GOOD]), strict=True):
        assert answer == {"result": Survey.from_dict(fields).version}, fields


def test_bad_surveys_are_refused_by_both():
    for fields, answer in zip(BAD, ask([{"do": "version", "survey": fields} for fields in BAD]), strict=True):
        with pytest.raises(FldpError):
            Survey.from_dict(fields)
        assert answer.get("error") == "ParameterError", (fields, answer)
        assert "\n" not in answer["message"]
        assert len(answer["message"]) < 300


def test_both_name_the_field_and_its_rule():
    cases = [(field, mistaken(field, value)) for field, values in MISTAKES.items() for value in values]
    cases += [("collect.issuer_key", survey(collect={"submit": "pass"}))]
    cases += [("collect.closes", survey(collect={"opens": "2026-11-01T00:00:00Z", "closes": "2026-11-01T00:00:00Z"}))]
    for (field, fields), answer in zip(
        cases, ask([{"do": "version", "survey": case} for _, case in cases]), strict=True
    ):
        with pytest.raises(FldpError, match=rf"survey: (.*; )?{re.escape(field)} (must be .{{4}}|is missing)"):
            Survey.from_dict(fields)
        assert answer.get("message", "").startswith(f"survey: {field} must be "), (fields, answer)


def test_canonical_json_is_that_of_python():
    chance = random.Random(3)
    numbers = [0, 1, 1.0, 0.1, 1e-6, 1e-7, 1e20, 1e21, 1.5e300, 5e-324, 123456789.125, 2**53]
    numbers += [chance.uniform(0, 1) * 10.0 ** chance.randrange(-320, 300) for _ in range(500)]
    documents = [{"n": number} for number in numbers]
    documents += [{"b": [1, None, True], "a": {"z": "é", "y": '\x00\x1f"\\/\u2028\U0001f98a'}}, [], {}, "text"]
    for document, answer in zip(
        documents, ask([{"do": "canonical", "document": document} for document in documents]), strict=True
    ):
        assert answer["result"].encode() == canonical_json.dumps(document), document


@pytest.mark.parametrize(
    ("url", "other"),
    [
        ("https://collector.example", None),
        ("HTTPS://Collector.Example:443/", None),
        ("https://collector.example./surveys//", None),
        ("http://127.0.0.1:8080/a/b", None),
        ("http://[0:0::1]:8000", None),
        ("http://[::ffff:7f00:1]", None),
        ("http://[::FFFF:127.0.0.1]:81", None),
        ("http://localhost:80", None),
        # Python refuses other spellings of an address; either way there is one form.
        ("http://127.1", "http://127.0.0.1"),
        ("http://0x7f000001:80", "http://127.0.0.1"),
        ("https://user:secret@collector.example", "refused"),
        ("https://collector.example?a=b", "refused"),
        ("https://collector.example#a", "refused"),
        ("ftp://collector.example", "refused"),
        ("collector.example", "refused"),
        ("https://", "refused"),
        ("https://a.example:99999", "refused"),
        ("", "refused"),
    ],
)
def test_an_origin_has_one_form(url, other):
    answer = ask([{"do": "address", "url": url}])[0]
    if other == "refused":
        assert answer["error"] == "ParameterError"
        assert "secret" not in answer["message"]
        with pytest.raises(FldpError):
            Address.of(url)
    elif other:
        assert answer["result"]["origin"] == other
    else:
        address = Address.of(url)
        assert answer["result"] == {"origin": address.origin, "path": address.path}


def cards():
    chance = random.Random(5)
    for epsilon in (0.01, 0.0999, 0.1, 0.3, 0.5, 1.0, 1.0986, 2.25, 8.0, 20.0, 30.0):
        for size in (2, 3, 8, 12, 100, 1023, 70_000, chance.randrange(4, 5000)):
            for name, more in [("grr", {}), ("fhr", {}), ("fwr", {"eta": 0.25}), ("fwr", {"eta": 0.5}), ("oue", {})]:
                allowed = {"allow_exposure": True} if name in ("fhr", "fwr") else {}
                yield {"name": name, "epsilon": epsilon, "domain_size": size, **more, **allowed}
        for size in (3, 30):
            yield {"name": "urr", "epsilon": epsilon, "domain_size": size, "sensitive": [*range(size // 3)]}
            yield {"name": "urappor", "epsilon": epsilon, "domain_size": size, "sensitive": [size - 1]}
            yield {"name": "idue", "epsilon": epsilon, "domain_size": size, "budgets": [[1, epsilon / 3]]}
            yield {"name": "idue", "epsilon": epsilon, "domain_size": size, "budgets": [[0, epsilon / 4], [2, 0.009]]}
            yield {"name": "exponential", "epsilon": epsilon, "domain_size": size, "distance": "line"}
            yield {"name": "exponential", "epsilon": epsilon, "domain_size": size, "distance": "ring"}
    for groups in ([3, 2], [1, 7], [100, 50, 50], [2000, 30], [2, 2], [1, 1, 2]):
        yield {"name": "grouped", "epsilon": 1.5, "base": "grr", "groups": groups, "allow_exposure": True}


def test_a_card_says_what_the_card_of_python_says():
    chosen = []
    for fields in cards():
        try:
            chosen.append((fields, fldp.wire.build(fields)))
        except FldpError:
            continue
    assert len(chosen) > 300
    answers = ask([{"do": "card", "fields": fields} for fields, _ in chosen])
    for (fields, oracle), answer in zip(chosen, answers, strict=True):
        blank = Card(oracle, None, 1, None, oracle.anonymity, values_left(oracle, 1), None, None, ())
        result = answer["result"]
        assert result["certain"] == list(card_text._certain(blank)), fields
        assert result["numbers"] == list(card_text._numbers(blank)), fields
        assert result["meanLeft"] == pytest.approx(float(blank.left[1]), rel=1e-12)
