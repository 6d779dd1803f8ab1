"""The realised coins never exceed the declared epsilon, whatever the epsilon."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fldp
from fldp import ParameterError
from fldp.numerics.kernels import U64
from fldp.oracles.plain.olh import best_symbols
from fldp.oracles.plain.subset_selection import best_size
from fldp.oracles.plain.subset_selection_analysis import floyd_law
from fldp.oracles.plain.unary import throw
from fldp.randomness.coins import SubsetCoin, SymbolCoin, UnaryCoins, exp_lower
from support import naive

LEAST, MOST = 1e-6, 20.0
LOSS = Fraction(1, 1024)
epsilons = st.floats(np.log(LEAST), np.log(MOST)).map(lambda x: float(np.clip(np.exp(x), LEAST, MOST)))
many = settings(max_examples=1500, deadline=None, derandomize=True)


def exceeds(ratio, epsilon):
    """Compare with e^epsilon itself, through a bound that the package did not compute."""
    return ratio > naive.exp_floor.__wrapped__(epsilon) + Fraction(1, 2**128)


@given(epsilons)
@many
@pytest.mark.long
def test_exp_lower_is_the_taylor_series(epsilon):
    assert exp_lower(epsilon) == naive.exp_floor.__wrapped__(epsilon)


@given(epsilons, st.sampled_from([2, 3, 4, 5, 7, 64, 1023, 1024, 50_000]))
@many
@pytest.mark.long
def test_symbol_coins(epsilon, symbols):
    coin = SymbolCoin.build("GRR", epsilon, symbols)
    assert coin.keep + (symbols - 1) * coin.other == 2**64
    assert coin.keep > coin.other > 0
    ratio = coin.p / coin.q
    assert not exceeds(ratio, epsilon)
    assert ratio - 1 >= (1 - LOSS) * (exp_lower(epsilon) - 1)


@given(epsilons, st.booleans())
@many
@pytest.mark.long
def test_unary_coins(epsilon, symmetric):
    coins = UnaryCoins.build("UE", epsilon, symmetric=symmetric)
    assert 20 <= coins.planes <= 64
    assert 1 > coins.p > coins.q > 0
    assert coins.ratio == coins.p / (1 - coins.p) * (1 - coins.q) / coins.q
    assert not exceeds(coins.ratio, epsilon)
    assert coins.ratio - 1 >= (1 - LOSS) * (exp_lower(epsilon) - 1)
    assert (coins.planes, coins.true_threshold, coins.other_threshold) == naive.unary_coins(epsilon, symmetric)


@given(epsilons, st.sampled_from([2, 3, 4, 5, 7, 64, 1023, 1024, 50_000]))
@settings(max_examples=600, deadline=None, derandomize=True)
@pytest.mark.long
def test_subset_coins(epsilon, domain_size):
    """The worst that multiply-high can do to two sets, step by step, leaves their ratio at or below e^epsilon."""
    size = best_size(epsilon, domain_size)
    coin = SubsetCoin.build("SS", epsilon, size, domain_size)
    assert (size, coin.keep) == naive.subset_coin(epsilon, domain_size)
    assert not exceeds(coin.ratio / coin.even**2, epsilon)
    assert not exceeds(1 / coin.even**2, epsilon)
    assert coin.ratio - 1 >= (1 - LOSS) * (exp_lower(epsilon) - 1)
    assert (size - coin.p) / (domain_size - 1) < coin.p < 1


@pytest.mark.parametrize("epsilon", [1e-6, 0.01, 0.3, 1.0, 2.5, 6.0])
@pytest.mark.parametrize("domain_size", [2, 3, 6, 10, 31])
def test_the_size_of_the_sets_minimises_the_variance_of_all_sizes(epsilon, domain_size):
    e = exp_lower(epsilon)

    def variance(size):
        p = size * e / (size * e + domain_size - size)
        q = (size - p) / (domain_size - 1)
        return q * (1 - q) / (p - q) ** 2

    assert best_size(epsilon, domain_size) == min(range(1, domain_size), key=variance)


@pytest.mark.parametrize(("others", "members"), [(1, 1), (5, 0), (5, 5), (6, 3), (7, 2), (9, 4), (11, 10), (12, 5)])
def test_sets_are_as_even_as_the_coin_takes_them_to_be(others, members):
    law = floyd_law(others, members)
    uniform, even = Fraction(1, len(law)), SubsetCoin(members, others + 1, 0).even
    assert len(law) == comb(others, members)
    assert sum(law.values()) == 1
    assert uniform * even <= min(law.values()) <= max(law.values()) <= uniform / even


@given(epsilons, st.integers(4, 9))
@settings(max_examples=30, deadline=None, derandomize=True)
@pytest.mark.long
def test_sets_keep_the_declared_epsilon(epsilon, domain_size):
    verification = fldp.verify(fldp.SS(epsilon, domain_size))
    assert not exceeds(verification.ratio, epsilon)
    assert verification.epsilon >= 0.998 * epsilon
    assert verification.holds


@pytest.mark.parametrize(("epsilon", "domain_size"), [(1.0, 2**28), (1.0, 2**31 - 1), (1e-6, 2**20)])
def test_domains_in_which_sets_are_too_uneven_are_refused(epsilon, domain_size):
    with pytest.raises(ParameterError, match=f"SS: epsilon={epsilon} is too small for this domain"):
        fldp.SS(epsilon, domain_size)


@given(epsilons, st.sampled_from(["rr", "grr", "sue", "oue", "olh", "ss", "hr", "fhr", "pgr"]))
@settings(max_examples=600, deadline=None, derandomize=True)
@pytest.mark.long
def test_the_verified_epsilon_is_never_above_the_declared_one(epsilon, name):
    if name == "olh":
        epsilon = min(epsilon, 6.0)  # its law has about e^epsilon outcomes; the coin itself is tested above
    oracle = fldp.oracles.get(name)(epsilon=epsilon, domain_size=2 if name == "rr" else 3)
    verification = fldp.verify(oracle)
    assert verification.epsilon <= epsilon
    assert not exceeds(verification.ratio, epsilon)
    assert verification.epsilon >= 0.998 * epsilon
    assert verification.holds


@pytest.mark.parametrize("epsilon", [1e-300, 1e-30, 1e-19, 45.0, 63.9, 64.0, 700.0, 1e300])
@pytest.mark.parametrize("oracle", [fldp.GRR, fldp.SUE, fldp.OUE, fldp.OLH, fldp.SS, fldp.HR, fldp.FHR, fldp.PGR])
def test_degenerate_epsilons_are_refused(oracle, epsilon):
    if oracle is fldp.SUE and 45 <= epsilon < 64:
        epsilon = 64.0  # with half of epsilon on each bit, its coins go further
    with pytest.raises(ParameterError) as error:
        oracle(epsilon, 7)
    rule = f"too {'small' if epsilon < 1 else 'large'} for this domain: 64-bit sampling cannot realise it"
    assert str(error.value) == f"{oracle.__name__}: epsilon={epsilon!r} is {rule}"


@pytest.mark.parametrize("epsilon", [1e-9, 0.001, 1.0, 3.5, 10.0, 20.0])
def test_the_number_of_symbols_minimises_the_variance(epsilon):
    e = exp_lower(epsilon)
    best = best_symbols(epsilon)

    def variance(g):
        return (e + g - 1) ** 2 / (g - 1)

    assert best >= 2
    assert all(variance(best) <= variance(g) for g in range(max(2, best - 5), best + 6))


def test_bit_planes_throw_exactly_the_threshold():
    """All 2^20 numbers of 20 planes, once each, through the kernel: as many ones as the threshold says."""
    threshold, planes = 281_983, 20
    numbers = np.arange(1 << planes, dtype=np.uint64).reshape(-1, 64)
    words = np.zeros((len(numbers), 1 + planes), np.uint64)
    for k in range(planes):
        bits = (numbers >> U64(k)) & U64(1)
        words[:, 1 + k] = (bits << np.arange(64, dtype=np.uint64)).sum(axis=1, dtype=np.uint64)
    words[:, 0] = np.where(numbers[:, 0] < threshold, U64(0), U64(2**63))  # the true bit of value 0, thrown to fit
    out = np.empty((len(numbers), 8), np.uint8)
    values = np.zeros(len(numbers), np.int64)
    throw.compiled(values, words, planes, U64(1), U64(threshold), U64(2**64 - 1), out)
    bits = np.unpackbits(out, axis=1, bitorder="little")
    assert np.array_equal(bits, numbers < threshold)
    assert int(bits.sum()) == threshold
