"""Randomness that is told, for responses: the words of a row that an oracle's ``perturb`` would take."""

from fldp.randomness.word_pool import WordSource
from fldp.responder.registry import response


class Script:
    """Gives a response the words of one row after the other; of a row of bit planes, those that it reads."""

    def __init__(self, oracle):
        self._oracle, self._words = oracle, iter(())
        self._made = response(
            oracle.name, oracle.parameters, source=WordSource(lambda: next(self._words), self._planes)
        )

    def draw(self, value, row):
        self._row, self._words = tuple(map(int, row)), iter(map(int, row))
        return self._made.draw(value)

    def outcome(self, value, row):
        """Return the public part and the outcome of a report, as the oracle's format splits it."""
        data = self._oracle._answered(self.draw(value, row)).data
        return self._oracle.report_format.outcome(data[0])

    def _planes(self, count):
        coins, size = self._oracle.coins, -(-self._oracle.domain_size // 8)
        blocks = -(-self._oracle.domain_size // 64)
        skipped = coins.planes - count // size  # the lowest planes, where the threshold has zeros
        assert coins.other_threshold % (1 << skipped) == 0
        words = (self._row[1 + k * blocks : 1 + (k + 1) * blocks] for k in range(skipped, coins.planes))
        return b"".join(b"".join(word.to_bytes(8, "little") for word in plane)[:size] for plane in words)
