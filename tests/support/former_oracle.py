"""The oracle that CONTRIBUTING had before oracles became small: law and covariance stand in its class."""

from dataclasses import dataclass
from functools import cached_property

from fldp.oracles.kit import (
    ONE,
    U64,
    Described,
    Kernel,
    PureOracle,
    SymbolCoin,
    add_symbols,
    integer,
    symbol_counts,
    symbols,
)


@Kernel
def respond(values, words, keep, other, out):
    """Keep a value where its word is below ``keep``; each other value has ``other`` of the remaining words."""
    for i in range(len(values)):
        value, changed = U64(values[i]), U64(words[i] >= keep)
        another = changed * (words[i] - keep) // other
        out[i] = (ONE - changed) * value + changed * (another + U64(another >= value))


@dataclass(frozen=True, repr=False)
class Shy(PureOracle):
    """Randomized response with ``epsilon / parts``, which keeps epsilon-LDP with room to spare.

    >>> Shy(epsilon=1.0, domain_size=5, parts=2).privatize([0, 4])
    <2 reports of Shy(epsilon=1.0, domain_size=5, parts=2)>
    """

    parts: int = 1

    name = "former-shy"
    words = 1
    params = {  # noqa: RUF012
        **PureOracle.params,
        "parts": Described(integer(1, 8), "how many parts of epsilon there are"),
    }
    examples = ((1.0, 5), (2.0, 100, 2))

    @cached_property
    def coin(self):
        return SymbolCoin.build(self.title, self.epsilon / self.parts, self.domain_size)

    @cached_property
    def report_format(self):
        return symbols(self.domain_size)

    @cached_property
    def tally_format(self):
        return symbol_counts(self.domain_size)

    @property
    def outcomes(self):
        return self.domain_size

    def perturb(self, values, words, out):
        respond.over(len(values))(values, words[:, 0], U64(self.coin.keep), U64(self.coin.other), out)

    def count(self, data, state):
        add_symbols.compiled(data, state)

    def law(self, value, public=None):
        return {symbol: self.p if symbol == value else self.q for symbol in range(self.domain_size)}

    def covariance_of_sum(self, n, counts, members, **options):
        """Add up the covariances of the supports: a report supports one value, so they are -pq and -q^2."""
        p, q, size = self.p, self.q, int(members.sum())
        inside = float(counts[members].sum())
        held = inside * float(2 * (size - 1) * p * q + (size - 1) * (size - 2) * q * q)
        return -(held + (n - inside) * float(size * (size - 1) * q * q)) / float((p - q) ** 2)
