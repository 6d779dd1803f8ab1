"""What a survey that takes passes must say, and what does not go together with them."""

import pytest

from fldp.passes.issuing import PrivateKey
from fldp.passes.tokens import challenge, key_text
from fldp.survey import Survey, SurveyError

KEY = key_text(PrivateKey.generate().public)
BASE = {"name": "tea", "question": "Tea?", "labels": ["no", "yes", "so"], "oracle": {"name": "grr", "epsilon": 1.0}}
PASS = {"submit": "pass", "issuer_key": KEY}


def survey(collect, **more):
    return Survey.from_dict({**BASE, **more, "collect": collect})


def test_key_and_issuer_are_part_of_the_version():
    plain = survey(PASS)
    assert plain.canonical["collect"]["issuer_key"] == KEY
    assert "issuer" not in plain.canonical["collect"]
    other = survey(PASS | {"issuer_key": key_text(PrivateKey.generate().public)})
    apart = survey(PASS | {"issuer": "https://issuer.example"})
    assert len({plain.version, other.version, apart.version, survey({"submit": "ticket"}).version}) == 4
    assert Survey.from_dict(apart.canonical).version == apart.version


def test_terms_name_the_issuer_and_the_version():
    plain, apart = survey(PASS), survey(PASS | {"issuer": "https://issuer.example:8443"})
    assert plain.pass_terms.challenge == challenge("collector", bytes.fromhex(plain.version))
    assert apart.pass_terms.challenge == challenge("issuer.example:8443", bytes.fromhex(apart.version))
    assert survey({"submit": "ticket"}).pass_terms is None


@pytest.mark.parametrize(
    ("collect", "more", "mistake"),
    [
        ({"submit": "pass"}, {}, "collect.issuer_key is missing: the 456 characters"),
        (PASS | {"issuer_key": KEY[:-1]}, {}, "collect.issuer_key must be the 456 characters"),
        (PASS | {"issuer_key": 7}, {}, "collect.issuer_key must be the 456 characters"),
        (PASS | {"issuer": "issuer.example"}, {}, "collect.issuer must be an origin in its usual form"),
        (PASS | {"issuer": "https://issuer.example/"}, {}, "collect.issuer must be an origin in its usual form"),
        (PASS | {"issuer": None}, {}, "collect.issuer must be an origin in its usual form"),
        ({"issuer_key": KEY}, {}, "collect.issuer_key must be left out unless submit is 'pass'"),
        ({"submit": "ticket", "issuer": "https://a.example"}, {}, "collect.issuer must be left out unless"),
        (PASS | {"repeat": "monthly"}, {}, "collect.repeat must be 'once' with passes"),
        (PASS | {"derive": True}, {}, "collect.derive: the oracle must be one of plain LDP"),
    ],
)
def test_mistakes(collect, more, mistake):
    with pytest.raises(SurveyError) as caught:
        survey(collect, **more)
    assert mistake in str(caught.value)


def test_a_search_takes_no_passes():
    fields = {"name": "words", "question": "Which?", "domain": "strings", "search": {}, "oracle": {"epsilon": 1.0}}
    with pytest.raises(SurveyError, match="in a search, whose rounds are versions"):
        Survey.from_dict({**fields, "collect": PASS})


def test_passes_decide_masks_where_tickets_could():
    derived = survey(PASS | {"derive": True}, oracle={"name": "olh", "epsilon": 1.0})
    assert derived.derives
