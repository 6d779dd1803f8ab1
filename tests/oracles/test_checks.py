"""The checks pass what is right and catch what is not."""

import re
from fractions import Fraction
from pathlib import Path

import pytest

import fldp
from fldp.conformance import checks
from fldp.conformance.checks import CheckError, check_oracle
from fldp.oracles import get, kit, names, register, registry
from support import defects
from support.careless_oracles import CARELESS


class Broken(fldp.GRR):
    def privatize(self, values, *, rng=None):
        raise fldp.DomainError("no values today")


@pytest.mark.parametrize(("oracle", "check"), defects.PLANTED.items(), ids=lambda item: type(item).__name__)
def test_planted_defects_are_caught(oracle, check):
    with pytest.raises(CheckError, match=check):
        check_oracle(oracle)


@pytest.mark.parametrize(("oracle", "said"), CARELESS.items(), ids=lambda item: getattr(item, "__name__", None))
def test_careless_mistakes_are_named(oracle, said):
    check, what = said
    assert check in [each.__name__ for each in checks.CHECKS]
    with pytest.raises(CheckError, match=rf"(?s)^{check}: {oracle.__name__}\(.*{re.escape(what)}"):
        getattr(checks, check)(oracle(1.0, 7), 0)


def test_an_error_that_is_none_of_a_check_names_the_check():
    with pytest.raises(CheckError, match=r"^check_identity: Broken\(.*\): unexpected error: no values today$"):
        check_oracle(Broken(1.0, 7))


@pytest.mark.long
def test_the_oracles_the_defects_were_planted_in_pass():
    for oracle in (
        fldp.FHR(1.0, 7),
        fldp.GRR(1.0, 7),
        fldp.OUE(1.0, 7),
        fldp.SS(1.0, 7),
        fldp.HR(1.0, 7),
        fldp.PGR(0.5, 7),
        defects.Subset(1.0, 7),
    ):
        check_oracle(oracle)


def test_the_leak_by_order_in_the_papers_message():
    """Section 2 of the design: epsilon 0, eta 1/4, delta 3/4, whatever the coin."""
    verification = fldp.verify(defects.TruePositionFirst(1.0, 7))
    assert (verification.ratio, verification.eta, verification.delta, verification.holds) == (
        1,
        Fraction(1, 4),
        Fraction(3, 4),
        False,
    )


def test_an_oracle_of_ones_own_is_registered_without_forking():
    register(defects.Subset)
    try:
        assert "test-subset" in names()
        assert get("test-subset")(epsilon=1.0, domain_size=5) == defects.Subset(1.0, 5)
        with pytest.raises(fldp.ParameterError, match="the name must be free, got 'test-subset' of Subset"):
            register(defects.TrueValueFirst)
    finally:
        registry._classes.pop("test-subset")


def test_an_oracle_of_ones_own_needs_the_kit_alone():
    imports = re.findall(r"^(?:from|import) (fldp\S*)", Path(defects.__file__).read_text(), re.M)
    assert set(imports) == {"fldp", "fldp.oracles.kit"}
    assert kit.__all__ == sorted(kit.__all__, key=lambda name: (not name.isupper(), name.islower(), name))
    assert all(hasattr(kit, name) for name in kit.__all__)


def test_what_is_not_an_oracle_is_not_registered():
    with pytest.raises(fldp.ParameterError, match="must be a subclass of FrequencyOracle"):
        register(int)


def test_unknown_names_list_the_known_ones():
    with pytest.raises(fldp.ParameterError, match=f"must be one of {', '.join(names())}, got 'nope'"):
        get("nope")
