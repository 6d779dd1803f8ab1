"""The oracles that do not treat all values alike, once more and slowly: a part of ``naive``."""

from fractions import Fraction
from functools import cache
from math import floor

import numpy as np

from support import naive
from support.naive import WORD, ceiling, exp_floor, respond, symbol_coin, unary_coins


def urr(oracle, value, words):
    """Randomized response among the sensitive values; any other names each of them as often as they name others."""
    if value in oracle.sensitive:
        place = respond(oracle.sensitive.index(value), words[0], oracle.epsilon, len(oracle.sensitive))
        return None, oracle.sensitive[place]
    other = symbol_coin(oracle.epsilon, len(oracle.sensitive))[1]
    shown = WORD - len(oracle.sensitive) * other
    return None, value if words[0] < shown else oracle.sensitive[(words[0] - shown) // other]


@cache
def urappor_coins(epsilon):
    """Those of basic RAPPOR, and how many words name a value that is not sensitive: d is at least p/(q e^eps)."""
    planes, true, other = unary_coins(epsilon, True)
    return (
        planes,
        true,
        other,
        floor(WORD * (1 - Fraction(true, WORD) / Fraction(other, 2**planes) / exp_floor(epsilon))),
    )


def urappor(oracle, value, words):
    planes, true, other, shown = urappor_coins(oracle.epsilon)
    blocks = len(oracle.sensitive) // 64 + 1
    bits = 0
    for place, sensitive in enumerate(oracle.sensitive):
        number = sum((words[1 + k * blocks + place // 64] >> place % 64 & 1) << k for k in range(planes))
        bits += (words[0] < true if sensitive == value else number < other) << place
    others = [v for v in range(oracle.domain_size) if v not in oracle.sensitive]
    named = others.index(value) + 1 if value in others and words[0] < shown else 0
    return None, (bits, named)


def budgets_of(oracle):
    own = dict(oracle.budgets)
    return [own.get(value, oracle.epsilon) for value in range(oracle.domain_size)]


@cache
def level_coins(oracle):
    """Bits that tell as much as the budgets allow, rounded towards privacy: planes, and both thresholds by value."""
    budgets, share = budgets_of(oracle), Fraction(oracle.balance, 1024)
    least = exp_floor(min(budgets))
    most_up, most_down = 1 + (least - 1) * share, 1 / (1 - (1 - 1 / least) * share)
    ratios = {b: (min(most_up, exp_floor(b) / most_down), min(most_down, exp_floor(b) / most_up)) for b in {*budgets}}
    planes = 20
    while True:
        law = {}
        for budget, (up, down) in ratios.items():
            q = Fraction(ceiling((down - 1) / (up * down - 1) * 2**planes), 2**planes)
            p = Fraction(floor(min(up * q, 1 - (1 - q) / down) * WORD), WORD)
            near = p / q - 1 >= (up - 1) * Fraction(1023, 1024)
            near = near and 1 - (1 - p) / (1 - q) >= (1 - 1 / down) * Fraction(1023, 1024)
            law[budget] = int(p * WORD), int(q * 2**planes), near
        if all(near for *_, near in law.values()):
            return planes, [law[b][0] for b in budgets], [law[b][1] for b in budgets]
        planes += 1


def idue(oracle, value, words):
    planes, true, other = level_coins(oracle)
    blocks = ceiling(Fraction(oracle.domain_size, 64))
    bits = 0
    for place in range(oracle.domain_size):
        number = sum((words[1 + k * blocks + place // 64] >> place % 64 & 1) << k for k in range(planes))
        bits += (words[0] < true[value] if place == value else number < other[place]) << place
    return None, bits


def apart(oracle, one, two):
    steps = abs(one - two)
    return steps if oracle.distance == "line" else min(steps, oracle.domain_size - steps)


@cache
def exponential_row(oracle, value):
    """How many words give each symbol: weights that fall by a fixed factor with every step, rounded down."""
    far = oracle.domain_size - 1 if oracle.distance == "line" else oracle.domain_size // 2
    alpha = oracle.epsilon / far
    factor = floor(exp_floor(alpha / 2 if oracle.distance == "line" else alpha) * 2**128)
    factor -= (factor - 2**128) // 2048
    weights = [2**128]
    while len(weights) <= far:
        weights.append(weights[-1] * 2**128 // factor)
    mine = [weights[apart(oracle, value, symbol)] for symbol in range(oracle.domain_size)]
    row = [WORD * weight // sum(mine) for weight in mine]
    row[value] += WORD - sum(row)
    return row


def exponential(oracle, value, words):
    symbol, word = 0, words[0]
    while word >= exponential_row(oracle, value)[symbol]:
        word -= exponential_row(oracle, value)[symbol]
        symbol += 1
    return None, symbol


def exponential_estimate(oracle, outcomes):
    """Solve for the counts that would give the observed ones on average, by elimination in rational numbers."""
    size = oracle.domain_size
    rows = [exponential_row(oracle, value) for value in range(size)]
    seen = [sum(outcome == symbol for _, outcome in outcomes) for symbol in range(size)]
    if size > 20:  # too slow in rational numbers
        return np.linalg.solve(np.array(rows, float).T / WORD, seen).tolist()
    table = [[*(Fraction(row[symbol], WORD) for row in rows), Fraction(seen[symbol])] for symbol in range(size)]
    for k in range(size):
        pivot = next(i for i in range(k, size) if table[i][k])
        table[k], table[pivot] = table[pivot], table[k]
        table[k] = [entry / table[k][k] for entry in table[k]]
        for i in range(size):
            if i != k:
                table[i] = [mine - table[i][k] * theirs for mine, theirs in zip(table[i], table[k], strict=True)]
    return [float(row[-1]) for row in table]


def uneven_estimate(oracle, outcomes):
    return [uneven_count(oracle, [outcome for _, outcome in outcomes], v) for v in range(oracle.domain_size)]


def uneven_count(oracle, outcomes, value):
    """Debias the supports of a value by its own two probabilities."""
    n, q = len(outcomes), Fraction(0)
    if oracle.name == "idue":
        planes, true, other = level_coins(oracle)
        p, q = Fraction(true[value], WORD), Fraction(other[value], 2**planes)
        count = sum(bits >> value & 1 for bits in outcomes)
    elif oracle.name == "urr":
        keep, other = symbol_coin(oracle.epsilon, len(oracle.sensitive))
        hidden = value in oracle.sensitive
        p, q = (Fraction(keep, WORD), Fraction(other, WORD)) if hidden else (Fraction(keep - other, WORD), Fraction(0))
        count = sum(symbol == value for symbol in outcomes)
    elif value in oracle.sensitive:
        planes, true, other, _ = urappor_coins(oracle.epsilon)
        p, q = Fraction(true, WORD), Fraction(other, 2**planes)
        count = sum(bits >> oracle.sensitive.index(value) & 1 for bits, _ in outcomes)
    else:
        p = Fraction(urappor_coins(oracle.epsilon)[3], WORD)
        place = value - sum(sensitive < value for sensitive in oracle.sensitive)
        count = sum(named == place + 1 for _, named in outcomes)
    return float((count - n * q) / (p - q))


def urr_likelihood(oracle, value, symbol):
    keep, other = symbol_coin(oracle.epsilon, len(oracle.sensitive))
    if symbol not in oracle.sensitive:
        return float(symbol == value)
    return (keep if symbol == value else other) / WORD


def urappor_likelihood(oracle, value, outcome):
    """Of bits that are not a value's own, all values say the same."""
    bits, named = outcome
    planes, true, other, shown = urappor_coins(oracle.epsilon)
    p, q, place = true / WORD, other / 2**planes, value - sum(sensitive < value for sensitive in oracle.sensitive)
    if value not in oracle.sensitive:
        return shown / WORD if named == place + 1 else (named == 0) * (1 - shown / WORD)
    own = bits >> oracle.sensitive.index(value) & 1
    return (named == 0) * (p / q if own else (1 - p) / (1 - q))


def idue_likelihood(oracle, value, bits):
    planes, true, other = level_coins(oracle)
    p, q = true[value] / WORD, other[value] / 2**planes
    return p / q if bits >> value & 1 else (1 - p) / (1 - q)


LIKELIHOODS = {
    "urr": urr_likelihood,
    "urappor": urappor_likelihood,
    "idue": idue_likelihood,
    "exponential": lambda oracle, value, symbol: exponential_row(oracle, value)[symbol] / WORD,
}

naive.PRIVATIZE |= {"urr": urr, "urappor": urappor, "idue": idue, "exponential": exponential}
naive.ESTIMATE |= {"exponential": exponential_estimate, **dict.fromkeys(("urr", "urappor", "idue"), uneven_estimate)}
