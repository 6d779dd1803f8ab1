"""The oracles once more, slowly: plain loops over plain integers, sharing no code with the package.

``privatize`` gives what ``oracle.outcome`` gives; ``tally`` and ``estimate`` work on those outcomes.
"""

import hashlib
from fractions import Fraction
from functools import cache
from itertools import product
from math import floor
from types import SimpleNamespace

import numpy as np

from fldp.oracles.flexible import fwr_items

WORD = 2**64


@cache
def exp_floor(x):
    """The largest multiple of 2^-128 below e^x, from the Taylor series with a bound on its remainder.

    The total and the next term are integers over ``whole``, as they are: to reduce them would take most of the time.
    """
    x = Fraction(x)
    total, term, whole, k = 0, 1, 1, 0
    while k < 2 * x + 2 or term * 2**200 > whole:
        total += term
        k += 1
        term, step = term * x.numerator, k * x.denominator
        total, whole = total * step, whole * step
    low, high = total * 2**128 // whole, (total + 2 * term) * 2**128 // whole
    assert low == high
    return Fraction(low, 2**128)


def ceiling(x):
    return -floor(-x)


@cache
def symbol_coin(epsilon, symbols):
    other = ceiling(WORD / (exp_floor(epsilon) + symbols - 1))
    return WORD - (symbols - 1) * other, other


@cache
def kept_coins(epsilon, permanent, symbols):
    """The coin of what is kept, and of a report: the least number of words for another symbol, by halving."""
    keep, other = symbol_coin(permanent, symbols)
    low, high = 0, WORD // symbols
    while low < high:
        middle = (low + high) // 2
        p, q = kept_chances((keep, other), (WORD - (symbols - 1) * middle, middle), symbols)
        low, high = (low, middle) if p <= exp_floor(epsilon) * q else (middle + 1, high)
    return (keep, other), (WORD - (symbols - 1) * low, low)


def kept_chances(first, second, symbols):
    """How likely the true symbol is reported, and another one: over all symbols that may be kept in between."""
    (p1, q1), (p2, q2) = ([Fraction(words, WORD) for words in coin] for coin in (first, second))
    return p1 * p2 + (symbols - 1) * q1 * q2, p1 * q2 + q1 * p2 + (symbols - 2) * q1 * q2


@cache
def unary_coins(epsilon, symmetric):
    e = exp_floor(epsilon)
    wanted = 1 / (1 + exp_floor(epsilon / 2 if symmetric else epsilon))
    planes = 20
    while True:
        other = ceiling(wanted * 2**planes)
        q = Fraction(other, 2**planes)
        p = Fraction(floor(WORD * (e * q / (1 - q + e * q))), WORD) if symmetric else Fraction(1, 2)
        ratio = p / (1 - p) * (1 - q) / q
        if q <= wanted * Fraction(1025, 1024) and (ratio - 1) >= (e - 1) * Fraction(1023, 1024):
            return planes, int(p * WORD), other
        planes += 1


@cache
def stage_coins(epsilon, lasting, hashes, p=None):
    """The planes, and the thresholds of a flip, of a kept 0 and of a kept 1: each the last that keeps its promise."""
    planes = 20
    while True:
        flip, zero, one = thresholds = stage_thresholds(
            planes, exp_floor(epsilon), exp_floor(lasting), hashes, p, epsilon
        )
        ratios = stage_ratio(flip, zero, one, planes, hashes), (Fraction(2**planes - flip, flip)) ** (2 * hashes)
        wanted = exp_floor(epsilon), exp_floor(lasting)
        if all(ratio - 1 >= (e - 1) * Fraction(1023, 1024) for ratio, e in zip(ratios, wanted, strict=True)):
            return planes, *thresholds
        planes += 1


