"""The oracles in JavaScript beside those in Python: the same thresholds, reports, bytes and refusals.

The choices are drawn with fixed seeds; nothing here can fail by chance.
"""

import math
import random

import numpy as np
import pytest

import fldp
from fldp import wire
from fldp.conformance.vectors import craft
from fldp.data.fingerprints import fingerprint, utf8
from fldp.data.reports import Reports
from fldp.errors import FldpError
from fldp.oracles import get
from fldp.oracles.base.string_oracle import StringOracle
from fldp.oracles.kit import analysis
from fldp.randomness.coins import exp_lower
from support.javascript import NAMES, ask

EXTREMES = [5e-324, 1e-300, 1e-18, 1e-12, 1e-6, 0.1, math.log(2), 1.0, math.log(3), 20.0, 40.0, 44.3, 63.999, 64.0, 1e9]
BASES = ["grr", "hr", "hrr", "oue", "pgr", "ss", "sue"]


def sensitive_of(size, epsilon, chance):
    """Some values in any order, now and then all of them, one that is not there, or one twice."""
    few = chance.choice([1, 1, size // 2, size // 2, min(size - 1, 64), min(size, 256)])
    named = chance.sample(range(size), few)
    return {"sensitive": chance.choice([named] * 8 + [[*named, size], [*named, named[0]]])}


def budgets_of(size, epsilon, chance):
    """Budgets of some values, most of them below epsilon, and a balance or none; the least are right but for size."""
    if epsilon < 1e-9:
        return {"budgets": [[0, epsilon / 2]]}
    named = chance.sample(range(size), chance.choice([1, 2, min(size, 9), min(size, 100)]))
    shares = [chance.choice([0.25, 0.5, 0.5, 0.9, chance.uniform(0.1, 0.99)]) for _ in range(3)]
    budgets = [[value, epsilon * chance.choice(shares)] for value in named]
    budgets += chance.choice([[]] * 8 + [[[size, epsilon / 2]], [budgets[0]]])
    return {"budgets": budgets, "balance": chance.choice([None, None, 512, 700, 1023, 511])}


def distance_of(size, epsilon, chance):
    """Any distance; near the largest epsilons the smallest rings, where rounding is what refuses them."""
    if epsilon >= 30:
        return {"distance": "ring", "domain_size": chance.choice([2, 3])}
    return {"distance": chance.choice(["line", "ring", "line", "ring", "plane"]), "domain_size": min(size, 40)}


def width_of(size, epsilon, chance):
    """Any width, most of them with windows that the words come out even for."""
    return {"width": chance.choice([1, 2, 3, size // 2, chance.randrange(1, size + 2), 0])}


TREATED = {
    "wave": width_of,
    "urr": sensitive_of,
    "urappor": sensitive_of,
    "idue": budgets_of,
    "exponential": distance_of,
}


def epsilons(chance, count):
    return [*EXTREMES, *(10 ** chance.uniform(-3, 1.3) for _ in range(count))]


def views_of(epsilon, chance):
    """Records of a few questions, views of every kind, and now and then ones that cannot be."""
    answers = [chance.choice([2, 3, 4, 6, 8, 12]) for _ in range(chance.randrange(1, 5))]
    numbers = range(len(answers))
    pairs = [[a, b] for a in numbers for b in numbers if a < b]
    lists = [
        [[a] for a in numbers] + chance.sample(pairs, len(pairs) // 2),
        [*numbers[:1], [0]],
        [[0], ["cells", 0, 2]],
    ]
    views = chance.choice([1, 1, 2, lists[0], lists[0], lists[2] if len(answers) == 1 else lists[0], lists[1]])
    count = {1: len(answers), 2: len(pairs)}.get(views) if isinstance(views, int) else len(views)
    weights = chance.choice([[], [], [chance.randrange(1, 4096) for _ in range(count)], [7] * count, [1] * 99])
    base = chance.choice(["ss", "grr", "oue", "pgr", "hrr", "fwr"])
    eta = {"eta": chance.choice([1, 0.5])} if base == "fwr" else {}
    return {
        "name": "sampled",
        "epsilon": epsilon,
        "answers": answers,
        "views": views,
        "weights": weights,
        "base": base,
        **eta,
    }


def fields_of(name, epsilon, chance):
    """Parameters that an oracle may or may not accept."""
    size = chance.choice([2, 3, 4, 5, 7, 8, 16, 31, 64, 65, chance.randrange(2, 400)])
    fields = {"name": name, "epsilon": epsilon, "domain_size": size}
    if name in ("cms", "hcms"):
        sizes = {"hashes": chance.choice([1, 2, 4, 256, 512, 65536, 3]), "width": chance.choice([1, 2, 16, 64, 128])}
        return {"name": name, "epsilon": epsilon, **sizes, "hash_seed": chance.choice([0, 1, 2**53 - 1, 2**53])}
    if name == "rappor":
        fields = {"name": name, "epsilon": epsilon, "bits": chance.choice([2, 8, 17, 64, 130])}
        fields |= {"epsilon_permanent": epsilon * chance.choice([1, 1.5, 2, 2, 4, 0.5])}
        fields |= {"hashes": chance.choice([1, 2, 3]), "cohorts": chance.choice([1, 2, 4, 64, 512, 3])}
        fields |= {"p": chance.choice([*[None] * 6, 0.25, 0.1, 1e-9, 1 - 2**-53])}
        return fields | {"hash_seed": chance.choice([0, 2**53 - 1])}
    if name == "sampled":
        return views_of(epsilon, chance)
    if name == "lwr":
        fields |= {"epsilon_permanent": epsilon * chance.choice([1, 1.01, 1.5, 2, 2, 8, 0.5])}
        fields |= {"hash_bits": chance.choice([1, 1, 2, 3, 4])}
    if name == "ss":
        fields |= {"set_size": chance.choice([None, None, 1, 2, 5, size - 1, size])}
    if name == "rr":
        del fields["domain_size"]
    if name in ("fhr", "fwr"):
        fields["allow_exposure"] = chance.random() < 0.6
    if name == "fhr" and chance.random() < 0.4:
        fields["items"] = "paper"
    if name == "fwr":
        fields |= {"eta": chance.choice([1, 0.5, 0.25, 0.125])}
        fields |= {"hash_bits": chance.choice([None, 1, 2, 3])}
    if name == "hr":
        fields["blocks"] = chance.choice([1, 1, 2, 4, 16])
    if name in TREATED:
        fields |= TREATED[name](size, epsilon, chance)
    if name == "grouped":
        del fields["domain_size"]
        groups = [chance.randrange(1, 30) for _ in range(chance.randrange(2, 6))]
        fields |= {"base": chance.choice(BASES), "groups": groups, "allow_exposure": chance.random() < 0.7}
    return fields


def oracle_of(fields):
    try:
        return wire.build(fields)
    except FldpError:
        return None


def test_the_exponential_function_is_that_of_python_bit_for_bit():
    chance = random.Random(1)
    numbers = [e for e in epsilons(chance, 3000) if e <= 64] + [chance.uniform(0, 64) for _ in range(2000)]
    answers = ask([{"do": "power", "epsilon": epsilon} for epsilon in numbers])
    for epsilon, answer in zip(numbers, answers, strict=True):
        assert int(answer["result"]) == int(exp_lower(epsilon) * 2**128), epsilon


def edges(oracle):
    """Words at both sides of every threshold."""
    coin, words = getattr(oracle, "coin", None), {0, 2**64 - 1}
    coins = oracle.memoization.coins if oracle.memoization else getattr(oracle, "coins", None)
    words |= {edge + step for edge in own_edges(oracle) for step in (-1, 0, 1)}
    if hasattr(oracle, "_sketch"):
        return edges(oracle._sketch.response)
    for edge in [getattr(coin, "keep", 1), getattr(coins, "true_threshold", 1)]:
        words |= {edge - 1, edge, edge + 1}
    for stage in ("first", "second"):
        keep = getattr(getattr(coins, stage, None), "keep", 1)
        words |= {keep - 1, keep, keep + 1}
    if hasattr(coin, "other"):
        words |= {coin.keep + coin.other - 1, coin.keep + coin.other}
    return sorted(word % 2**64 for word in words)


def own_edges(oracle):
    """The thresholds of the oracles that do not protect all values alike: of naming a value, of levels, of symbols."""
    if oracle.name == "exponential":
        return [sum(oracle._shares[0][:k]) for k in (1, oracle.domain_size // 2)]
    return getattr(oracle.coins, "true", []) if oracle.name == "idue" else [getattr(oracle, "_shown", 1)]


def rows_of(oracle, chance):
    rows = [[chance.randrange(analysis(oracle).values_end), [edge] * oracle.words] for edge in edges(oracle)]
    draws = [[chance.getrandbits(64) for _ in range(oracle.words)] for _ in range(4)]
    return rows + [[chance.randrange(analysis(oracle).values_end), words] for words in draws]


def request_of(fields, oracle, rows):
    """Fingerprints go as text, and are those that likelihoods are asked for."""
    strings = analysis(oracle).domain_size is None
    texts = [[str(value) if strings else value, [*map(str, words)]] for value, words in rows]
    among = {"among": [value for value, _ in texts]} if strings else {}
    return {"do": "reports", "fields": fields, "rows": texts, **among}


def reports_of(oracle, rows):
    values, words = zip(*rows, strict=True)
    data = oracle.report_format.empty(len(values))
    oracle.perturb(np.array(values), np.array(words, np.uint64), data)
    return Reports(oracle, data)


def likelihoods_of(oracle, values, data):
    """Of all values; of strings and records, of those that were asked for."""
    about = analysis(oracle)
    if about.answers is not None:
        few = sorted(set(values))
        return analysis(oracle.among(few)).likelihoods(data)[:, [few.index(value) for value in values]]
    return about.likelihoods(data) if about.domain_size else about.likelihoods_among(np.array(values), data)


@pytest.mark.parametrize("name", NAMES)
def test_every_oracle_gives_the_same_reports_and_refuses_the_same_parameters(name):
    chance = random.Random(name)
    every = [fields_of(name, epsilon, chance) for epsilon in epsilons(chance, 60)]
    kept = [(fields, oracle) for fields in every if (oracle := oracle_of(fields))]
    assert len(kept) >= 30
    rows = [rows_of(oracle, chance) for _, oracle in kept]
    asked = [{"do": "oracle", "fields": fields} for fields in every]
    told = [request_of(*each, part) for each, part in zip(kept, rows, strict=True)]
    answers = ask(asked + told)
    for fields, answer in zip(every, answers, strict=False):
        oracle = oracle_of(fields)
        assert (answer.get("error") == "ParameterError") == (oracle is None), (fields, answer)
        if oracle is not None:
            left = 2**31 - 1 if isinstance(oracle, StringOracle) else oracle.anonymity
            numbers = (oracle.words, oracle.report_format.bits, float(oracle.eta), left)
            result = answer["result"]
            assert (result["words"], result["reportBits"], result["eta"], result["anonymity"]) == numbers, fields
            assert result["description"] == wire.describe(oracle), fields
    for (fields, oracle), part, answer in zip(kept, rows, answers[len(every) :], strict=True):
        reports = reports_of(oracle, part)
        assert answer["result"]["batch"] == wire.encode(reports).hex(), fields
        expected = likelihoods_of(oracle, [value for value, _ in part], reports.data)
        result = np.array(answer["result"]["likelihoods"])
        scale = expected.max(axis=1, keepdims=True) / result.max(axis=1, keepdims=True)
        np.testing.assert_allclose(result * scale, expected, rtol=1e-9, err_msg=str(fields))
        assert ((result == 0) == (expected == 0)).all(), fields


def test_strings_and_their_fingerprints_are_those_of_python():
    texts = ["a", "", "\0", "é", "e\u0301", "🦊", "\ud800", "a\udc00b", " blank ", "x" * 1024, "x" * 1025, "é" * 512]
    texts += ["é" * 513, "🦊" * 256, "🦊" * 257, "line\nline", "\ufeffmark", "https://example.org/?q=1&r=%20"]
    answers = ask([{"do": "strings", "oracle": {"name": "cms", "epsilon": 1.0}, "texts": texts}])[0]["result"]
    for text, mark in zip(texts, answers, strict=True):
        data = utf8(text)
        assert int(mark) == (-1 if data is None else fingerprint(data)), text


@pytest.mark.parametrize(
    "name", sorted({*NAMES} & {*fldp.oracles.listed_names()} - {"rr", "grouped", "exponential", "wave"})
)
def test_large_domains_are_those_of_python(name):
    sizes = [1 << 20, (1 << 20) - 1, 700_001, 1025]
    every = [{"name": name, "epsilon": 1.0, "domain_size": size} for size in sizes]
    if name == "fwr":
        every += [{**fields, "eta": 0.25} for fields in every[1:]]
    treated = {"idue": {"budgets": [[3, 0.5], [1024, 0.25]]}, "urr": {"sensitive": [7, 1024]}}
    treated["lwr"] = {"epsilon_permanent": 2.0, "hash_bits": 3}
    every = [{**fields, **(treated | {"urappor": treated["urr"]}).get(name, {})} for fields in every]
    for fields, answer in zip(every, ask([{"do": "oracle", "fields": fields} for fields in every]), strict=True):
        oracle = get(name)(**{key: value for key, value in fields.items() if key != "name"})
        result = answer["result"]
        assert (result["words"], result["reportBits"], result["anonymity"]) == (
            oracle.words,
            oracle.report_format.bits,
            oracle.anonymity,
        )


def readable(batch):
    try:
        return len(wire.decode(batch))
    except FldpError:
        return None


@pytest.mark.parametrize("name", NAMES)
def test_what_no_value_gives_is_refused_by_both(name):
    """Reports of random bits: whether one is possible is not a matter of taste."""
    chance = random.Random(name)
    batches = []
    for fields in [fields_of(name, 1.0, chance) for _ in range(40)]:
        oracle = oracle_of({**fields, **({"allow_exposure": True} if "allow_exposure" in fields else {})})
        if oracle is None or oracle.report_format.bits > 400:
            continue
        for _ in range(10):
            bits = chance.getrandbits(oracle.report_format.bits) & chance.choice([-1, 0xFF, 0x3])
            packed = bits.to_bytes(-(-oracle.report_format.bits // 8), "little")
            batches.append(craft({"oracle": wire.describe(oracle)}, [(1, packed)], 1))
    answers = ask([{"do": "decode", "batch": batch.hex()} for batch in batches])
    expected = [readable(batch) for batch in batches]
    assert [answer.get("result") for answer in answers] == expected
    assert len(expected) >= 100
    if name in ("exponential", "fhr", "fwr", "grouped", "grr", "pgr", "ss", "urappor", "urr", "wave"):
        assert {1, None} == set(expected)


def test_more_values_than_a_participant_takes_are_refused():
    answers = ask([{"do": "oracle", "fields": {"name": "grr", "epsilon": 1.0, "domain_size": (1 << 20) + 1}}])
    assert answers[0]["error"] == "ParameterError"
