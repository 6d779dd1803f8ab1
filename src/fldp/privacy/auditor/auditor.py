"""audit: run a black box many times and judge it by its outputs alone, at a stated confidence.

Half of the outputs are for learning: in each family of events they select the event and the two values with the
strongest evidence. The other half tests that one event, with Clopper-Pearson bounds. The error is divided among the
families and the two bounds of each, so an honest mechanism is accused in at most ``1 - confidence`` of runs, however
many events were tried. ``docs/audit.md`` says what an audit cannot see.
"""

from collections.abc import Callable, Iterable, Sequence, Sized
from dataclasses import asdict, dataclass, fields, replace
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from fldp.data.dataframes import Columns, Framed, by_column
from fldp.data.formats import Array
from fldp.errors import ParameterError
from fldp.numerics.binomial_bounds import MAX_TRIALS
from fldp.oracles.base.analysis import analysis
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.oracle import as_oracle
from fldp.oracles.base.string_oracle import listed
from fldp.privacy.auditor.declared_scores import Supports, declared
from fldp.privacy.auditor.event_choice import AuditedClaim
from fldp.privacy.auditor.judge import CALLS, AuditSamples, Finding, judge
from fldp.privacy.auditor.outputs import OutputRows
from fldp.randomness.stream import Stream
from fldp.support.display import Displayed
from fldp.support.progress import Progress, ignore
from fldp.support.validation import fail, fraction, integer, positive

SAMPLES, CONFIDENCE = 20_000, 0.99
_FEW, _MAX_VALUES = 6, 32
_MAX_BYTES = 1 << 31

Source = Callable[[Any, int], object]
People = TypeVar("People", bound=Sized)  # a value for each person


@dataclass(frozen=True)
class Audit(Framed, Displayed):
    """The result of an audit. ``holds`` is not a proof: it says that these outputs show no violation.

    >>> import fldp
    >>> result = audit(fldp.RR(epsilon=1.0), samples=4000, rng=7)
    >>> result.holds, 0.8 < result.epsilon_lower_bound < 1
    (True, True)
    """

    claim: AuditedClaim
    confidence: float
    samples: int
    values: tuple[object, ...]
    findings: tuple[Finding, ...]

    @property
    def violations(self) -> tuple[Finding, ...]:
        """The findings that break the claim."""
        return tuple(finding for finding in self.findings if finding.violated)

    @property
    def holds(self) -> bool:
        """Whether no violation was found."""
        return not self.violations

    @property
    def epsilon_lower_bound(self) -> float:
        """A lower confidence bound of the epsilon of the mechanism, at the claimed eta."""
        return max((finding.epsilon for finding in self.findings if finding.family != "independence"), default=0.0)

    def _columns(self) -> Columns:
        names = [field.name for field in fields(Finding)]
        return by_column((*names, "violated"), [{**asdict(f), "violated": f.violated} for f in self.findings])

    def __repr__(self) -> str:
        verdict = "no violation found" if self.holds else f"violated by {', '.join(f.family for f in self.violations)}"
        return f"<audit of epsilon {self.claim.epsilon:g}, eta {self.claim.eta:g}: {verdict}>"


