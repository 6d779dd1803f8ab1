"""Passes of a person: the secrets of one are kept before it is asked for, and then the pass in their place."""

from fldp.errors import FldpError, ParameterError
from fldp.participant.store import Book, PassBook, Store
from fldp.passes.tokens import PassError, PassSecret, PassTerms
from fldp.support.identifiers import PASS
from fldp.survey.survey import Survey


def _book(book: Book, store: Store) -> PassBook:
    if not isinstance(book, PassBook):
        raise ParameterError(
            f"participant: store must be one that keeps passes (fldp.participant_store), got {type(store).__name__}"
        )
    return book


def terms_of(survey: Survey) -> PassTerms:
    """Return the terms of a survey's passes, or refuse one that takes none."""
    if survey.pass_terms is None:
        raise ParameterError(f"participant: survey {survey.name} takes no passes")
    return survey.pass_terms


def request(store: Store, survey: Survey, origin: str) -> bytes:
    """Return what asks for the pass to a survey: the same as before, if it was asked for before."""
    terms = terms_of(survey)
    with store.exclusive() as kept:
        book = _book(kept, store)
        text = book.kept_pass(origin, survey.version)
        if text is not None and PASS.matches(text):
            raise ParameterError(f"participant: the pass to survey {survey.name} is here already")
        secret = PassSecret.draw(terms.key) if text is None else PassSecret.decode(bytes.fromhex(text))
        if text is None:
            book.keep_pass(origin, survey.version, secret.encoded.hex())
    return terms.request(secret)


def keep(store: Store, survey: Survey, origin: str, reply: bytes) -> str:
    """Make the pass out of the issuer's answer, and keep it in place of its secrets."""
    terms = terms_of(survey)
    with store.exclusive() as kept:
        book = _book(kept, store)
        text = book.kept_pass(origin, survey.version)
        if text is None:
            raise FldpError(f"participant: no pass to survey {survey.name} was asked for")
        if PASS.matches(text):
            return text
        text_of_pass = terms.pass_of(PassSecret.decode(bytes.fromhex(text)), reply)
        book.keep_pass(origin, survey.version, text_of_pass)
        return text_of_pass


def find(store: Store, version: str, origin: str) -> str | None:
    """Return the pass to a version of a survey, if it is here."""
    with store.exclusive() as book:
        text = book.kept_pass(origin, version) if isinstance(book, PassBook) else None
        return text if text is not None and PASS.matches(text) else None


def shown(store: Store, survey: Survey, origin: str, ticket: str | None) -> str | None:
    """Return what an answer is sent with: the ticket as it is, or where a survey takes passes one of them."""
    if survey.pass_terms is None:
        return ticket
    text, who = ticket or find(store, survey.version, origin), f"participant: survey {survey.name}"
    if text is None:
        raise ParameterError(f"{who} needs a pass; Client.obtain_pass gets one for a ticket")
    try:
        survey.pass_terms.nonce(text)
    except PassError as error:
        raise ParameterError(f"{who} needs a pass to it, not something else: {error}") from None
    return text
