"""The participant in JavaScript beside that in Python: the same is answered, the same refused, for the same reasons."""

import random
from fractions import Fraction

import pytest

from fldp import BudgetError, Limit, Limits, Participant
from fldp.errors import FldpError
from fldp.participant_store import MemoryStore
from fldp.survey import Survey
from support.javascript import ask

URLS = ["https://a.example", "https://b.example/path", "http://127.0.0.1:8080"]
SETS = [["a", "b", "c"], ["c", "b", "a"], ["a", "b"], ["a", "b", "c", "d"]]
ORACLES = [
    {"name": "grr", "epsilon": 0.1},
    {"name": "grr", "epsilon": 0.7},
    {"name": "oue", "epsilon": 1.3},
    {"name": "olh", "epsilon": 1e-3},
    {"name": "fhr", "epsilon": 0.3, "allow_exposure": True},
    {"name": "fwr", "epsilon": 0.2, "eta": 0.25, "allow_exposure": True},
    {"name": "lwr", "epsilon": 0.1, "epsilon_permanent": 0.3, "hash_bits": 2},
    {"name": "grouped", "epsilon": 0.1, "base": "grr", "groups": [2, 1], "allow_exposure": True},
    {"name": "urr", "epsilon": 0.2, "sensitive": [1]},
    {"name": "urappor", "epsilon": 0.3, "sensitive": [0]},
    {"name": "idue", "epsilon": 0.4, "budgets": [[0, 0.1]]},
    {"name": "exponential", "epsilon": 0.5, "distance": "line"},
    {"name": "cms", "epsilon": 0.4, "hashes": 4, "width": 8},
    {"name": "rappor", "epsilon": 0.1, "epsilon_permanent": 0.3, "bits": 8},
]


def drawn(chance):
    """Surveys of a few topics, origins, label sets and costs, many of them asked twice."""
    asked = []
    for number in range(40):
        oracle = chance.choice(ORACLES)
        labels = SETS[0] if oracle["name"] == "grouped" else chance.choice(SETS)
        domain = {"domain": "strings"} if oracle["name"] in ("cms", "rappor") else {"labels": labels}
        repeat = chance.choice(["once", "daily"]) if oracle["name"] in ("rappor", "lwr") else "once"
        topic = chance.choice(["one", "two"])
        survey = {
            "name": f"s{number % 3}",
            "question": f"Which, {chance.randrange(12)}?",
            "topic": topic,
            **domain,
            "oracle": oracle,
            "collect": {"repeat": repeat},
        }
        asked.append({"survey": survey, "label": chance.choice("ab"), "url": chance.choice(URLS)})
    return asked + chance.sample(asked, 20)


def test_a_search_is_answered_in_one_of_its_rounds_only():
    """Versions of rounds are those of Python, and so is the refusal of a second round, whatever the limits."""
    first = Survey.from_dict(
        {
            "name": "found",
            "question": "Which?",
            "domain": "strings",
            "search": {"alphabet": "ab", "bits": 6, "k": 2},
            "oracle": {"name": "grr", "epsilon": 0.1},
        }
    )
    later = first.at(first.search.search.later(2, ("0111", "10"), 3))
    asked = [{"survey": survey.canonical, "label": "abba", "url": URLS[0]} for survey in (first, later, first)]
    told = ask([{"do": "sequence", "asked": asked, "agrees": True}])[0]["result"]
    expected = in_python(asked, _defaults(), agrees=True, anonymity=2)
    assert list(in_javascript(told)) == expected
    assert "one round only" in expected[1]
    versions = ask([{"do": "version", "survey": survey.canonical} for survey in (first, later)])
    assert [answer["result"] for answer in versions] == [first.version, later.version]