def audit(
    privatize: FrequencyOracle | Callable[..., object],
    *,
    epsilon: float | None = None,
    eta: float | Fraction | None = None,
    domain_size: int | None = None,
    values: Sequence[object] | None = None,
    oracle: FrequencyOracle | None = None,
    supports: Supports | None = None,
    samples: int = SAMPLES,
    confidence: float = CONFIDENCE,
    rng: int | Stream | None = None,
    progress: Progress | None = None,
) -> Audit:
    """Test whether a black box keeps the (epsilon, eta) that it claims, from its outputs alone.

    ``privatize`` is an oracle, or anything that takes values, one for each person, and returns as many outputs:
    reports, arrays, or a list of numbers, texts, tuples, sets. It is called with one value many times over. ``epsilon``
    and ``eta`` (1, plain LDP, unless given) state its claim, or the ``oracle`` that it implements does. The
    ``values`` to compare come from ``values_of`` unless given. Each is privatized ``samples`` times. An honest
    mechanism is accused with a probability of at most ``1 - confidence``.

    Where outputs hide what they support, as behind a hash, ``supports(outputs, values)`` may return how much each
    output speaks for each value, as an array with a column for each value; a known oracle's declared law does this.
    ``progress`` is called twice for each output: when it was drawn, and when it was judged.

    >>> import fldp
    >>> audit(fldp.GRR(epsilon=1.0, domain_size=5), samples=4000, rng=7)
    <audit of epsilon 1, eta 1: no violation found>
    >>> result = audit(lambda values: values, epsilon=1.0, domain_size=5, samples=4000, rng=7)
    >>> result.holds, result.findings[0].family, result.findings[0].event
    (False, 'outputs', 'the output = 0')
    """
    stream = Stream.of(rng)
    own = as_oracle(privatize)
    if own is not None:
        oracle = oracle or listed("audit", own)
    elif not callable(privatize):
        raise fail("audit", "what is audited", "an oracle or a function of values", privatize)
    if not isinstance(values, Iterable | None):
        raise fail("audit", "values", f"a list of 2 to {_MAX_VALUES} values", values)
    if values is None and domain_size is None and oracle:
        values = values_of(oracle, stream.child("audit", "values"))
    claim, error = _claim(epsilon, eta, oracle, values), 1 - fraction("audit", "confidence", confidence)
    audited = _audited(values, domain_size, stream)
    size = -(-integer(100, MAX_TRIALS)("audit", "samples", samples) // CALLS)
    if oracle:
        each = oracle.report_format.nbytes
        _check_memory(each, size * CALLS * len(audited))
        supports = supports or (declared(oracle) if _are_values(audited, oracle) else None)
    evidence = _collect(_source(privatize, stream), audited, size, supports, progress or ignore)
    findings = judge(evidence, claim, error, stream.child("audit", "pairs"), progress or ignore)
    return Audit(claim, float(confidence), size * CALLS, audited, tuple(findings))


def choose_values(domain_size: int, rng: int | Stream | None = None) -> tuple[int, ...]:
    """Choose the values that an audit compares: all, if at most six; else the ends, the middle, neighbours, one more.

    The neighbours differ from the first and the middle one in their lowest bit; the last one is drawn at random. A
    defect in any other value alone goes unseen.

    >>> choose_values(5), choose_values(1023, rng=7)[:5]
    ((0, 1, 2, 3, 4), (0, 1, 511, 510, 1022))
    """
    size = integer(2, 2**63 - 1)("audit", "domain_size", domain_size)
    if size <= _FEW:
        return tuple(range(size))
    fixed = [0, 1, size // 2, size // 2 ^ 1, size - 1]
    drawn = (Stream.of(rng).words(16) % np.uint64(size)).tolist()
    return (*fixed, *[value for value in drawn if value not in fixed][:1])


def values_of(oracle: FrequencyOracle, rng: int | Stream | None = None) -> tuple[int, ...]:
    """Choose the values of an oracle that an audit compares; if only some are under plain LDP, among those.

    Between groups Grouped promises nothing, so there is nothing to audit; inside one, plain LDP. The same holds for the
    sensitive values of URR.

    >>> import fldp
    >>> values_of(fldp.Grouped(epsilon=1.0, base="grr", groups=[2, 3]))
    (2, 3, 4)
    """
    plain = analysis(oracle).plain_values
    if plain is None:
        return choose_values(oracle.domain_size, rng)
    return tuple(plain[value] for value in choose_values(len(plain), rng))


def repeated(enrol: Callable[[People], Callable[[], object]], times: int) -> Callable[[People], Array]:
    """Return a ``privatize`` whose output is all answers of a person who is asked several times.

    ``enrol(values)`` takes one value for each person and returns a function that asks all of them once. A client that
    remembers its answer, or its permanent noise, keeps its epsilon however often it is asked; one that draws anew
    does not.

    >>> import fldp
    >>> oracle, noise = fldp.GRR(epsilon=1.0, domain_size=3), fldp.Stream(7)
    >>> def forgetful(values):
    ...     return lambda: oracle.privatize(values, rng=noise)
    >>> def steady(values):
    ...     answer = oracle.privatize(values, rng=noise)
    ...     return lambda: answer
    >>> audit(repeated(steady, 8), epsilon=1.0, domain_size=3, samples=4000, rng=7).holds
    True
    >>> audit(repeated(forgetful, 8), epsilon=1.0, domain_size=3, samples=4000, rng=7).holds
    False
    """
    integer(1, 1000)("audit", "times", times)

    def ask(values: People) -> Array:
        answer = enrol(values)
        rounds = [OutputRows.of(answer(), len(values)).numbers for _ in range(times)]
        widest = max(numbers.shape[1] for numbers in rounds)
        return np.concatenate([np.pad(part, ((0, 0), (0, widest - part.shape[1]))) for part in rounds], axis=1)

    return ask


def _claim(
    epsilon: float | None, eta: float | Fraction | None, oracle: FrequencyOracle | None, values: Sequence[object] | None
) -> AuditedClaim:
    if epsilon is None and oracle is None:
        raise ParameterError("audit: pass the claim: epsilon (and eta), or the oracle")
    bound = positive("audit", "epsilon", oracle.epsilon if epsilon is None and oracle else epsilon)
    promised = 1 if oracle is None or _are_plain(oracle, values) else oracle.eta
    share = positive("audit", "eta", float(promised) if eta is None else eta)
    if share > 1:
        raise fail("audit", "eta", "a number above 0 and at most 1", eta)
    return AuditedClaim(bound, share)


def _are_plain(oracle: FrequencyOracle, values: Sequence[Any] | None) -> bool:
    """Whether plain LDP is promised between these values; if eta is 0, nothing else can be audited."""
    plain = analysis(oracle).plain_values or ()
    return oracle.eta == 0 or (values is not None and all(value in plain for value in values))


def _audited(values: Sequence[Any] | None, domain_size: int | None, stream: Stream) -> tuple[Any, ...]:
    if values is None:
        if domain_size is None:
            raise ParameterError("audit: pass the values to compare: values, domain_size, or the oracle")
        return choose_values(domain_size, stream.child("audit", "values"))
    chosen = tuple(value.item() if isinstance(value, np.generic) else value for value in values)
    repeats = any(value == earlier for k, value in enumerate(chosen) for earlier in chosen[:k])
    if repeats or not 2 <= len(chosen) <= _MAX_VALUES:
        raise fail("audit", "values", f"2 to {_MAX_VALUES} different ones", chosen)
    return chosen


def _are_values(audited: tuple[Any, ...], oracle: FrequencyOracle) -> bool:
    """Whether the audited values are numbers in the domain of the oracle, not labels."""
    return all(isinstance(value, int) and 0 <= value < oracle.domain_size for value in audited)


def _source(privatize: object, stream: Stream) -> Source:
    """Return a function that draws outputs of a value."""
    oracle, call = as_oracle(privatize), privatize
    if oracle is not None:
        return lambda value, count: oracle.privatize(np.full(count, value), rng=stream)
    assert callable(call)
    return lambda value, count: call(np.full(count, value) if isinstance(value, int) else [value] * count)


def _collect(
    source: Source, values: tuple[Any, ...], size: int, supports: Supports | None, progress: Progress
) -> list[AuditSamples]:
    """Run the black box, ``CALLS`` times for each value in turn."""
    calls: dict[Any, list[OutputRows]] = {place: [] for place in range(len(values))}
    for _ in range(CALLS):
        for place, value in enumerate(values):
            outputs = source(value, size)
            rows = OutputRows.of(outputs, size)
            _check_memory(rows.numbers.nbytes // size, size * CALLS * len(values))
            if supports is not None:
                rows = replace(rows, supports=_supported(supports(outputs, values), size, len(values)))
            calls[place].append(rows)
            progress(size)
    width = max(rows.numbers.shape[1] for parts in calls.values() for rows in parts)
    return [AuditSamples.of(values[place], [rows.widened(width) for rows in parts]) for place, parts in calls.items()]


def _check_memory(each: int, total: int) -> None:
    if each * total > _MAX_BYTES:
        raise ParameterError(
            f"audit: outputs of {each:,} bytes each, {total:,} of them, must fit in 2 GiB; "
            "take fewer samples or fewer values"
        )


def _supported(returned: Any, count: int, values: int) -> Any:
    scores = np.asarray(returned, np.float64)
    if scores.shape != (count, values):
        raise fail("audit", "supports", f"an array of shape {(count, values)}", scores.shape)
    return scores