def stage_thresholds(planes, first, both, hashes, p, epsilon):
    whole = 2**planes
    flip = last_good(whole // 2, lambda k: Fraction(whole - k, k) ** (2 * hashes) <= both, -1)
    half, p_star = Fraction(flip, whole), 1 / (1 + exp_floor(epsilon / hashes))
    if p is None:
        p = ((1 - half) * p_star - half / 2) / (1 - 2 * half)
    zero = min(max(1, ceiling(Fraction(p) * whole)), whole - 2)
    return flip, zero, last_good(zero, lambda k: k < whole and stage_ratio(flip, zero, k, planes, hashes) <= first, 1)


def stage_ratio(flip, zero, one, planes, hashes):
    flip, zero, one = (Fraction(threshold, 2**planes) for threshold in (flip, zero, one))
    p_star, q_star = zero + flip * (one - zero), one - flip * (one - zero)
    return (q_star / (1 - q_star) * (1 - p_star) / p_star) ** hashes


def last_good(start, good, direction):
    """The last number from a good one on, in a direction, that is good: strides that double, then halve."""
    step = 1
    while start + direction * step > 0 and good(start + direction * step):
        start, step = start + direction * step, 2 * step
    while step:
        if start + direction * step > 0 and good(start + direction * step):
            start += direction * step
        step //= 2
    return start


def respond(symbol, coin, epsilon, symbols):
    return thrown(symbol, coin, symbols, *symbol_coin(epsilon, symbols))


def thrown(symbol, coin, symbols, keep, other):
    if coin < keep:
        return symbol
    others = [s for s in range(symbols) if s != symbol]
    return others[(coin - keep) // other]


def splitmix(seed, value):
    z = (seed + (value + 1) * 0x9E3779B97F4A7C15) % WORD
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % WORD
    return z ^ (z >> 31)


@cache
def symbols_of(epsilon):
    e = exp_floor(epsilon)
    near = max(2, int(e))
    return min(range(max(2, near - 2), near + 4), key=lambda g: (e + g - 1) ** 2 / (g - 1))


@cache
def subset_coin(epsilon, domain_size, size=None):
    """The size of the sets, and how many words of 2^64 make a set name the true value.

    The draws may favour a set by a share of at most size * (domain_size - 1) words, in its favour and against it.
    """
    e = exp_floor(epsilon)

    def odds(w):
        return e * w / (domain_size - w)

    def variance(w):
        p = odds(w) / (1 + odds(w))
        q = p * Fraction(w - 1, domain_size - 1) + (1 - p) * Fraction(w, domain_size - 1)
        return q * (1 - q) / (p - q) ** 2

    near = int(domain_size / (e + 1))
    w = size or min(range(max(1, near - 2), min(domain_size, near + 4)), key=variance)
    fair = odds(w) * (1 - Fraction(w * (domain_size - 1), WORD)) ** 2
    return w, floor(WORD * fair / (1 + fair))


def odd(x):
    return bin(x).count("1") % 2


def first_row(oracle):
    bits = 1
    while 2**bits < oracle.domain_size + 1:
        bits += 1
    return (1 if oracle.items == "paper" else 2**bits - oracle.domain_size), 2**bits


def grr(oracle, value, words):
    return None, respond(value, words[0], oracle.epsilon, oracle.domain_size)


def unary(oracle, value, words):
    planes, true, other = unary_coins(oracle.epsilon, oracle.name == "sue")
    blocks = ceiling(Fraction(oracle.domain_size, 64))
    mask = 0
    for position in range(oracle.domain_size):
        if position == value:
            bit = words[0] < true
        else:
            number = 0
            for k in range(planes):
                number += (words[1 + k * blocks + position // 64] >> (position % 64) & 1) << k
            bit = number < other
        mask += bit << position
    return None, mask


def olh(oracle, value, words):
    g = symbols_of(oracle.epsilon)
    return words[0], respond(splitmix(words[0], value) * g >> 64, words[1], oracle.epsilon, g)


def ss(oracle, value, words):
    """The true value or not, then Floyd's sample of the others: he who is drawn again makes place for the last."""
    w, keep = subset_coin(oracle.epsilon, oracle.domain_size, getattr(oracle, "set_size", None))
    others = [v for v in range(oracle.domain_size) if v != value]
    chosen = [value] if words[0] < keep else []
    wanted = w - len(chosen)
    for word, last in zip(words[1:], range(len(others) - wanted, len(others)), strict=False):
        drawn = others[word * (last + 1) // WORD]
        chosen.append(others[last] if drawn in chosen else drawn)
    assert len(set(chosen)) == w
    return None, tuple(sorted(chosen))


def order_of_hr(oracle):
    k = 1
    while k * oracle.blocks < oracle.domain_size + oracle.blocks:
        k *= 2
    return k


def hr(oracle, value, words):
    """A position with the wrong sign is exchanged for its neighbour in the lowest bit of the row's number."""
    order = order_of_hr(oracle)
    row, block = value // oracle.blocks + 1, value % oracle.blocks
    half = respond(2 * block, words[1], oracle.epsilon, 2 * oracle.blocks)
    position = words[0] % order
    if odd(position & row) != half % 2:
        bit = 1
        while not row & bit:
            bit *= 2
        position ^= bit
    return None, half // 2 * order + position


def hr_count(oracle, outcomes, value):
    """The reports in the value's block that fit its row, less those that do not."""
    order = order_of_hr(oracle)
    row, block = value // oracle.blocks + 1, value % oracle.blocks
    keep, other = symbol_coin(oracle.epsilon, 2 * oracle.blocks)
    mine = [symbol % order for _, symbol in outcomes if symbol // order == block]
    return float(sum((-1) ** odd(row & position) for position in mine) / Fraction(keep - other, WORD))


@cache
def projective_space(epsilon, least):
    """The prime and the dimension: every prime that gives few enough points, by the variance of a rare value."""
    e, limit = exp_floor(epsilon), min(64 * least + 64, 2**32 - 1)
    best = None
    for order in range(2, limit):
        if any(order % k == 0 for k in range(2, int(order**0.5) + 1)):
            continue
        digits = 2
        while (order**digits - 1) // (order - 1) < least:
            digits += 1
        points, own, both = ((order**k - 1) // (order - 1) for k in (digits, digits - 1, digits - 2))
        if points > limit:
            continue
        p, q = ((e * inside + own - inside) / (e * own + points - own) for inside in (own, both))
        variance = q * (1 - q) / (p - q) ** 2
        if best is None or variance < best[0]:
            best = variance, order, digits
    return best[1:]


@cache
def points(order, digits):
    """All vectors whose first digit other than zero is 1, in lexicographic order."""
    return [
        (0,) * (digits - 1 - free) + (1, *tail) for free in range(digits) for tail in product(range(order), repeat=free)
    ]


def opposite(one, two, order):
    return sum(a * b for a, b in zip(reversed(one), two, strict=True)) % order == 0


@cache
def split_points(order, digits, value):
    """The numbers of the points that are orthogonal to the vector of the value read backwards, and of the others."""
    every = points(order, digits)
    inside = [k for k, point in enumerate(every) if opposite(every[value], point, order)]
    return inside, sorted({*range(len(every))} - {*inside})


@cache
def point_words(epsilon, order, digits):
    inside, outside = map(len, split_points(order, digits, 0))
    other = ceiling(WORD / (exp_floor(epsilon) * inside + outside))
    while (WORD - outside * other) % inside:
        other += 1
    return (WORD - outside * other) // inside, other


def pgr(oracle, value, words):
    order, digits = projective_space(oracle.epsilon, oracle.domain_size)
    own, other = point_words(oracle.epsilon, order, digits)
    inside, outside = split_points(order, digits, value)
    if words[0] < own * len(inside):
        return None, inside[words[0] // own]
    return None, outside[(words[0] - own * len(inside)) // other]


@cache
def wave_words(oracle):
    """The words of an output inside a window, and of one outside: the least of the second that comes out even."""
    inside, outside = 2 * oracle.width + 1, oracle.domain_size - 1
    other = ceiling(WORD / (exp_floor(oracle.epsilon) * inside + outside))
    while (WORD - outside * other) % inside:
        other += 1
    return (WORD - outside * other) // inside, other


def window(oracle, value):
    return range(value, value + 2 * oracle.width + 1)


def wave(oracle, value, words):
    """The outputs of the window first, in their order, then all others in theirs."""
    own, other = wave_words(oracle)
    near = window(oracle, value)
    far = [output for output in range(oracle.domain_size + 2 * oracle.width) if output not in near]
    word = words[0]
    for output, share in [*((output, own) for output in near), *((output, other) for output in far)]:
        if word < share:
            return None, output
        word -= share
    raise AssertionError("words are left over")


def wave_estimate(oracle, outcomes):
    """Least squares by the normal equations: outputs weighted by how likely they are if all values are alike."""
    size, n = oracle.domain_size, len(outcomes)
    own, other = wave_words(oracle)
    outputs = range(size + 2 * oracle.width)
    channel = [[Fraction(own if y in window(oracle, x) else other, WORD) for x in range(size)] for y in outputs]
    seen = [sum(outcome == y for _, outcome in outcomes) for y in outputs]
    if size > 20:  # too slow in rational numbers
        return least_squares_in_floats(channel, seen, n)
    weights = [size / sum(row) for row in channel]
    normal = [
        [sum(w * row[x] * row[z] for w, row in zip(weights, channel, strict=True)) for z in range(size)]
        for x in range(size)
    ]
    right = [sum(w * row[x] * c for w, row, c in zip(weights, channel, seen, strict=True)) for x in range(size)]
    return [float(count) for count in solved([[*row, side] for row, side in zip(normal, right, strict=True)])]


def least_squares_in_floats(channel, seen, n):
    """Weighted by roots, about the counts that are expected where all values are alike."""
    rows = np.array(channel, float)
    mean = rows.mean(axis=1)
    fitted, *_ = np.linalg.lstsq(rows / np.sqrt(mean)[:, None], (np.array(seen) - n * mean) / np.sqrt(mean), rcond=None)
    return (fitted + n / len(rows[0])).tolist()


def fhr(oracle, value, words):
    first, rows = first_row(oracle)
    item = value + first
    i, w = words[0] % rows, words[0] // 2**32 % rows
    if not odd(w & item):
        bit = 1
        while not item & bit:
            bit *= 2
        w ^= bit
    pair = (i, i ^ w) if not odd(i & item) else (i ^ w, i)
    assert not odd(pair[0] & item)
    assert odd(pair[1] & item)
    keep, _ = symbol_coin(oracle.epsilon, 2)
    return None, pair if words[1] < keep else pair[::-1]


def scattered(oracle, value):
    """The item of a value: the seeds are data of the package, judged by a test of their own."""
    bits = 0
    while 2**bits < oracle.domain_size:
        bits += 1
    if oracle.domain_size == 2**bits:
        return value, bits
    seed = fwr_items._SEEDS[oracle.domain_size - 2] if oracle.domain_size < 256 else 0
    constants = 0x9E3779B97F4A7C15 * (2 * seed + 1) % WORD
    for shift in (0, 16, 32):
        factor = (constants >> shift) % 2**bits // 2 * 2 + 1
        value = (value * factor + (constants >> (shift + 8)) % 2**bits) % 2**bits
        value ^= value >> (bits + 1) // 2
    return value, bits


def hash_bits(oracle):
    return oracle.hash_bits or best_bits(oracle.epsilon)


@cache
def best_bits(epsilon):
    e = exp_floor(epsilon)
    return min(range(1, 9), key=lambda m: ((e + 2**m - 1) ** 2 / (2**m - 1), m))


def fwr(oracle, value, words):
    item, bits = scattered(oracle, value)
    leaks = {1: 0, 2: 1, 4: 2, 8: 3}[int(1 / oracle.eta)]
    count = leaks + hash_bits(oracle)
    masks = [words[j // 2] // (2**32 if j % 2 else 1) % 2**bits for j in range(count)]
    parities = [odd(mask & item) for mask in masks]
    symbol = sum(parity << j for j, parity in enumerate(parities[leaks:]))
    symbol = respond(symbol, words[-1], oracle.epsilon, 2 ** hash_bits(oracle))
    leak = sum(parity << j for j, parity in enumerate(parities[:leaks]))
    return tuple(masks), leak + symbol * 2**leaks


def lwr(oracle, value, words):
    """All answers are drawn and kept; the one to the symbol of the value is reported through the second coin."""
    item, bits = scattered(oracle, value)
    g, places = 2**oracle.hash_bits, (oracle.hash_bits + 1) // 2
    first, second = kept_coins(oracle.epsilon, oracle.epsilon_permanent, g)
    masks = [words[j // 2] // (2**32 if j % 2 else 1) % 2**bits for j in range(oracle.hash_bits)]
    answers = [thrown(symbol, words[places + symbol], g, *first) for symbol in range(g)]
    symbol = sum(odd(mask & item) << j for j, mask in enumerate(masks))
    return tuple(masks), thrown(answers[symbol], words[-1], g, *second)


def fwr_count(oracle, outcomes, value):
    """Both estimates from their meaning: reports whose leak fits, and reports whose whole answer fits."""
    item, _ = scattered(oracle, value)
    share, g = int(1 / oracle.eta), 2 ** hash_bits(oracle)
    n, leak_fits, all_fits = len(outcomes), 0, 0
    for masks, answer in outcomes:
        true = sum(odd(mask & item) << j for j, mask in enumerate(masks))
        fits = true % share == answer % share
        leak_fits += fits
        all_fits += fits and true == answer
    p = Fraction(symbol_coin(oracle.epsilon, g)[0], WORD)
    if oracle.name == "lwr":
        p, _ = kept_chances(*kept_coins(oracle.epsilon, oracle.epsilon_permanent, g), g)
    gap = p - Fraction(1, g)
    response = (all_fits - Fraction(leak_fits, g)) / gap
    if share == 1:
        return float(response)
    leak = (leak_fits - Fraction(n, share)) / (1 - Fraction(1, share))
    v1, v2 = Fraction(1, share - 1), Fraction(g - 1, g * g) / gap**2 / share
    return float((v1 * response + v2 * leak) / (v1 + v2))


def member_of(oracle, group):
    """The base on the values of one group."""
    return SimpleNamespace(
        name=oracle.base, epsilon=oracle.epsilon, domain_size=oracle.groups[group], eta=1, hash_bits=1, blocks=1
    )


def grouped(oracle, value, words):
    group = 0
    while value >= oracle.groups[group]:
        value -= oracle.groups[group]
        group += 1
    if oracle.groups[group] == 1:
        return None, (group, None, 0)
    if oracle.base == "hrr":
        words = words[:2]
    return None, (group, *PRIVATIZE[oracle.base](member_of(oracle, group), value, words))


def grouped_estimate(oracle, outcomes):
    counts = []
    for group, size in enumerate(oracle.groups):
        mine = [rest for _, (named, *rest) in outcomes if named == group]
        counts += [len(mine)] if size == 1 else estimate(member_of(oracle, group), mine)
    return counts


def view_drawn(oracle, word):
    """The view by whole numbers: where the word lies among all weights."""
    place = word * sum(oracle.design.weights) >> 64
    total = 0
    for view, weight in enumerate(oracle.design.weights):
        total += weight
        if place < total:
            return view
    raise AssertionError


def digits_of(oracle, record):
    digits = []
    for size in reversed(oracle.answers):
        record, digit = divmod(record, size)
        digits.insert(0, digit)
    return digits


def value_in_view(oracle, view, record):
    entry, digits = oracle.design.entries[view], digits_of(oracle, record)
    if entry[0] == "cells":
        return digits[entry[1]] // entry[2]
    if entry[0] == "wave":
        return digits[entry[1]]
    value = 0
    for question in entry:
        value = value * oracle.answers[question] + digits[question]
    return value


def sampled(oracle, record, words):
    """The view by whole numbers from the first word, then the base about what the record is in it."""
    view = view_drawn(oracle, int(words[0]))
    member = oracle.members[view]
    value = value_in_view(oracle, view, record)
    inside = [int(word) for word in words[1 : 1 + member.words]]
    public, outcome = PRIVATIZE[member.name](member, value, inside)
    return ((view, public), outcome)


def fingerprint(text):
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little") & (2**63 - 1)


def sketch_of(oracle):
    """The parameters of a sketch, itself or among candidates."""
    return oracle.base if hasattr(oracle, "candidates") else oracle


def bucket_of(oracle, value, row):
    """Where a string, or the candidate of this number, lies under a hash function."""
    text = value if isinstance(value, str) else oracle.candidates[value]
    sketch = sketch_of(oracle)
    return splitmix(splitmix(sketch.hash_seed, row), fingerprint(text)) * sketch.width >> 64


def buckets_as(oracle, name):
    return SimpleNamespace(name=name, epsilon=oracle.epsilon, domain_size=sketch_of(oracle).width, eta=1, hash_bits=1)


def cms(oracle, value, words):
    row = words[0] % sketch_of(oracle).hashes
    drawn, bits = unary(buckets_as(oracle, "sue"), bucket_of(oracle, value, row), words[1:])
    return (row, drawn), bits


def hcms(oracle, value, words):
    row = words[0] % sketch_of(oracle).hashes
    masks, bit = fwr(buckets_as(oracle, "hrr"), bucket_of(oracle, value, row), words[1:])
    return (row, masks), bit


def sketch_count(oracle, outcomes, value):
    """Every report's unbiased word on the candidate's bucket, less what collisions bring on average."""
    keep, other = symbol_coin(oracle.epsilon, 2)
    p, q = probabilities(buckets_as(oracle, "sue"))
    total = Fraction(0)
    for (row, masks), answer in outcomes:
        bucket = bucket_of(oracle, value, row)
        if oracle.name == "cms":
            total += ((answer >> bucket & 1) - q) / (p - q)
        else:
            total += (-1) ** (odd(masks[0] & bucket) ^ answer) / Fraction(keep - other, WORD)
    m = sketch_of(oracle).width
    return float((total - Fraction(len(outcomes), m)) * Fraction(m, m - 1))


def filter_of(oracle, value, cohort):
    """The bits that a string, or the candidate of this number, sets in a cohort."""
    text = value if isinstance(value, str) else oracle.candidates[value]
    sketch = sketch_of(oracle)
    seeds = [splitmix(sketch.hash_seed, cohort * sketch.hashes + a) for a in range(sketch.hashes)]
    return {splitmix(seed, fingerprint(text)) * sketch.bits >> 64 for seed in seeds}


def rappor(oracle, value, words):
    """Every bit is flipped if its first number is small; then it is 1 if its second number is small enough for it."""
    sketch = sketch_of(oracle)
    planes, flip, zero, one = stage_coins(sketch.epsilon, sketch.epsilon_permanent, sketch.hashes, sketch.p)
    cohort, blocks = words[0] % sketch.cohorts, ceiling(Fraction(sketch.bits, 64))
    first, second = words[1 : 1 + planes * blocks], words[1 + planes * blocks :]
    true, answer = filter_of(oracle, value, cohort), 0
    for bit in range(sketch.bits):
        numbers = [
            sum((stage[k * blocks + bit // 64] >> (bit % 64) & 1) << k for k in range(planes))
            for stage in (first, second)
        ]
        kept = (bit in true) != (numbers[0] < flip)
        answer += (numbers[1] < (one if kept else zero)) << bit
    return cohort, answer


def rappor_estimate(oracle, outcomes):
    """Least squares on every bit of every cohort, by the normal equations, in fractions."""
    sketch, count = sketch_of(oracle), oracle.domain_size
    planes, flip, zero, one = stage_coins(sketch.epsilon, sketch.epsilon_permanent, sketch.hashes, sketch.p)
    flip, zero, one = (Fraction(threshold, 2**planes) for threshold in (flip, zero, one))
    p, q = zero + flip * (one - zero), one - flip * (one - zero)
    others = 1 - Fraction(sketch.bits - 1, sketch.bits) ** sketch.hashes
    normal = [[Fraction(0)] * (count + 1) for _ in range(count)]
    for cohort in range(sketch.cohorts):
        filters = [filter_of(oracle, value, cohort) for value in range(count)]
        mine = [answer for place, answer in outcomes if place == cohort]
        for bit in range(sketch.bits):
            row = [((bit in bits) - others) / sketch.cohorts for bits in filters]
            row.append(sum(((answer >> bit & 1) - p) / (q - p) - others for answer in mine))
            normal = [
                [old + x * y for old, y in zip(line, row, strict=True)] for line, x in zip(normal, row, strict=False)
            ]
    return [float(count) for count in solved(normal)]


def solved(rows):
    """Gauss and Jordan, on rows that end with their right side."""
    for k in range(len(rows)):
        pivot = next(row for row in rows[k:] if row[k])
        rows.remove(pivot)
        pivot = [x / pivot[k] for x in pivot]
        rows = [[x - row[k] * y for x, y in zip(row, pivot, strict=True)] for row in rows]
        rows.insert(k, pivot)
    return [row[-1] for row in rows]


PRIVATIZE = {
    "rappor": rappor,
    "cms": cms,
    "hcms": hcms,
    "grouped": grouped,
    "sampled": sampled,
    "rr": grr,
    "grr": grr,
    "sue": unary,
    "oue": unary,
    "olh": olh,
    "fhr": fhr,
    "fwr": fwr,
    "hrr": fwr,
    "lwr": lwr,
    "ss": ss,
    "hr": hr,
    "pgr": pgr,
    "wave": wave,
}
ESTIMATE = {"grouped": grouped_estimate, "wave": wave_estimate}  # those of naive_unequal are added there


def privatize(oracle, values, words):
    each = oracle.words
    return [
        PRIVATIZE[oracle.name](oracle, value, [int(w) for w in words[k * each : (k + 1) * each]])
        for k, value in enumerate(values)
    ]


def supports(oracle, public, outcome, value):
    match oracle.name:
        case "rr" | "grr":
            return outcome == value
        case "sue" | "oue":
            return outcome >> value & 1
        case "olh":
            return splitmix(public, value) * symbols_of(oracle.epsilon) >> 64 == outcome
        case "ss":
            return value in outcome
        case "pgr":
            order, digits = projective_space(oracle.epsilon, oracle.domain_size)
            return opposite(points(order, digits)[value], points(order, digits)[outcome], order)


def estimate(oracle, outcomes, decoder="full"):
    """The estimated count of every value, straight from the definition."""
    if oracle.name == "fhr":
        return [fhr_count(oracle, outcomes, value, decoder) for value in range(oracle.domain_size)]
    if oracle.name == "hr":
        return [hr_count(oracle, outcomes, value) for value in range(oracle.domain_size)]
    if oracle.name in ESTIMATE:
        return ESTIMATE[oracle.name](oracle, outcomes)
    if oracle.name == "rappor":
        return rappor_estimate(oracle, outcomes)
    if oracle.name in ("cms", "hcms"):
        return [sketch_count(oracle, outcomes, value) for value in range(oracle.domain_size)]
    if oracle.name in ("fwr", "hrr", "lwr"):
        return [fwr_count(oracle, outcomes, value) for value in range(oracle.domain_size)]
    n = len(outcomes)
    p, q = probabilities(oracle)
    counts = [sum(supports(oracle, *outcome, value) for outcome in outcomes) for value in range(oracle.domain_size)]
    return [float((count - n * q) / (p - q)) for count in counts]


def probabilities(oracle):
    """How often a report supports its own value, and any other one."""
    match oracle.name:
        case "sue" | "oue":
            planes, true, other = unary_coins(oracle.epsilon, oracle.name == "sue")
            return Fraction(true, WORD), Fraction(other, 2**planes)
        case "ss":
            w, keep = subset_coin(oracle.epsilon, oracle.domain_size)
            p, others = Fraction(keep, WORD), oracle.domain_size - 1
            return p, p * Fraction(w - 1, others) + (1 - p) * Fraction(w, others)
        case "olh":
            g = symbols_of(oracle.epsilon)
            return Fraction(symbol_coin(oracle.epsilon, g)[0], WORD), Fraction(1, g)
        case "pgr":
            order, digits = projective_space(oracle.epsilon, oracle.domain_size)
            own, other = point_words(oracle.epsilon, order, digits)
            one, two = (split_points(order, digits, value)[0] for value in (0, 1))
            both = len({*one} & {*two})
            return Fraction(own * len(one), WORD), Fraction(own * both + other * (len(two) - both), WORD)
    keep, other = symbol_coin(oracle.epsilon, oracle.domain_size)
    return Fraction(keep, WORD), Fraction(other, WORD)


def fhr_count(oracle, outcomes, value, decoder):
    item = value + first_row(oracle)[0]
    keep, other = symbol_coin(oracle.epsilon, 2)
    c = Fraction(WORD, keep - other)
    sign = sum((-1) ** odd(plus & item) - (-1) ** odd(minus & item) for _, (plus, minus) in outcomes)
    mask = sum(-((-1) ** odd((plus ^ minus) & item)) for _, (plus, minus) in outcomes)
    weight = 1 / (1 + c * c / 2) if decoder == "full" else 1
    return float(weight * c / 2 * sign + (1 - weight) * mask)
