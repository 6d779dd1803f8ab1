"""The one table: every generic test runs over these oracles. A new oracle is a new row in ``FAMILIES``."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise, product
from math import gcd, prod
from typing import Any

import fldp
from support import naive, naive_unequal

SIZES = (2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 1023, 1024, 1025)
EPSILONS = (0.01, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0)
FEW = (0.1, 1.0, 8.0)
SET_SIZES = (2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 32, 33, 64, 65, 128, 129, 257, 256, 1025)
JUNK = 0x5A5A5A5A5A5A5A5A


@dataclass(frozen=True)
class Family:
    """A row of the table.

    ``make(epsilon, size)`` builds an oracle. ``atoms(oracle, value)`` yields all regions of its random words with their
    probabilities, for domains of at most ``enumerate_to`` values.
    """

    make: Callable[[float, int], fldp.FrequencyOracle]
    atoms: Callable[[Any, int], Iterable[tuple[list[tuple[int, ...]], Fraction]]]
    enumerate_to: int
    sizes: tuple[int, ...] = SIZES
    epsilons: tuple[float, ...] = EPSILONS


def regions(bounds, total):
    """Split ``[0, total)`` at the bounds; return the ends of each region and its share."""
    edges = [0, *bounds, total]
    return [([low, high - 1], Fraction(high - low, total)) for low, high in pairwise(edges)]


def symbol_regions(epsilon, symbols):
    keep, other = naive.symbol_coin(epsilon, symbols)
    return regions([keep + k * other for k in range(symbols - 1)], naive.WORD)


def grr_atoms(oracle, value):
    for ends, share in symbol_regions(oracle.epsilon, oracle.domain_size):
        yield [(end,) for end in ends], share


def unary_atoms(oracle, value):
    planes, true, other = naive.unary_coins(oracle.epsilon, oracle.name == "sue")
    lanes = [regions([other], 1 << planes)] * oracle.domain_size
    lanes[value] = [([JUNK % 2**planes], Fraction(1))]  # the plane bits of the true value must not matter
    for (ends, share), *numbers in product(regions([true], naive.WORD), *lanes):
        rows = []
        for side in (0, -1):
            words = [ends[side]]
            words += [sum(((n[side] >> k) & 1) << v for v, (n, _) in enumerate(numbers)) for k in range(planes)]
            rows.append(tuple(words))
        for _, part in numbers:
            share *= part
        yield rows, share


def olh_atoms(oracle, value):
    for ends, share in symbol_regions(oracle.epsilon, naive.symbols_of(oracle.epsilon)):
        yield [(JUNK, end) for end in ends], share


def ss_atoms(oracle, value):
    """All regions of every step of Floyd's sample; the words of steps that are not taken must not matter."""
    w, keep = naive.subset_coin(oracle.epsilon, oracle.domain_size)
    for (coins, share), taken in zip(regions([keep], naive.WORD), (w - 1, w), strict=True):
        bounds = range(oracle.domain_size - taken, oracle.domain_size)
        steps = [regions([-(-(k << 64) // b) for k in range(1, b)], naive.WORD) for b in bounds]
        for drawn in product(*steps):
            part = share
            for _, piece in drawn:
                part *= piece
            yield [(coins[k], *(ends[k] for ends, _ in drawn), *[JUNK] * (w - taken)) for k in (0, -1)], part


def hr_atoms(oracle, value):
    order = naive.order_of_hr(oracle)
    for position, (ends, share) in product(range(order), symbol_regions(oracle.epsilon, 2 * oracle.blocks)):
        yield [(JUNK - JUNK % order + position, end) for end in ends], share / order


def pgr_atoms(oracle, value):
    order, digits = naive.projective_space(oracle.epsilon, oracle.domain_size)
    own, other = naive.point_words(oracle.epsilon, order, digits)
    inside, outside = map(len, naive.split_points(order, digits, value))
    edges = [k * own for k in range(1, inside + 1)] + [inside * own + k * other for k in range(1, outside)]
    for ends, share in regions(edges, naive.WORD):
        yield [(end,) for end in ends], share


def fhr_atoms(oracle, value):
    _, rows = naive.first_row(oracle)
    high = JUNK & ~((rows - 1) << 32 | (rows - 1))  # bits that must not matter
    for i, w, (ends, share) in product(range(rows), range(rows), symbol_regions(oracle.epsilon, 2)):
        yield [(high | w << 32 | i, end) for end in ends], share / rows**2


def fwr_atoms(oracle, value):
    junk = (JUNK,) * (oracle.words - 1)
    for ends, share in symbol_regions(oracle.epsilon, 2 ** naive.hash_bits(oracle)):
        yield [(*junk, end) for end in ends], share


def lwr_atoms(oracle, value):
    """Under one choice of masks, every answer that can be stored for the value's symbol, and every report of it.

    The words of the answers to other symbols must not matter.
    """
    item, bits = naive.scattered(oracle, value)
    g, places = 2**oracle.hash_bits, (oracle.hash_bits + 1) // 2
    masks = [JUNK // (2**32 if j % 2 else 1) % 2**bits for j in range(oracle.hash_bits)]
    symbol = sum(naive.odd(mask & item) << j for j, mask in enumerate(masks))
    coins = naive.kept_coins(oracle.epsilon, oracle.epsilon_permanent, g)
    kept, told = ([keep + k * other for k in range(g - 1)] for keep, other in coins)
    for (ends, share), (seen, part) in product(regions(kept, naive.WORD), regions(told, naive.WORD)):
        before, after = (JUNK,) * (places + symbol), (JUNK,) * (g - 1 - symbol)
        yield [(*before, ends[side], *after, seen[side]) for side in (0, -1)], share * part


def grouped_atoms(oracle, value):
    """The atoms of the base in the value's group. Masks are part of the outcome here, so all of them occur."""
    group = next(k for k, run in enumerate(oracle.estimator.runs) if value < run.stop)
    member, place = oracle.members[group], value - oracle.estimator.runs[group].start
    if oracle.groups[group] == 1:
        yield [(JUNK,) * oracle.words], Fraction(1)
        return
    masks = range(member._parities.rows) if oracle.base == "hrr" else [None]
    for mask, (rows, share) in product(masks, FAMILIES[oracle.base].atoms(member, place)):
        first = [] if mask is None else [JUNK - JUNK % member._parities.rows + mask]
        padded = [(*first, *row[len(first) :], *(JUNK,) * (oracle.words - len(row))) for row in rows]
        yield padded, share / len(masks)


def urr_atoms(oracle, value):
    few = len(oracle.sensitive)
    keep, other = naive.symbol_coin(oracle.epsilon, few)
    first = keep if value in oracle.sensitive else keep - other
    edges = [first + k * other for k in range(few)]
    for ends, share in regions([edge for edge in edges if edge < naive.WORD], naive.WORD):
        yield [(end,) for end in ends], share


def rows_of_planes(numbers, planes, blocks, side):
    """The words of all planes, such that value ``k`` has the number ``numbers[k]``."""
    rows = [[0] * blocks for _ in range(planes)]
    for place, (ends, _) in enumerate(numbers):
        for k in range(planes):
            rows[k][place // 64] |= (ends[side] >> k & 1) << place % 64
    return [word for row in rows for word in row]


def bit_atoms(oracle, thresholds, own, true, planes, blocks):
    """Every bit at both sides of its threshold; the number of the true one, at place ``own``, must not matter."""
    lanes = [regions([threshold], 1 << planes) for threshold in thresholds]
    if own is not None:
        lanes[own] = [([JUNK % 2**planes], Fraction(1))]
    for (ends, share), *numbers in product(regions([true], naive.WORD), *lanes):
        part = share
        for _, piece in numbers:
            part *= piece
        yield [(ends[side], *rows_of_planes(numbers, planes, blocks, side)) for side in (0, -1)], part


def urappor_atoms(oracle, value):
    planes, true, other, shown = naive_unequal.urappor_coins(oracle.epsilon)
    few, hidden = len(oracle.sensitive), value in oracle.sensitive
    own = oracle.sensitive.index(value) if hidden else None
    yield from bit_atoms(oracle, [other] * few, own, true if hidden else shown, planes, few // 64 + 1)


def idue_atoms(oracle, value):
    planes, true, other = naive_unequal.level_coins(oracle)
    yield from bit_atoms(oracle, other, value, true[value], planes, -(-oracle.domain_size // 64))


def wave_atoms(oracle, value):
    own, other = naive.wave_words(oracle)
    inside = 2 * oracle.width + 1
    edges = [k * own for k in range(1, inside + 1)] + [
        inside * own + k * other for k in range(1, oracle.domain_size - 1)
    ]
    for ends, share in regions(edges, naive.WORD):
        yield [(end,) for end in ends], share


def exponential_atoms(oracle, value):
    row = naive_unequal.exponential_row(oracle, value)
    for ends, share in regions([*accumulate(row)][:-1], naive.WORD):
        yield [(end,) for end in ends], share


def some(size):
    """Values 1 and 2 of every five, out of step with those that ``check_moments`` sums over."""
    return tuple(value for value in range(size) if value % 5 in (1, 2))


def own_budgets(epsilon, size):
    return {0: epsilon / 2, **({size // 2: 0.7 * epsilon} if size > 2 else {})}


def grouped(base):
    """Groups of very unequal sizes, one of them a single value if there are enough values."""
    return lambda epsilon, size: fldp.Grouped(epsilon, base=base, groups=unequal(size), allow_exposure=True)


def unequal(size):
    small = max(1, size // 4)
    return (small, size - small) if size < 6 else (small, 1, size - small - 1)


def hr(blocks):
    return lambda epsilon, size: fldp.HR(epsilon, size, blocks)


def urr(epsilon, size):
    return fldp.URR(epsilon, size, sensitive=some(size))


def urappor(epsilon, size):
    return fldp.URAPPOR(epsilon, size, sensitive=some(size))


def idue(epsilon, size):
    return fldp.IDUE(epsilon, size, budgets=own_budgets(epsilon, size))


def exponential(distance):
    return lambda epsilon, size: fldp.Exponential(epsilon, size, distance=distance)


def wave(part):
    """As wide as this part of the values, or the next width at which words divide evenly."""

    def make(epsilon, size):
        near = range(round(part * size) or 1, size + 1)
        return fldp.Wave(epsilon, size, width=next(w for w in near if gcd(2 * w + 1, size - 1) == 1))

    return make


def fwr(eta, hash_bits=None):
    return lambda epsilon, size: fldp.FWR(epsilon, size, eta, hash_bits, allow_exposure=True)


def lwr(hash_bits):
    return lambda epsilon, size: fldp.LWR(epsilon, size, 2 * epsilon, hash_bits)


def fhr(epsilon, size):
    return fldp.FHR(epsilon, size, allow_exposure=size == 2)


def fhr_paper(epsilon, size):
    return fldp.FHR(epsilon, size, items="paper", allow_exposure=True)


FAMILIES = {
    "rr": Family(lambda epsilon, size: fldp.RR(epsilon), grr_atoms, 2, (2,)),
    "grr": Family(fldp.GRR, grr_atoms, 65),
    "sue": Family(fldp.SUE, unary_atoms, 5),
    "oue": Family(fldp.OUE, unary_atoms, 5),
    "olh": Family(fldp.OLH, olh_atoms, 65),
    "ss": Family(fldp.SS, ss_atoms, 9, SET_SIZES),
    "hr": Family(fldp.HR, hr_atoms, 65),
    "hr-4": Family(hr(4), hr_atoms, 65, (4, 5, 8, 9, 33, 64, 65, 1023)),
    "pgr": Family(fldp.PGR, pgr_atoms, 65),
    "fhr": Family(fhr, fhr_atoms, 15),
    "hrr": Family(fldp.HRR, fwr_atoms, 65, (2, 3, 8, 17, 64, 1023)),
    "fwr-1": Family(fwr(1), fwr_atoms, 65, (2, 4, 9, 33, 64, 1025)),
    "fwr-2": Family(fwr(0.5), fwr_atoms, 65),
    "fwr-4": Family(fwr(0.25, 1), fwr_atoms, 65, (2, 3, 4, 5, 8, 17, 64, 100, 255, 256, 257, 1023)),
    "fwr-8": Family(fwr(0.125, 3), fwr_atoms, 65, (2, 5, 16, 33, 300)),
    "lwr-1": Family(lwr(1), lwr_atoms, 65, (2, 3, 8, 17, 64, 1023)),
    "lwr-2": Family(lwr(2), lwr_atoms, 65, (2, 5, 33, 256), FEW),
    "lwr-3": Family(lwr(3), lwr_atoms, 33, (4, 9, 33, 300), FEW),
    "grouped-grr": Family(grouped("grr"), grouped_atoms, 65, (3, 4, 8, 17, 65, 1023)),
    "grouped-oue": Family(grouped("oue"), grouped_atoms, 5, (4, 5, 9, 64, 129)),
    "grouped-hrr": Family(grouped("hrr"), grouped_atoms, 17, (4, 9, 17, 300)),
    "urr": Family(urr, urr_atoms, 65, (2, 4, 9, 65, 600), FEW),
    "urappor": Family(urappor, urappor_atoms, 9, (2, 9, 160, 200), FEW),
    "idue": Family(idue, idue_atoms, 5, (2, 3, 8, 64, 65, 200), FEW),
    "exponential-line": Family(exponential("line"), exponential_atoms, 65, (2, 3, 9, 17, 64), FEW),
    "exponential-ring": Family(exponential("ring"), exponential_atoms, 65, (3, 4, 33), FEW),
    "wave": Family(wave(0.1), wave_atoms, 65, (3, 4, 5, 9, 16, 33, 64, 65, 129)),
    "wave-wide": Family(wave(0.5), wave_atoms, 65, (3, 8, 17, 65, 128), FEW),
    "fhr-paper": Family(fhr_paper, fhr_atoms, 9, (2, 3, 4, 8, 9, 1024)),
}


def cms_atoms(oracle, value):
    """The atoms of the bits over the buckets, under one hash function."""
    inside = naive.buckets_as(oracle, "sue")
    bucket = naive.bucket_of(oracle, value, JUNK % oracle.base.hashes)
    return [([(JUNK, *row) for row in rows], share) for rows, share in unary_atoms(inside, bucket)]


def hcms_atoms(oracle, value):
    for ends, share in symbol_regions(oracle.epsilon, 2):
        yield [(JUNK, JUNK, end) for end in ends], share


def sketch(cls, hashes, width):
    return lambda epsilon, size: cls(epsilon, hashes, width, hash_seed=size).among(f"word {k}" for k in range(size))


def rappor_atoms(oracle, value):
    """Every region of every bit's number, at both stages."""
    base = oracle.base
    planes, flip, zero, one = naive.stage_coins(base.epsilon, base.epsilon_permanent, base.hashes, base.p)
    flips, answers = regions([flip], 1 << planes), regions([zero, one], 1 << planes)
    for numbers in product(*[flips] * base.bits, *[answers] * base.bits):
        share = prod((part for _, part in numbers), start=Fraction(1))
        yield [(JUNK, *planes_of([ends[side] for ends, _ in numbers], base.bits, planes)) for side in (0, -1)], share


def planes_of(numbers, bits, planes):
    """The words of two stages of a single block each: plane by plane, the bits of all numbers."""
    for stage in (numbers[:bits], numbers[bits:]):
        yield from (sum((number >> k & 1) << place for place, number in enumerate(stage)) for k in range(planes))


def rappor(bits, hashes, cohorts, p=None):
    def make(epsilon, size):
        oracle = fldp.RAPPOR(epsilon, 1.5 * epsilon, bits, hashes, cohorts, p, hash_seed=size)
        return oracle.among(f"word {k}" for k in range(size))

    return make


# Among candidates, an oracle over strings is one over numbers.
STRING_FAMILIES = {
    "rappor-4-1-4": Family(rappor(4, 1, 4), rappor_atoms, 4, (2, 4)),
    "rappor-8-2-4": Family(rappor(8, 2, 4, 0.25), rappor_atoms, 0, (3, 5)),
    "cms-1-2": Family(sketch(fldp.CMS, 1, 2), cms_atoms, 9, (2, 9)),
    "cms-4-8": Family(sketch(fldp.CMS, 4, 8), cms_atoms, 5, (5, 33)),
    "hcms-1-2": Family(sketch(fldp.HCMS, 1, 2), hcms_atoms, 9, (2, 9)),
    "hcms-4-16": Family(sketch(fldp.HCMS, 4, 16), hcms_atoms, 33, (5, 33)),
}
OF_RECORDS = ("sampled",)  # estimates tables, not values: test_sampled.py
# Moments of sketches are over the hash functions, too: test_sketch.py checks them.
EXEMPT = {name: {"check_moments", "check_estimates"} for name in ("cms", "hcms")}


def pairs(family: Family) -> list[tuple[float, int]]:
    """Every size with one epsilon, and one small size with every epsilon."""
    cases = [(EPSILONS[k % len(EPSILONS)], size) for k, size in enumerate(family.sizes)]
    return sorted({*cases, *((epsilon, min(family.sizes[-1], 5)) for epsilon in family.epsilons)})


STRING_CASES = {
    f"{name}-{size}-{epsilon}": (family, family.make(epsilon, size))
    for name, family in STRING_FAMILIES.items()
    for epsilon, size in zip((1.0, 4.0), family.sizes, strict=True)
}
CASES = {
    f"{name}-{size}-{epsilon}": (family, family.make(epsilon, size))
    for name, family in FAMILIES.items()
    for epsilon, size in pairs(family)
}
