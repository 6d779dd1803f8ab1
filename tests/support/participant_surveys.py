"""What servers ask in the tests of the participant."""

from fldp import BudgetError, Limit, Limits

ORIGIN = "https://collector.example"
LABELS = ["chrome", "firefox", "safari", "edge", "other"]
WIDE = Limits(*[Limit(1e6, 0, 10**6)] * 3)


def specification(number=0, **changes):
    fields = {
        "name": "browser",
        "question": "Which browser are you using?",
        "description": f"Version {number}.",
        "labels": LABELS,
        "oracle": {"name": "olh", "epsilon": 1},
    }
    return {**fields, **changes}


def oracle(name="olh", epsilon=1, **parameters):
    return {"name": name, "epsilon": epsilon, **parameters}


def yes(notices):
    return True


def asked(participant, fields, label="firefox", origin=ORIGIN, **options):
    return participant.answer(fields, label, origin=origin, **options)


def served(participant, surveys, label="firefox", **options):
    """Let a server ask for one survey after the other; return what it got, and why it got no more."""
    answers, reasons = [], []
    for fields in surveys:
        try:
            answers.append(asked(participant, fields, label, **options))
        except BudgetError as error:
            reasons.append(str(error))
    assert not [reason for reason in reasons if "\n" in reason]
    return answers, reasons
