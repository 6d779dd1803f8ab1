"""Explanations of stored reports: what each one tells its reader, in words. This module loads the oracles."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from fldp import wire
from fldp.errors import FldpError
from fldp.oracles.base.analysis import analysis
from fldp.oracles.exposure import exposure
from fldp.support.exact_numbers import number_text, share_text
from fldp.survey.survey import Survey
from fldp.telemetry.metrics import AppMetrics
from fldp.telemetry.specification import specification


def explained(metrics: AppMetrics, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data of a view, with what each report says."""
    surveys = {name: Survey.from_dict(specification(metrics, metric)) for name, metric in metrics.metrics.items()}
    reports = [{**report, "says": says(surveys.get(report["metric"]), report)} for report in data["reports"]]
    return {**data, "reports": reports}


def says(survey: Survey | None, report: Mapping[str, Any]) -> list[str]:
    """Return what one report says: under which values it is likely, what it rules out, and how well one guesses."""
    if survey is None or survey.version != report["version"]:
        return ["The program does not declare this metric any more, so what the report says is not shown."]
    try:
        data = wire.decode(bytes.fromhex(report["bytes"]), survey.oracle, survey.version).data
    except FldpError:
        return ["The report is damaged."]
    likelihoods = analysis(survey.oracle).likelihoods(data)[0]
    likely = likelihoods > likelihoods.max() * (1 - 1e-9)
    named = [label for label, more in zip(survey.labels or (), likely, strict=True) if more]
    factor = likelihoods.max() / max(likelihoods.min(), np.finfo(float).tiny)
    kept = f"It kept epsilon {number_text(survey.oracle.epsilon)}, eta {share_text(survey.oracle.eta)}."
    blind = f"Somebody who knows nothing else guesses the value with probability 1/{len(likelihoods)}"
    if len(named) == len(likelihoods):
        likely_under = "The report is as likely under every value."
        return [f"{likely_under} {exposure(survey.oracle)}", f"{kept} {blind}, with this report and without it."]
    return [
        f"The report is {factor:.2f} times as likely if the value is {' or '.join(named)} than if it is another. "
        f"{exposure(survey.oracle)}",
        f"{kept} {blind}, and with this report alone with {likelihoods.max() / likelihoods.sum():.3f}.",
    ]
