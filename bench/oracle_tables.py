"""Tables: the comparison of the oracles as people read it, cost and error, and as a file."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from rich.table import Table

from answers import shown, significant
from comparison import Rival, Row, Setting
from sides import Side

_COSTS = ("oracle", "by", "bits", "client", "server")
_FASTER = ("ours faster: client", "server")
_ERRORS = ("oracle", "privacy", "by", "error", "of theory", "repaired", "ours to theirs", "top value", "runs")


def documented(rows: Sequence[Row]) -> dict[str, list[Sequence[str]]]:
    """Return cost and error as rows of a document, the head first."""
    costs = [cells for row in rows for cells in (_our_cost(row), *_their_costs(row))]
    errors = [cells for row in rows for cells in (_our_error(row), *_their_errors(row))]
    return {"cost": [(*_COSTS, *_FASTER), *costs], "error": [_ERRORS, *errors]}


def cost_table(setting: Setting, rows: Sequence[Row]) -> Table:
    """Return what a report costs the client and what all of them cost the server."""
    title = f"cost: a user for the client, {setting.users:,} reports for the server; medians, seconds of the processor"
    return _table(title, (*_COSTS, *_FASTER), ((_our_cost(row), *_their_costs(row)) for row in rows))


def error_table(setting: Setting, rows: Sequence[Row]) -> Table:
    """Return how far off the estimates are."""
    title = (
        f"error: mean squared error of the frequencies times the {setting.users:,} users; "
        "top value: the most frequent one's estimated share over its true one"
    )
    return _table(title, _ERRORS, ((_our_error(row), *_their_errors(row)) for row in rows))


def _table(title: str, columns: Iterable[str], groups: Iterable[Iterable[Sequence[str]]]) -> Table:
    table = Table(title=title, title_justify="left")
    for number, heading in enumerate(columns):
        table.add_column(heading, justify="left" if number < 2 or heading == "by" else "right")
    for group in groups:
        for cells in group:
            table.add_row(*cells)
        table.add_section()
    return table


def _our_cost(row: Row) -> Sequence[str]:
    times = (row.ours.typical("client"), row.ours.typical("server"))
    return row.label, "fldp", f"{row.oracle.report_format.bits:,}", *map(shown, times), "", ""


def _their_costs(row: Row) -> Iterator[Sequence[str]]:
    for rival in row.rivals:
        client, server = (shown(rival.side.typical(part)) for part in ("client", "server"))
        yield "", rival.side.title, "", client, server, *map(_times, speedups(row, rival))


def speedups(row: Row, rival: Rival) -> tuple[float, float]:
    """Return how many times as long a rival takes: as our clients, and as our server."""
    client, server = rival.side.typical("client"), rival.side.typical("server")
    return client / row.ours.typical("client"), server / row.ours.typical("server")


def _our_error(row: Row) -> Sequence[str]:
    epsilon, eta = row.setting.epsilon, row.oracle.eta
    privacy = f"{epsilon:g}-LDP" if eta == 1 else f"({epsilon:g}, {eta})-FLDP"
    theory = f"{_give(row.ours.mean('error') / row.theory, row.ours.uncertainty)}{' MISS' if row.missed else ''}"
    repaired = significant(row.ours.mean("norm_sub_error"))
    return row.label, privacy, "fldp", significant(row.ours.mean("error")), theory, repaired, "", *_tail(row.ours)


def _their_errors(row: Row) -> Iterator[Sequence[str]]:
    for rival in row.rivals:
        error = rival.side.mean("error")
        theory = _give(error / row.theory, rival.side.uncertainty * error / row.theory)
        figures = ("", "", significant(error)) if rival.counterpart.repaired else (significant(error), theory, "")
        yield "", "", rival.side.title, *figures, f"{row.error_ratio(rival):.3f}", *_tail(rival.side)


def _tail(side: Side) -> tuple[str, str]:
    return _give(side.mean("top_share"), side.top_uncertainty), f"{len(side.runs):,}"


def _times(ratio: float) -> str:
    return f"{significant(ratio)} x"


def _give(value: float, uncertainty: float) -> str:
    return f"{value:.3f} ± {uncertainty:.3f}"


def notes(setting: Setting, rows: Sequence[Row], left_out: dict[str, str]) -> Iterator[str]:
    """Yield what the tables do not say."""
    nothing = setting.population(setting.domain_size).error(np.zeros(setting.domain_size))
    packages = dict.fromkeys(rival.counterpart.peer.packages[0] for row in rows for rival in row.rivals)
    yield f"All by turns in one run: fldp, {', '.join(packages)}. LDP and FLDP are not like for like."
    yield "client: ours answers for all users in one call; the peers have one call a user. bench/one_call.py has ours."
    yield "repaired: no negative frequencies, and they add up to 1; ours by norm-sub."
    yield f"The answer 0 for every one of {setting.domain_size:,} values has error {significant(nothing)}."
    yield from dict.fromkeys(
        rival.counterpart.caveat for row in rows for rival in row.rivals if rival.counterpart.caveat
    )
    yield from (f"{row.label}: no peer has it" for row in rows if not row.rivals)
    yield from (f"{name} is left out: {reason}" for name, reason in left_out.items())


def record(setting: Setting, rows: Sequence[Row], left_out: dict[str, str]) -> dict[str, Any]:
    """Return what goes into the file."""
    return {"setting": vars(setting), "rows": [_row(row) for row in rows], "left_out": left_out}


def _row(row: Row) -> dict[str, Any]:
    about = {"oracle": row.label, "domain_size": row.oracle.domain_size, "eta": str(row.oracle.eta)}
    about |= {"bits": row.oracle.report_format.bits, "theory": row.theory, "missed": row.missed}
    return {**about, "ours": _side(row.ours), "peers": [_rival(row, rival) for rival in row.rivals]}


def _side(side: Side) -> dict[str, Any]:
    seconds = {part: side.typical(part) for part in ("setup", "client", "server")}
    figures = {figure: side.mean(figure) for figure in ("error", "rescaled_error", "norm_sub_error", "top_share")}
    return {"by": side.title, "runs": len(side.runs), **seconds, **figures}


def _rival(row: Row, rival: Rival) -> dict[str, Any]:
    ratios = dict(zip(("faster_client", "faster_server"), speedups(row, rival), strict=True))
    about = {"caveat": rival.counterpart.caveat, "repaired": rival.counterpart.repaired}
    return {**_side(rival.side), **ratios, "error_ours_to_theirs": row.error_ratio(rival), **about}
