"""The law of draws by weights: what its three draws together give to each outcome, in rationals."""

from fractions import Fraction

from fldp.oracles.plain.weighted_draws import NUMBERS, WORDS


def law_of(draws):
    """Return the probability of every outcome."""
    second = Fraction(NUMBERS - sum(draws.shares), NUMBERS)
    third = second * Fraction(WORDS - sum(draws.more_shares), WORDS)
    every = sum(draws.still_lacking) or 1
    each = zip(draws.shares, draws.more_shares, draws.still_lacking, strict=True)
    return [Fraction(a, NUMBERS) + second * Fraction(b, WORDS) + third * Fraction(c, every) for a, b, c in each]
