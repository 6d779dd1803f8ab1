"""Conformance checks that every oracle must pass, ours or yours.

``check_oracle`` runs them all. Random checks use fixed seeds; with a random seed, each of their tests would fail for a
correct oracle with probability about ``FALSE_ALARM``, by the normal approximation. Exact claims are compared exactly,
and claims about privacy in rational arithmetic.
"""

import dataclasses
import pickle
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import accumulate
from math import lcm, sqrt
from statistics import NormalDist
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from fldp.data.reports import Array, Reports, Tally
from fldp.errors import DomainError, FldpError, MergeError, ParameterError
from fldp.numerics.types import Floats
from fldp.oracles.base.analysis import analysis
from fldp.oracles.base.frequency_oracle import FrequencyOracle, Law
from fldp.privacy.verifier import shrink, verify
from fldp.randomness.stream import Stream, Words

FALSE_ALARM = 1e-9
_LIMIT = NormalDist().inv_cdf(1 - FALSE_ALARM / 2)
_RUNS, _USERS = 300, 1000
_DRAWS, _PUBLIC_DRAWS, _BINS = 20_000, 5_000, 64
_TOLERANCE = 1e-9


class CheckError(FldpError, AssertionError):
    """An oracle fails a check; the message names the check."""


def check_oracle(oracle: FrequencyOracle, *, seed: int = 0) -> None:
    """Run every check on an oracle; raise ``CheckError`` at the first that fails.

    >>> import fldp
    >>> check_oracle(fldp.GRR(epsilon=1.0, domain_size=5))
    """
    analysis(oracle)  # refuses what is not an oracle
    for check in CHECKS:
        try:
            check(oracle, seed)
        except CheckError:
            raise
        except FldpError as error:
            _fail(oracle, check.__name__, f"unexpected error: {error}")


def _fail(oracle: FrequencyOracle, check: str, what: str) -> NoReturn:
    raise CheckError(f"{check}: {oracle!r}: {what}")


def _sample(oracle: FrequencyOracle, users: int, seed: int) -> tuple[NDArray[np.int64], Reports]:
    values = np.random.default_rng(seed).integers(0, oracle.domain_size, users)
    return values, oracle.privatize(values, rng=seed)


def check_identity(oracle: FrequencyOracle, seed: int) -> None:
    """Oracles, reports and tallies survive pickling; an oracle is its parameters."""
    _, reports = _sample(oracle, 5, seed)
    for value in (oracle, reports, oracle.tally(reports)):
        if pickle.loads(pickle.dumps(value)) != value:  # noqa: S301
            _fail(oracle, "check_identity", f"{value!r} changed by pickling")
    if dataclasses.replace(oracle) != oracle or hash(dataclasses.replace(oracle)) != hash(oracle):
        _fail(oracle, "check_identity", "a copy with the same parameters is another oracle")


def check_reports(oracle: FrequencyOracle, seed: int) -> None:
    """Reports have the declared format, are accepted as data from outside, and round-trip through ``outcome``."""
    _, reports = _sample(oracle, 50, seed)
    if reports.data.dtype != oracle.report_format.dtype or reports.data.shape != (50, *oracle.report_format.shape):
        _fail(oracle, "check_reports", f"reports are {reports.data.dtype} of shape {reports.data.shape}")
    dtype = oracle.report_format.dtype
    if dtype.names and dtype.itemsize != sum(dtype[name].itemsize for name in dtype.names):
        _fail(oracle, "check_reports", "a report has padding bytes in memory, in which anything may be sent")
    try:
        Reports(oracle, reports.data)
    except DomainError as error:
        _fail(oracle, "check_reports", f"its own reports are refused: {error}")
    for row in reports.data:
        public, outcome = oracle.report_format.outcome(row)
        if not np.array_equal(oracle.report_format.report(outcome, public), row):
            _fail(oracle, "check_reports", f"report(outcome(...)) does not give {row} back")


