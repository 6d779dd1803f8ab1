"""The route that compares: what changed from some days to others, and what may be chance."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from fldp.collector.http.query import Contrast
from fldp.collector.routes import estimates
from fldp.collector.routes.estimates import asked, enough, moment
from fldp.collector.service.answers import checkpoint
from fldp.collector.service.catalog import PublishedSurvey
from fldp.collector.service.collector import Collector
from fldp.collector.storage.protocol import StoredToken
from fldp.collector.storage.window import DayWindow
from fldp.data.estimate import Estimate, z_score
from fldp.presentation import tables


async def compare(collector: Collector, request: Request, token: StoredToken) -> Response:
    """Compare the shares of all values in two windows of days."""
    published = await asked(collector, request, token)
    query = Contrast.of(request, published.survey.oracle)
    estimates.of_labels(published)
    return JSONResponse(await collector.answers.compute(request, _compared, collector, published, query))


async def compare_among(collector: Collector, request: Request, token: StoredToken) -> Response:
    """Compare the shares of some strings in two windows of days."""
    published = await asked(collector, request, token)
    query = Contrast.of(request, published.survey.oracle)
    async with estimates.candidates_in(collector, request, published) as body:
        return JSONResponse(await collector.answers.compute(request, _compared, collector, published, query, body))


def _compared(
    collector: Collector, published: PublishedSurvey, query: Contrast, body: bytes | None = None
) -> dict[str, Any]:
    options = estimates.parsed(body, collector.settings.max_values)
    survey, number = published.survey, published.entry.number
    windows = [DayWindow(number, days) for days in query.windows]
    with moment(collector, published) as snapshot:
        for window in windows:
            enough(window.count(snapshot), published)
        tallies = [window.tally(snapshot, survey.oracle) for window in windows]
    checkpoint()
    options |= {"decoder": query.decoder} if query.decoder else {}
    one, two = (estimates.estimated(survey, tally, options) for tally in tallies)
    return {"n": one.n, "other_n": two.n, "level": query.level, **contrast(one, two, query.level, query.top)}


def contrast(one: Estimate, two: Estimate, level: float, top: int | None = None) -> dict[str, Any]:
    """Return how every share changed, the clearest change first, with intervals that all hold at once (Bonferroni).

    The people of each window are taken as drawn at random from those who could have answered, so their differences by
    chance count as well as the noise. With probability ``level`` or more, no value is called changed whose share among
    all of those did not change.

    >>> import fldp
    >>> oracle = fldp.GRR(epsilon=2.0, domain_size=3)
    >>> one, two = (oracle.estimate(fldp.Tally(oracle, s, 1000)) for s in ([600, 200, 200], [400, 400, 200]))
    >>> found = contrast(one, two, 0.95)
    >>> found["changed"], [row["changed"] for row in found["rows"]]
    (2, [True, True, False])
    """
    change = one.compare(two)
    stderr = np.sqrt(change.stderr**2 + _sampling(one) + _sampling(two))
    reach = z_score(1 - (1 - level) / len(stderr)) * stderr
    low, high = change.difference - reach, change.difference + reach
    changed = (low > 0) | (high < 0)
    order = np.argsort(-np.abs(change.difference / stderr), kind="stable")[:top]
    rows = [
        {
            "value": int(value),
            "label": tables.label(one, int(value)),
            "share": float(one.frequencies[value]),
            "other_share": float(two.frequencies[value]),
            "difference": float(change.difference[value]),
            "low": float(low[value]),
            "high": float(high[value]),
            "changed": bool(changed[value]),
        }
        for value in order
    ]
    return {"values": len(changed), "changed": int(changed.sum()), "rows": rows}


def _sampling(estimate: Estimate) -> NDArray[np.float64]:
    """Return the variance of the shares among people who are drawn at random, apart from all noise."""
    shares = np.clip(estimate.frequencies, 0, 1)
    return np.asarray(shares * (1 - shares) / estimate.n)
