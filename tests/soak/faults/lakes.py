"""Lakes: what a collector wrote as Parquet, read by pyarrow alone, and compared with the models."""

from pathlib import Path

import numpy as np
import pyarrow.parquet

from soak.faults.model import ALIVE, Kind


def symbols(lake, version, day="*"):
    """Return all symbols that a lake holds of a version."""
    files = sorted(Path(lake).glob(f"survey={version}/day={day}/reports.parquet"))
    columns = [pyarrow.parquet.ParquetFile(path).read(["symbol"])["symbol"].to_numpy() for path in files]
    return np.concatenate(columns) if columns else np.empty(0, np.int64)


def unreadable(models, lake):
    """Yield what is wrong with the files that are there now: each is whole, and no report is in one that never was."""
    for model in models if lake else ():
        try:
            held = np.bincount(symbols(lake, model.version), minlength=model.survey.oracle.domain_size)
        except (OSError, pyarrow.ArrowException) as error:
            yield f"the lake of {model.survey.name} cannot be read: {error}"
            continue
        if model.phase in ALIVE and model.generation == 1:  # else files of its life before stay
            _, high = model.bounds([Kind.REPORTS])
            if (held > high).any():
                yield f"the lake of {model.survey.name} holds {(held > high).sum()} reports that must not be there"


def incomplete(run):
    """Have all days that are over written; return what is wrong: every report must be there, once."""
    for server in run.servers:
        server.wait_for_lake()
    kept = [model for model in run.models if model.phase in ALIVE and model.survey.collect["retention"] == "raw"]
    run.result.counted["lake comparisons"] += len(kept)
    return _differences(run, kept)


def _differences(run, models):
    problems = []
    with run.server.admin as client:
        for model in models:
            answer = client.get(f"/v1/versions/{model.version}/days")
            days = [day["day"] for day in answer.json()] if answer.status_code == 200 else []
            parts = [symbols(run.server.settings["lake"], model.version, day) for day in days]
            held = np.concatenate([np.empty(0, np.int64), *parts]).astype(np.int64)
            count, (low, _) = np.bincount(held, minlength=model.survey.oracle.domain_size), model.bounds([Kind.REPORTS])
            if not np.array_equal(count, low):
                name = f"{model.survey.name} {model.version[:8]}"
                problems.append(f"the lake of {name} holds {held.size} reports, {low.sum()} were acknowledged")
    return problems
