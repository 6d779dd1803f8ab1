"""One mechanism: whoever analyses an oracle asks its analysis, and no class by its name."""

import ast
import inspect
import re
import subprocess
import sys
import warnings
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest

import fldp
from fldp.oracles import get, names
from fldp.oracles.base import analysis as core
from fldp.oracles.kit import (
    Analysis,
    CellClaim,
    Estimator,
    FrequencyOracle,
    Oracle,
    PureOracle,
    Reports,
    Symbols,
    UnevenOracle,
    analyses,
    analysis,
    supports_worth,
)
from fldp.oracles.registry import examples
from support.defects import Subset
from support.small_oracles import SMALL

SOURCE = Path(inspect.getfile(fldp)).parent


def classes(cls=Oracle):
    """Return the names of all oracle classes of this package but the first, whose instances any oracle is."""
    below = [each for each in cls.__subclasses__() if each.__module__.startswith("fldp.")]
    return {each.__name__ for each in below}.union(*map(classes, below))


def tells_apart(node, known):
    """Whether a node of code asks for the class of an oracle."""
    if isinstance(node, ast.MatchClass):
        return getattr(node.cls, "id", "") in known
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") in {"isinstance", "issubclass"}:
        return bool({getattr(part, "id", "") for part in ast.walk(node.args[1])} & known)
    if not isinstance(node, ast.Compare) or getattr(getattr(node.left, "func", None), "id", "") != "type":
        return False
    return bool({getattr(part, "id", "") for part in node.comparators} & known)


def dispatches(text, known):
    named = known & set(re.findall(r"\w+", text))
    return bool(named) and any(tells_apart(node, named) for node in ast.walk(ast.parse(text)))


def test_nobody_outside_of_the_room_tells_oracles_apart_by_class():
    names()  # loads all of them
    known = classes()
    assert {"FrequencyOracle", "StringOracle", "Listed", "Grouped", "HRR"} <= known
    members = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if path.relative_to(SOURCE).parts[0] != "oracles" and dispatches(path.read_text(), known)
    }
    assert members == set()


ASKED = (
    "law|outcomes|publics|publics_are_all|check_enumerable|profile|sample_values|overlaps|leaves|resized|likelihoods"
)
DIRECTLY = re.compile(rf"oracle\.({ASKED}|outcomes|plain_values|unprotected|server_work|leak|value_items)\b(?! import)")


def test_nobody_outside_of_the_room_goes_around_the_analysis():
    outside = [path for path in SOURCE.rglob("*.py") if path.relative_to(SOURCE).parts[0] != "oracles"]
    assert [path for path in outside if DIRECTLY.search(path.read_text())] == []
    assert DIRECTLY.search("self.oracle.law(3)")


ASKED_FOR = re.compile(r"(has|get)attr\((type\()?(\w+\.)*(oracle|inner|member)\)?(\.estimator)?, \"")


def test_nobody_outside_of_the_room_asks_what_members_an_oracle_has():
    outside = [path for path in SOURCE.rglob("*.py") if path.relative_to(SOURCE).parts[0] != "oracles"]
    assert [path for path in outside if ASKED_FOR.search(path.read_text())] == []
    assert ASKED_FOR.search('getattr(self.oracle.estimator, "sketch", None)')


def test_there_is_no_second_mechanism():
    assert [path for path in SOURCE.rglob("*.py") if "singledispatch" in path.read_text()] == []


@pytest.mark.parametrize(
    "planted",
    ["isinstance(x, fldp.GRR | GRR)", "issubclass(cls, (int, GRR))", "type(x) is GRR", "match x:\n case GRR(): pass"],
)
def test_a_question_for_a_class_is_found(planted):
    assert dispatches(planted, {"GRR"})
    assert not dispatches(planted.replace("GRR", "int"), {"GRR"})


# ------------------------------------------------------------------------------------------------------- companions


class Loud(Subset):
    """An oracle of one's own, with a companion; ``Louder`` shares it."""


class Louder(Loud):
    pass


@pytest.fixture
def companion():
    before = analysis(Louder(1.0, 4))

    @analyses(Loud)
    class LoudAnalysis(Analysis[Loud]):
        server_work = "O(noise)"

        def likelihoods(self, data):
            return super().likelihoods(data) * 2

    yield before
    del core._COMPANIONS[Loud]
    core._companion.cache_clear()


