"""Passes in tests: asked for and signed, by HTTP or without."""

from fldp import Survey
from fldp.passes.issuing import PrivateKey
from fldp.passes.tokens import REQUEST_TYPE, PassSecret, key_text
from support.collector_requests import specification

KEY = PrivateKey.generate()  # of somebody who issues elsewhere
PASS = {"submit": "pass", "issuer_key": key_text(KEY.public), "issuer": "https://issuer.example"}


def pass_survey(name="browser", oracle=None, **collect):
    """A survey whose passes this process signs itself."""
    return Survey.from_dict(specification(name, oracle, minimum=1, **{**PASS, **collect}))


def issued(survey, key=KEY):
    """Return a pass, signed by who has the key."""
    terms, secret = survey.pass_terms, PassSecret.draw(survey.pass_terms.key)
    return terms.pass_of(secret, key.sign(terms.blinded(terms.request(secret))))


def asking(survey, ticket):
    """Return a secret, and what is posted for it."""
    secret = PassSecret.draw(survey.pass_terms.key)
    headers = {"Fldp-Ticket": ticket, "Content-Type": REQUEST_TYPE}
    return secret, {"content": survey.pass_terms.request(secret), "headers": headers}
