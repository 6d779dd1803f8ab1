"""Oracles with a careless mistake each, and what the check of it says; ``defects`` has those that break privacy."""

import numpy as np

from fldp import GRR, DomainError, ParameterError, Reports
from fldp.oracles.kit import analysis


class ForgetsEpsilon(GRR):
    """A copy of it, pickled, has another epsilon."""

    def __reduce__(self):
        return ForgetsEpsilon, (2.0, self.domain_size)


class HashOfTheObject(GRR):
    """Equal oracles have different hashes."""

    def __hash__(self):
        return id(self)


class TwoReportsForEach(GRR):
    """Every person sends two reports."""

    def privatize(self, values, *, rng=None):
        return super().privatize(np.repeat(values, 2), rng=rng)


class RefusesItself(GRR):
    """The server takes no report."""

    def check(self, data):
        return data > self.domain_size


class OutcomeOfAnother(GRR):
    """What is written is not what was read."""

    def report(self, outcome, public=None):
        return np.array((outcome + 1) % self.domain_size, self.report_format.dtype)


class OwnCoins(GRR):
    """The client throws coins of its own, beside its words."""

    def perturb(self, values, words, out):
        out[:] = np.random.default_rng().integers(0, self.domain_size, len(values))


class WordsErased(GRR):
    """The client erases its words."""

    def perturb(self, values, words, out):
        super().perturb(values, words, out)
        words[:] = 0


class FirstOfABatch(GRR):
    """The first report of every large batch is the value."""

    def perturb(self, values, words, out):
        super().perturb(values, words, out)
        out[: len(values) // 60] = (out[: len(values) // 60] + 1) % self.domain_size


class OneAlone(GRR):
    """A single value is sent without noise."""

    def privatize(self, values, *, rng=None):
        if isinstance(values, int):
            return Reports(self, np.array([values], self.report_format.dtype))
        return super().privatize(values, rng=rng)


class CountsBatches(GRR):
    """The server takes one report of every batch for another."""

    def count(self, data, state):
        super().count(data, state)
        state[:2] += (1, -1)


class CountsStrangers(GRR):
    """The server counts whatever it is given."""

    def tally(self, reports):
        return super().tally(Reports(self, reports.data))


class TakesAnything(GRR):
    """A value outside the domain is taken for value 0."""

    def privatize(self, values, *, rng=None):
        try:
            return super().privatize(values, rng=rng)
        except DomainError:
            return super().privatize(0, rng=rng)


class AnyEpsilon(GRR):
    """An epsilon that is none is taken for 1."""

    def __post_init__(self):
        try:
            super().__post_init__()
        except ParameterError:
            object.__setattr__(self, "epsilon", 1.0)


class NotAllOfIt(GRR):
    """The probabilities of the law do not add up."""

    def law(self, value, public=None):
        return {
            outcome: share / 2 for outcome, share in analysis(GRR(self.epsilon, self.domain_size)).law(value).items()
        }


class UnknownOutcome(GRR):
    """The law leaves an outcome to another one."""

    def law(self, value, public=None):
        law = dict(analysis(GRR(self.epsilon, self.domain_size)).law(value))
        law[1] += law.pop(0)
        return law


class LikelihoodsOfTheNeighbour(GRR):
    """The likelihoods are those of another value."""

    def likelihoods(self, data):
        return np.roll(analysis(GRR(self.epsilon, self.domain_size)).likelihoods(data), 1, axis=1)


class NoVariance(GRR):
    """The standard errors are zero."""

    def variance(self, n, count, **options):
        return 0 * super().variance(n, count, **options)


class BiasedEstimates(GRR):
    """Every estimate is too large by five percent of the reports."""

    def decode(self, tally, **options):
        return GRR(self.epsilon, self.domain_size).estimator.decode(tally, **options) + tally.n / 20


CARELESS = {
    ForgetsEpsilon: ("check_identity", "changed by pickling"),
    HashOfTheObject: ("check_identity", "a copy with the same parameters is another oracle"),
    TwoReportsForEach: ("check_reports", "reports are uint8 of shape (100,)"),
    RefusesItself: ("check_reports", "its own reports are refused"),
    OutcomeOfAnother: ("check_reports", "does not give"),
    OwnCoins: ("check_purity", "perturb gives another report for the same value and words"),
    WordsErased: ("check_purity", "perturb changes its arguments"),
    FirstOfABatch: ("check_batches", "chunks of 1 differ from the whole"),
    OneAlone: ("check_batches", "one value given as an integer differs from the batch"),
    CountsBatches: ("check_merge", "the sum of the parts is not the whole"),
    CountsStrangers: ("check_merge", "what belongs to another oracle is accepted"),
    TakesAnything: ("check_input", "-1 is accepted"),
    AnyEpsilon: ("check_input", "epsilon=0 is accepted"),
    NotAllOfIt: ("check_law", "the probabilities of value 0 do not add up to 1"),
    UnknownOutcome: ("check_law", "gave 0, which its law does not know"),
    LikelihoodsOfTheNeighbour: ("check_likelihoods", "in proportion to"),
    NoVariance: ("check_estimates", "wrong where no variance is declared"),
    BiasedEstimates: ("check_estimates", "biased by"),
}