def test_a_companion_answers_for_a_class_and_its_subclasses(companion):
    for oracle in (Loud(1.0, 4), Louder(1.0, 4)):
        data = oracle.privatize([0, 1, 2], rng=7).data
        assert analysis(oracle).server_work == "O(noise)" != companion.server_work
        assert (analysis(oracle).likelihoods(data) == 2 * Analysis.likelihoods(analysis(oracle), data)).all()
        assert not analysis(oracle).enumerates and companion.enumerates  # noqa: PT018
        fldp.check_oracle(oracle)
    assert analysis(Subset(1.0, 4)).server_work == companion.server_work


def test_a_companion_of_ones_own_serves_poisoning_and_integrity():
    class Named(fldp.GRR):
        """An oracle of one's own that reports symbols, and a companion that knows what these are worth."""

    @analyses(Named)
    class NamedAnalysis(Analysis[Named]):
        def fakes(self, targets):
            weights, constant = supports_worth(self.oracle, targets)
            return Symbols(weights + constant, self.oracle.report_format.dtype)

        def honest_tally(self, tally):
            p, q = map(float, (self.oracle.coin.p, self.oracle.coin.q))
            yield CellClaim("mine", "as often as by noise", tally.state, tally.n, q, p)

    mine, plain = Named(1.0, 4), fldp.GRR(1.0, 4)
    try:
        fake = fldp.privacy.poison(mine, [1], 300, rng=7)
        assert (fake.data == fldp.privacy.poison(plain, [1], 300, rng=7).data).all()
        assert fldp.privacy.leverage(mine, [1]) == fldp.privacy.leverage(plain, [1])
        assert [finding.test for finding in fldp.integrity(fake).flagged] == ["mine"]
    finally:
        del core._COMPANIONS[Named]
        core._companion.cache_clear()


def test_without_a_companion_the_methods_of_the_oracle_answer(companion):
    oracle = Louder(1.0, 4)
    assert companion.law(2) == oracle.law(2)
    assert (companion.outcomes, companion.domain_size, companion.candidates) == (oracle.outcomes, 4, None)
    assert companion.sent == oracle
    assert companion.parities() is None
    with pytest.raises(fldp.ParameterError, match="analysis: CMS is for strings, so name candidates"):
        analysis(fldp.CMS(1.0)).leaves()


@pytest.mark.parametrize("oracle", SMALL, ids=repr)
def test_an_oracle_answers_under_the_old_names_with_a_warning(oracle):
    about, data = analysis(oracle), oracle.privatize([0, 1, 1], rng=7).data
    assert about.domain_size == oracle.domain_size
    with pytest.warns(DeprecationWarning, match=r"Oracle.likelihoods moved: analysis\(oracle\).likelihoods"):
        assert (about.likelihoods(data) == oracle.likelihoods(data)).all()
    with pytest.warns(DeprecationWarning, match="server_work"):
        assert about.server_work == oracle.server_work
    with pytest.warns(DeprecationWarning, match="sample_values"):
        assert about.sample_values(0, oracle.domain_size) == oracle.sample_values(0, oracle.domain_size)
    with pytest.warns(DeprecationWarning, match="promise"):
        assert about.promise == oracle.promise


MOVED = {
    fldp.FHR(1.0, 7): "estimator.decoders estimator.methods",
    fldp.LWR(0.5, 9, 1.0): "memoization.keep memoization.respond memoization.basis memoization.lasting_epsilon "
    "memoization.change_visible memoization.follows memoization.coins",
    fldp.RAPPOR(1.0, 2.0): "memoization.keep memoization.respond memoization.lasting_epsilon memoization.coins",
    fldp.Sampled(1.0, answers=(4, 2), views=1): "design.views:seen design.weights:drawn design.entries "
    "estimator.people estimator.split estimator.draw_state record_code.encode:records record_code.decode:digits",
}


@pytest.mark.parametrize(
    ("oracle", "path"), [(oracle, path) for oracle, paths in MOVED.items() for path in paths.split()]
)
def test_members_of_what_an_oracle_holds_are_read_under_their_old_names(oracle, path):
    now, _, before = path.partition(":")
    former = before or now.partition(".")[2]
    with pytest.warns(DeprecationWarning, match=rf"Oracle.{former} moved: oracle.{now}$"):
        assert getattr(oracle, former) == attrgetter(now)(oracle)
    assert former not in public_members(type(oracle))


def test_an_oracle_that_holds_nothing_has_no_members_of_it():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for oracle in (fldp.GRR(1.0, 5), fldp.CMS(1.0), fldp.Sampled(1.0, answers=(4, 2), views=1)):
            assert not any(hasattr(oracle, name) for name in ("keep", "respond", "follows", "coins"))
        assert not any(hasattr(oracle, "seen") for oracle in (fldp.GRR(1.0, 5), fldp.RAPPOR(1.0, 2.0)))
    with pytest.raises(AttributeError, match="'GRR' object has no attribute 'keep'"):
        _ = fldp.GRR(1.0, 5).keep


