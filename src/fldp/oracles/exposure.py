"""Exposure: what one report gives away for certain, in a sentence."""

from fldp.oracles.base.analysis import analysis
from fldp.oracles.base.oracle import Oracle


def exposure(oracle: Oracle) -> str:
    """Return a sentence on what one report gives away for certain.

    >>> import fldp
    >>> exposure(fldp.GRR(epsilon=1.0, domain_size=5))
    'No report rules out any value for certain.'
    """
    unprotected = analysis(oracle).unprotected
    if oracle.anonymity == oracle._values_end:
        return " ".join(filter(None, ("No report rules out any value for certain.", unprotected)))
    if unprotected is not None:
        return f"{unprotected} That is weaker than epsilon-LDP."
    if oracle.eta == 0:
        return (
            "Weak FLDP, eta 0: some values share no report, so one report tells them apart for certain. At least "
            f"{oracle.anonymity:,} of {oracle._values_end:,} values remain possible, and epsilon protects only those."
        )
    return (
        f"One report rules out values for certain, whatever epsilon is: at least {oracle.anonymity:,} "
        f"of {oracle._values_end:,} remain possible. (epsilon, eta {oracle.eta})-FLDP is weaker than epsilon-LDP."
    )
