"""Items of FHR: which row of the Walsh-Hadamard matrix represents which value.

An FHR report names a mask ``w`` and says, without noise, that ``parity(w & t) = 1`` for the item ``t`` of its
sender. How many values that leaves possible depends on which ``d`` of the ``D - 1`` rows are in use. The
paper takes the first ones, ``t = v + 1``. Then the top bit of ``t`` can be rare, and a mask that shows only
that bit leaves few values: one, where ``d`` is a power of two.

We take the *last* ``d`` rows, ``t = v + D - d``: fixed, public, a function of ``d`` alone. At least ``0.4 d``
values remain whatever the report, and exactly half of them where ``d`` is a power of two. Proof: every mask has
an odd parity on ``D/2`` of all rows, so ``D/2`` minus the odd ones among the ``N = D - d`` unused rows
``0 .. N-1`` remain. Those are at most ``2N/3`` (induction over the top bit of ``N``), and at most ``D/4``
because ``N <= D/2``. With ``N <= 3D/8`` the first bound gives ``(D/2 - 2N/3)/(D - N) >= 0.4``, with a larger
``N`` the second gives ``(D/4)/(D - N) >= 0.4``. Equality holds only at ``d = 5 * 2^k``.
"""

from dataclasses import dataclass


def _odd_counts(n: int, bits: int) -> tuple[int, int]:
    """Return the least and the greatest number of ``t < n`` with an odd ``parity(w & t)``, over masks ``w != 0``.

    Split off the top bit: below ``half`` a mask with other bits in it is balanced, and above, it acts as itself
    or as its complement on the first ``n - half`` numbers.

    >>> _odd_counts(6, 3)
    (2, 4)
    """
    if bits == 0:
        return n, 0  # no masks: neutral for min and max
    half = 1 << (bits - 1)
    rest = max(n - half, 0)
    least, most = _odd_counts(min(n, half) if rest == 0 else rest, bits - 1)
    counts = [rest]
    if bits > 1:
        counts += [least, most] if rest == 0 else [half // 2 + c for c in (least, most, rest - least, rest - most)]
    return min(counts), max(counts)


@dataclass(frozen=True)
class Items:
    """The ``domain_size`` consecutive rows, from ``first`` on, of a matrix of ``2^bits`` rows.

    >>> Items.spread(1024)
    Items(domain_size=1024, bits=11, first=1024)
    >>> Items.spread(1024).anonymity, Items.paper(1024).anonymity
    (512, 1)
    """

    domain_size: int
    bits: int
    first: int

    @classmethod
    def spread(cls, domain_size: int) -> "Items":
        """Use the last rows."""
        bits = domain_size.bit_length()
        return cls(domain_size, bits, (1 << bits) - domain_size)

    @classmethod
    def paper(cls, domain_size: int) -> "Items":
        """Use the first rows after row 0."""
        return cls(domain_size, domain_size.bit_length(), 1)

    @property
    def rows(self) -> int:
        """The order ``D`` of the matrix."""
        return 1 << self.bits

    @property
    def anonymity(self) -> int:
        """The least number of values with an odd parity, over all masks that some value can produce."""
        last = self.first + self.domain_size
        if last == self.rows:
            return self.rows // 2 - _odd_counts(self.first, self.bits)[1]
        return _odd_counts(last, self.bits)[0]