def test_an_oracle_that_names_methods_itself_has_them():
    class Chosen(fldp.FHR):
        methods = ("linear", "adaptive")

    tally = Chosen(1.0, 7).tally(Chosen(1.0, 7).privatize([1, 2, 3], rng=7))
    assert Chosen(1.0, 7).estimate(tally, method="adaptive").n == 3
    with pytest.raises(fldp.ParameterError, match="method"):
        Chosen(1.0, 7).estimate(tally, method="em")
    with pytest.raises(TypeError, match="Both: decoders and methods moved: define them on the class of its estimator"):
        type("Both", (fldp.GRR,), {"methods": ("linear",), "estimator": None})


def public_members(cls):
    named = {name for base in cls.__mro__ for name in (*vars(base), *vars(base).get("__annotations__", ()))}
    return {name for name in named if not name.startswith("_")}


def test_an_oracle_is_small():
    """What a client, a server and an analysis need stands apart: an oracle has what is left."""
    assert len(public_members(FrequencyOracle)) <= 20
    for cls in map(get, names()):
        assert len([each for each in cls.__mro__ if issubclass(each, Oracle)]) <= 3, cls
        assert len(public_members(cls) - cls.params.keys()) <= 20, cls
        companion = type(analysis(examples(cls)[0]))
        assert len([each for each in companion.__mro__ if issubclass(each, Analysis)]) <= 3, companion


def test_a_client_loads_no_companion():
    code = (
        "import sys, fldp\n"
        "fldp.GRR(1.0, 5).privatize([1]), fldp.FHR(1.0, 7).privatize(1)\n"
        "table = dict(name='q', question='?', labels=['a', 'b', 'c'], oracle=dict(name='fhr', epsilon=1.0))\n"
        "fldp.Survey.from_dict(table).privatize(['b'])\n"
        "assert not [name for name in sys.modules if name.endswith('_analysis')]\n"
        "fldp.verify(fldp.FHR(1.0, 7))\n"
        "assert 'fldp.oracles.flexible.fhr_analysis' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@dataclass(frozen=True, repr=False)
class Silent(FrequencyOracle):
    """An oracle that says nothing of its law: what a report is, and what it means, stand in GRR."""

    name = "test-silent"
    _mechanism = property(lambda self: fldp.GRR(self.epsilon, self.domain_size))
    estimator = property(lambda self: Estimator(self.domain_size))


@pytest.mark.parametrize(
    ("member", "asked"),
    [
        ("outcomes", lambda about: about.outcomes),
        ("law", lambda about: about.law(0)),
        ("pair_noise or spread", lambda about: about.spread()),
        ("pair_noise or linear_covariance", lambda about: about.linear_covariance(np.ones(4), np.ones(4))),
        ("pair_noise or largest_square", lambda about: about.largest_square(np.ones(4))),
    ],
)
def test_what_an_oracle_does_not_say_of_itself_is_named_with_the_place_for_it(member, asked):
    with pytest.raises(NotImplementedError) as error:
        asked(analysis(Silent(1.0, 4)))
    told = f"Silent: define {member} in its companion, a subclass of Analysis under @analyses(Silent)"
    assert str(error.value).startswith(told)


def test_an_oracle_that_counts_supports_names_its_probabilities():
    class Coinless(PureOracle):
        name = "test-coinless"
        _mechanism = property(lambda self: fldp.GRR(self.epsilon, self.domain_size))

    with pytest.raises(TypeError, match="Coinless: define coin, or p and q"):
        _ = Coinless(1.0, 4).estimator


def test_an_oracle_of_ones_own_has_probabilities_by_kinds_of_values():
    """The values of IDUE have a p and a q for each budget; an oracle that declares them estimates alike."""
    inner = fldp.IDUE(epsilon=2.0, domain_size=5, budgets={0: 0.5})

    class ByKinds(UnevenOracle):
        name = "test-kinds"
        _mechanism = property(lambda self: inner)
        kinds, kind_of = inner.estimator.kinds, inner.estimator.kind_of

    mine, reports = ByKinds(2.0, 5), inner.privatize([0, 1, 2, 3, 4] * 40, rng=1)
    estimate = mine.estimate(Reports(mine, reports.data))
    assert estimate.counts == pytest.approx(inner.estimate(reports).counts)
    assert estimate.stderr == pytest.approx(inner.estimate(reports).stderr)
    for own, others in zip(mine.chances, inner.estimator.chances, strict=True):
        assert own == pytest.approx(others)