@pytest.mark.parametrize("seed", range(3))
def test_answers_that_a_survey_lacks_and_labels_that_a_program_expects(seed):
    """The same is answered, refused and counted, with labels that are expected, lacking, or none at all."""
    chance, asked = random.Random(seed), []
    sets = (list("abc"), list("abcd"), list("bcd"), ["a", "b", "other"])
    for number in range(60):
        survey = {
            "name": chance.choice(["s", "t", f"s{number}"]),
            "topic": chance.choice(["t", "u", f"t{number}"]),
            "question": f"Which, {number % 7}?",
            "labels": chance.choice(sets),
            "oracle": {"name": "grr", "epsilon": 0.1},
        }
        expected, otherwise = chance.choice([None, *sets]), chance.choice([None, "a", "other", "nothing", ""])
        program = {"labels": expected, "otherwise": otherwise}
        label = chance.choice(["a", "d", "z", "", "e\u0301", "\0", "x" * 1025])
        program = {name: field for name, field in program.items() if field is not None}
        asked.append({"survey": survey, "label": label, "url": chance.choice(URLS), "program": program})
    agrees = seed % 2 > 0
    result = ask([{"do": "sequence", "asked": asked, "agrees": agrees, "counted": True}])[0]["result"]
    counts = {}
    expected = in_python(asked, _defaults(), agrees=agrees, anonymity=2, counts=counts)
    assert list(in_javascript(result["told"])) == expected
    assert result["refusals"] == counts
    assert {"DomainError", "ParameterError"} < {one for one in expected if isinstance(one, str)}
    assert [one for one in expected if isinstance(one, str) and "labels that the program expects" in one]


def several(chance, number):
    """A survey of one to three questions, or of a number, and answers that it may lack."""
    labels, high = chance.choice(SETS), chance.choice([10, 20])
    kinds = [{"labels": labels}, {"domain_size": len(labels)}, {"number": {"low": 0, "high": high, "bins": 4}}]
    common = {"name": chance.choice(["s", "t"]), "topic": chance.choice(["t", "u"]), "oracle": {"epsilon": 0.1}}
    if chance.random() < 0.3:
        return {**common, "question": f"How many, {number % 3}?", **kinds[2]}, chance.choice(["3", "-1e9", "x", "30"])
    asked = [
        {"name": name, "question": f"{name}?", **chance.choice(kinds)} for name in "abc"[: chance.choice([1, 1, 2, 3])]
    ]
    for question in asked:
        if "number" not in question and chance.random() < 0.3:
            question["optional"] = True
    answers = {name: chance.choice(["a", "1", 2, "", None, "z"]) for name in "abc"}
    if number % 8 == 0:  # the program does not name its questions
        return {**common, "name": f"n{number}", "questions": asked}, {"x": "a"}
    return {**common, "questions": asked, "tables": {"ask": chance.choice(["all", "drawn"])}}, answers


@pytest.mark.parametrize("seed", range(4))
def test_several_questions_and_numbers_are_answered_and_refused_alike(seed):
    """Notices, too: of few answers, and of other questions, labels and ranges than the last time."""
    chance = random.Random(seed)
    drawn_ones = [several(chance, number) for number in range(80)]
    pairs = [(Survey.from_dict(fields).canonical, label) for fields, label in drawn_ones]
    asked = [{"survey": survey, "label": label, "url": chance.choice(URLS)} for survey, label in pairs]
    result = ask([{"do": "sequence", "asked": asked, "agrees": True, "counted": True}])[0]["result"]
    counts = {}
    expected = in_python(asked, _defaults(), agrees=True, anonymity=2, counts=counts)
    assert list(in_javascript(result["told"])) == expected
    assert result.get("refusals", {}) == counts
    notices = [notice for one in expected if isinstance(one, tuple) for notice in one[1]]
    assert [notice for notice in notices if "fewer than 3" in notice]
    assert [notice for notice in notices if "have changed" in notice]
    assert "DomainError" in expected  # of questions that the program does not name


def limits_of(chance):
    scopes = [
        (chance.choice([0.5, 1, 2]), chance.choice([0, 0.0625, 0.5, 1]), chance.choice([2, 100])) for _ in range(3)
    ]
    return [(3 * k * epsilon or epsilon, eta, answers) for k, (epsilon, eta, answers) in enumerate(scopes)]


def in_python(asked, scopes, agrees, anonymity, counts=None):
    limits = Limits(*(Limit(*scope) for scope in scopes), min_anonymity=anonymity)
    person, told = Participant(MemoryStore(), limits=limits), []
    for request in asked:
        origin = request["url"].removesuffix("/path")
        try:
            program = request.get("program", {})
            answer = person.answer(
                request["survey"], request["label"], origin=origin, confirm=lambda _: agrees, **program
            )
            spent = answer.spent
            told.append((answer.repeated, list(answer.notices), spent.epsilon, float(spent.eta), spent.answers))
        except BudgetError as error:
            told.append(str(error))
        except FldpError as error:
            told.append(type(error).__name__)
    if counts is not None:
        counts.update({entry.origin: entry.count for entry in person.refusals()})
    return told