def check_purity(oracle: FrequencyOracle, seed: int) -> None:
    """A report depends on the value and its words alone, and takes no more words than declared."""
    values, reports = _sample(oracle, 40, seed)
    words = Stream(seed).words(40 * oracle.words).reshape(40, oracle.words)
    for filling in (0, 255):
        copied, copied_words = values.copy(), words.copy()
        out = np.full(reports.nbytes, filling, np.uint8).view(oracle.report_format.dtype).reshape(reports.data.shape)
        oracle.perturb(copied, copied_words, out)
        if out.tobytes() != reports.data.tobytes():
            _fail(oracle, "check_purity", "perturb gives another report for the same value and words")
        if not (np.array_equal(copied, values) and np.array_equal(copied_words, words)):
            _fail(oracle, "check_purity", "perturb changes its arguments")
    _check_public(oracle, words)


def _check_public(oracle: FrequencyOracle, words: Words) -> None:
    """The public part of a report depends on the words alone, whatever the value."""
    publics = {
        _public(oracle, words[:8], value) for value in sorted({0, 1, oracle.domain_size // 2, oracle.domain_size - 1})
    }
    if len(publics) > 1:
        _fail(oracle, "check_purity", "the public part of a report depends on the value")


def _public(oracle: FrequencyOracle, words: Words, value: int) -> tuple[Any, ...]:
    out = np.zeros((len(words), *oracle.report_format.shape), oracle.report_format.dtype)
    oracle.perturb(np.full(len(words), value), words.copy(), out)
    return tuple(oracle.report_format.outcome(row)[0] for row in out)


def check_batches(oracle: FrequencyOracle, seed: int) -> None:
    """The same stream gives the same reports one by one, in chunks, or all at once."""
    values, whole = _sample(oracle, 60, seed)
    for sizes in ([1] * 60, [7] * 8 + [4]):
        stream, ends = Stream(seed), list(accumulate(sizes))
        parts = [oracle.privatize(values[end - size : end], rng=stream) for size, end in zip(sizes, ends, strict=True)]
        if Reports.concatenate(parts) != whole:
            _fail(oracle, "check_batches", f"chunks of {sizes[0]} differ from the whole")
    if oracle.privatize(int(values[0]), rng=seed) != whole[0]:
        _fail(oracle, "check_batches", "one value given as an integer differs from the batch")


def check_merge(oracle: FrequencyOracle, seed: int) -> None:
    """Tallies of parts add up to the tally of the whole, in any order; other oracles are refused."""
    _, reports = _sample(oracle, 600, seed)
    whole = oracle.tally(reports)
    parts = [oracle.tally(reports[start : start + 111]) for start in range(0, 600, 111)]
    if sum(parts) != whole or sum(reversed(parts)) != whole or whole + Tally.empty(oracle) != whole:
        _fail(oracle, "check_merge", "the sum of the parts is not the whole")
    backwards = Reports(oracle, np.ascontiguousarray(reports.data[::-1]))
    if oracle.tally(backwards) != whole:
        _fail(oracle, "check_merge", "the order of the reports matters")
    try:
        stranger = dataclasses.replace(oracle, epsilon=oracle.epsilon * 0.75)
    except ParameterError:
        stranger = dataclasses.replace(oracle, epsilon=oracle.epsilon * 1.25)
    foreign = Tally.empty(stranger)
    for action, operand in ((whole.__add__, foreign), (stranger.tally, reports), (stranger.estimate, whole)):
        if not _raises(MergeError, action, operand):
            _fail(oracle, "check_merge", "what belongs to another oracle is accepted")


def check_input(oracle: FrequencyOracle, seed: int) -> None:
    """Invalid values and epsilons are refused, with an error of this package."""
    del seed
    bad: Iterable[Any] = (
        -1,
        oracle.domain_size,
        1.0,
        True,
        None,
        "0",
        float("nan"),
        [0, None],
        [0, 2**70],
        [],
        [[0]],
    )
    for values in bad:
        if not _raises(DomainError, oracle.privatize, values):
            _fail(oracle, "check_input", f"{values!r} is accepted")
    for epsilon in (0, -1.0, float("inf"), float("nan"), True, None, "1", 1e-300, 1e300):
        if not _raises(ParameterError, partial(dataclasses.replace, oracle, epsilon=epsilon)):
            _fail(oracle, "check_input", f"epsilon={epsilon!r} is accepted")


def check_privacy(oracle: FrequencyOracle, seed: int) -> None:
    """The implemented law keeps the declared epsilon, eta and anonymity, exactly."""
    del seed
    small = shrink(oracle)
    verified = verify(small)
    if not verified.holds:
        _fail(
            oracle,
            "check_privacy",
            f"{verified.judgement}; declared epsilon {oracle.epsilon!r}, eta {oracle.eta}, "
            f"anonymity {small.anonymity}; found {verified.epsilon!r}, {verified.eta} (by mass {verified.eta_mass}), "
            f"{verified.anonymity}; see {verified.witness}",
        )


def check_law(oracle: FrequencyOracle, seed: int) -> None:
    """Reports follow the law: their ranks in it, randomized within each outcome, are uniform."""
    small = shrink(oracle)
    for value in range(small.domain_size):
        for public in analysis(small).publics():
            if not _adds_up_to_one(analysis(small).law(value, public)):
                _fail(oracle, "check_law", f"the probabilities of value {value} do not add up to 1")
        for reports in _draws(small, value, seed):
            starts, sizes = _intervals(oracle, small, value, reports)
            places = starts + sizes * (Stream(seed).child("spread", value).words(len(reports)) / 2.0**64)
            counts = np.bincount(np.minimum(places * _BINS, _BINS - 1).astype(np.int64), minlength=_BINS)
            statistic = float(((counts - len(reports) / _BINS) ** 2).sum() * _BINS / len(reports))
            if _chi_square_z(statistic, _BINS - 1) > _LIMIT:
                why = f"reports of value {value} do not follow the law, chi-square {statistic:.0f}"
                _fail(oracle, "check_law", why)


def _adds_up_to_one(law: Law) -> bool:
    """Add exactly over a common denominator, much faster than fraction by fraction."""
    total = lcm(*(share.denominator for share in law.values()))
    return sum(share.numerator * (total // share.denominator) for share in law.values()) == total


def _draws(oracle: FrequencyOracle, value: int, seed: int) -> Iterator[Reports]:
    """Yield batches of reports of a value; if reports have a public part, each batch with that part fixed.

    The words that decide the public part are found by changing them one by one. The outcome has to follow its law
    whatever they are, or the public part would reveal something about the noise.
    """
    if next(iter(analysis(oracle).publics())) is None:
        yield oracle.privatize(np.full(_DRAWS, value), rng=Stream(seed).child("check_law", value))
        return
    stream = Stream(seed).child("check_law", value)
    for _ in range(3):
        words = stream.words(_PUBLIC_DRAWS * oracle.words).reshape(_PUBLIC_DRAWS, oracle.words)
        for column in range(oracle.words):
            changed = words[:8].copy()
            changed[:, column] = ~changed[:, column]
            if _public(oracle, changed, value) != _public(oracle, words[:8], value):
                words[:, column] = words[0, column]
        data = np.zeros((_PUBLIC_DRAWS, *oracle.report_format.shape), oracle.report_format.dtype)
        oracle.perturb(np.full(_PUBLIC_DRAWS, value), words, data)
        yield Reports(oracle, data)


def _intervals(oracle: FrequencyOracle, small: FrequencyOracle, value: int, reports: Reports) -> tuple[Floats, Floats]:
    """Return for every report the start and size of its outcome's interval in [0, 1) under the law."""
    flat = np.ascontiguousarray(reports.data).view(np.uint8).reshape(len(reports), -1)
    texts = flat.view(f"S{flat.shape[1]}").reshape(
        -1
    )  # fixed-length byte strings: fast to sort, and equal if their bytes are
    _, first, index = np.unique(texts, return_index=True, return_inverse=True)
    laws: dict[Any, dict[Any, tuple[float, float]]] = {}
    intervals = []
    for row in reports.data[first]:
        public, outcome = small.report_format.outcome(row)
        if public not in laws:
            laws[public] = _ranks(small, value, public)
        if outcome not in laws[public]:
            _fail(oracle, "check_law", f"value {value} gave {outcome}, which its law does not know")
        intervals.append(laws[public][outcome])
    starts, sizes = np.array(intervals)[index].T
    return starts, sizes


def _ranks(oracle: FrequencyOracle, value: int, public: Any) -> dict[Any, tuple[float, float]]:
    """Return where in [0, 1) each outcome begins, the likely ones first, and its probability."""
    shares = {outcome: float(share) for outcome, share in analysis(oracle).law(value, public).items()}
    likely = sorted(shares, key=lambda outcome: shares[outcome], reverse=True)
    starts = accumulate((shares[outcome] for outcome in likely), initial=0.0)
    return {outcome: (start, shares[outcome]) for outcome, start in zip(likely, starts, strict=False)}


def check_likelihoods(oracle: FrequencyOracle, seed: int) -> None:
    """The likelihoods of every report are proportional to its probabilities under the law, with the same zeros."""
    del seed
    small = shrink(oracle)
    laws, data = _all_reports(small)
    likelihoods, shares = analysis(small).likelihoods(data), laws.T
    if likelihoods.shape != shares.shape or not ((likelihoods > 0) == (shares > 0)).all():
        _fail(oracle, "check_likelihoods", "the possible values of a report differ from the values of its law")
    error = np.abs(
        likelihoods / likelihoods.sum(axis=1, keepdims=True) - shares / shares.sum(axis=1, keepdims=True)
    ).max(axis=1)
    if not (error < _TOLERANCE).all():
        worst = int(error.argmax())
        why = f"report {data[worst]} has {likelihoods[worst]}, in proportion to {shares[worst]} by the law"
        _fail(oracle, "check_likelihoods", why)


def check_moments(oracle: FrequencyOracle, seed: int) -> None:
    """Over the law, the estimate from one report has exactly the declared mean, variance, and variance of a sum.

    Where public randomness cannot be enumerated, ``check_estimates`` covers it.
    """
    del seed
    small = shrink(oracle)
    if not analysis(small).publics_are_all:
        return
    laws, data = _all_reports(small)
    reports = Reports(small, data)
    tallies = [small.tally(report) for report in map(reports.__getitem__, range(len(reports)))]
    for options in _all_options(small):
        each = np.array([small.estimator.decode(tally, **options) for tally in tallies])
        for value, share in enumerate(laws):
            truth = np.eye(small.domain_size)[value]
            declared = small.variance(1, truth, **options)
            _compare(oracle, "mean", value, share @ each, truth)
            _compare(oracle, "variance", value, share @ (each - truth) ** 2, declared)
            members = np.arange(small.domain_size) % 3 != 1
            error = each[:, members].sum(axis=1) - truth[members].sum()
            total = declared[members].sum() + small.estimator.covariance_of_sum(1, truth, members, **options)
            _compare(oracle, "variance of a sum", value, share @ error**2, total)


def _all_reports(oracle: FrequencyOracle) -> tuple[Floats, Array]:
    """Return the probability of every report (column) under every value (row), and the data of the reports."""
    about, rows = analysis(oracle), dict[Any, Floats]()
    for public, drawn in zip(about.publics(), about.public_shares(), strict=True):
        for value in range(oracle.domain_size):
            for outcome, share in about.law(value, public).items():
                row = rows.setdefault((public, outcome), np.zeros(oracle.domain_size))
                row[value] = float(share * drawn)
    data = np.array([oracle.report_format.report(outcome, public) for public, outcome in rows])
    return np.array(list(rows.values())).T, data


def _compare(oracle: FrequencyOracle, what: str, value: int, actual: Any, declared: Any) -> None:
    scale = 1 + np.max(np.abs(declared)) + oracle.variance(1, 0.0)
    if np.max(np.abs(actual - declared)) > _TOLERANCE * scale:
        _fail(oracle, "check_moments", f"the {what} for value {value} is {actual}, declared {declared}")


def _all_options(oracle: FrequencyOracle) -> list[dict[str, Any]]:
    return [{}, *({"decoder": decoder} for decoder in oracle.estimator.decoders)]


def check_estimates(oracle: FrequencyOracle, seed: int) -> None:
    """Over many runs, the estimates of frequent and rare values have the declared mean and variance."""
    size = oracle.domain_size
    counts = np.zeros(size, np.int64)
    frequent, rare = size - 1, 0
    counts[frequent], counts[rare] = _USERS * 6 // 10, _USERS // 50
    rest = _USERS - int(counts.sum())
    counts += np.random.default_rng(seed).multinomial(rest, np.full(size, 1 / size))
    values = np.tile(np.repeat(np.arange(size), counts), _RUNS)
    reports = oracle.privatize(values, rng=Stream(seed).child("check_estimates"))
    tallies = [oracle.tally(reports[run * _USERS : (run + 1) * _USERS]) for run in range(_RUNS)]
    limit = NormalDist().inv_cdf(1 - FALSE_ALARM / (2 * size))
    for options in _all_options(oracle):
        estimates = np.array([oracle.estimate(tally, **options).counts for tally in tallies])
        variance = np.asarray(oracle.variance(_USERS, counts, **options))
        errors = (estimates - counts) / np.sqrt(np.where(variance > 0, variance, 1))
        for value, error in enumerate(errors.T):
            what = f"value {value} held by {counts[value]} of {_USERS}, {options or 'no options'}"
            if not variance[value] and error.any():
                _fail(oracle, "check_estimates", f"wrong where no variance is declared: {what}")
            _check_errors(oracle, what, error, limit)


def _check_errors(oracle: FrequencyOracle, what: str, errors: Floats, limit: float) -> None:
    """Test standardized errors: mean 0 by a z-test, variance 1 by chi-square adjusted for their kurtosis.

    If nearly all runs gave the same estimate, there is too little to test.
    """
    _, occurrences = np.unique(errors.round(9), return_counts=True)
    if len(errors) - occurrences.max() < len(errors) // 3:
        return
    z = float(errors.mean()) * sqrt(len(errors))
    if abs(z) > limit:
        _fail(oracle, "check_estimates", f"biased by {z:.1f} standard errors: {what}")
    spread = float((errors**2).mean())
    kurtosis = max(3.0, float((errors**4).mean()) / max(spread, 1e-12) ** 2)
    freedom = 2 * len(errors) / (kurtosis - 1)
    if abs(_chi_square_z(spread * freedom, freedom)) > limit:
        _fail(oracle, "check_estimates", f"variance {spread:.3f} times the declared one: {what}")


def _chi_square_z(statistic: float, freedom: float) -> float:
    """Return the normal score of a chi-square statistic (Wilson-Hilferty)."""
    unit = 2 / (9 * freedom)
    return float(((statistic / freedom) ** (1 / 3) - (1 - unit)) / sqrt(unit))


def _raises(error: type[Exception], action: Callable[..., object], *arguments: Any) -> bool:
    try:
        action(*arguments)
    except error:
        return True
    return False


CHECKS: tuple[Callable[[FrequencyOracle, int], None], ...] = (
    check_identity,
    check_reports,
    check_purity,
    check_batches,
    check_merge,
    check_input,
    check_privacy,
    check_law,
    check_likelihoods,
    check_moments,
    check_estimates,
)