def in_javascript(told):
    for one in told:
        if one.get("error") == "BudgetError":
            yield one["message"]
        elif "error" in one:
            yield one["error"]
        else:
            spent = one["spent"]
            yield (
                one["repeated"],
                one["notices"],
                Fraction(spent["epsilon"]),
                spent["eta"],
                spent["answers"],
            )


@pytest.mark.parametrize("seed", range(6))
def test_the_same_is_answered_and_the_same_refused(seed):
    chance = random.Random(seed)
    asked, scopes = drawn(chance), limits_of(chance)
    names = ("maxEpsilon", "minEta", "maxAnswers")
    limits = {
        name: dict(zip(names, scope, strict=True))
        for name, scope in zip(("topic", "origin", "total"), scopes, strict=True)
    }
    agrees, anonymity = seed % 3 > 0, 1 + seed % 2
    request = {"do": "sequence", "asked": asked, "limits": {**limits, "minAnonymity": anonymity}, "agrees": agrees}
    expected = in_python(asked, scopes, agrees, anonymity)
    assert list(in_javascript(ask([request])[0]["result"])) == expected
    assert len({type(told) for told in expected}) == 2  # some are answered, some refused


def test_the_defaults_are_those_of_python():
    asked = drawn(random.Random(99))
    expected = in_python(asked, [(2, 0.5, 100), (4, 0.25, 100), (8, 1 / 16, 1000)], agrees=True, anonymity=2)
    assert expected == list(in_javascript(ask([{"do": "sequence", "asked": asked, "agrees": True}])[0]["result"]))
    assert in_python(asked, _defaults(), agrees=True, anonymity=Limits().min_anonymity) == expected


def _defaults():
    return [
        (limit.max_epsilon, limit.min_eta, limit.max_answers)
        for limit in (Limits().topic, Limits().origin, Limits().total)
    ]


def test_etas_are_multiplied_as_they_are_written():
    """Those of ULDP are decimals, and their product is neither rounded nor refused where it just fits."""
    epsilons = [0.8, 0.9, 1.0]
    oracles = [{"name": "urr", "epsilon": epsilon, "sensitive": [0, 1]} for epsilon in epsilons]
    surveys = [{"name": "s", "question": "Q?", "labels": list("abcd"), "oracle": oracle} for oracle in oracles]
    asked = [{"survey": survey, "label": "a", "url": URLS[0]} for survey in surveys]
    etas = [Survey.from_dict(one["survey"]).oracle.eta for one in asked]
    least = etas[0] * etas[1]
    assert float(etas[0]) * float(etas[1]) < least  # doubles would refuse the second
    scopes = [(9, float(least), 100)] * 3
    limit = {"maxEpsilon": 9, "minEta": float(least), "maxAnswers": 100}
    limits = {"topic": limit, "origin": limit, "total": limit, "minAnonymity": 1}
    told = ask([{"do": "sequence", "asked": asked, "limits": limits, "agrees": True}])[0]["result"]
    expected = in_python(asked, scopes, agrees=True, anonymity=1)
    assert list(in_javascript(told)) == expected
    assert [isinstance(one, str) for one in expected] == [False, False, True]


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1e-3, 0.7])
def test_epsilons_are_added_as_they_are_written(epsilon):
    """Ten times 0.1 is 1, and fits into 1; an eleventh does not."""
    most = round(1 / epsilon)
    oracle = {"name": "grr", "epsilon": epsilon}
    asked = [
        {
            "survey": {"name": "s", "question": f"Q {k}?", "labels": list("abc"), "oracle": oracle},
            "label": "a",
            "url": URLS[0],
        }
        for k in range(min(most, 60) + 1)
    ]
    total = float(Fraction(str(epsilon)) * (len(asked) - 1))
    scopes = [(total, 1, 1000)] * 3
    limit = {"maxEpsilon": total, "minEta": 1, "maxAnswers": 1000}
    limits = {"topic": limit, "origin": limit, "total": limit}
    told = ask([{"do": "sequence", "asked": asked, "limits": limits, "agrees": True}])[0]["result"]
    assert [*in_javascript(told)] == in_python(asked, scopes, agrees=True, anonymity=2)
    assert [("error" in one) for one in told] == [False] * (len(asked) - 1) + [True]
