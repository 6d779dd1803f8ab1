"""The reproduction of the paper, end to end: measure, judge, draw, write."""

from pathlib import Path
from time import process_time

from fldp.errors import FldpError
from fldp.experiments.paper.claims import Verdict
from fldp.experiments.paper.costs import Clock
from fldp.experiments.paper.document import document, verdicts
from fldp.experiments.paper.evaluation import Evaluation
from fldp.experiments.paper.evidence import Evidence, Note, gather, say_nothing, unfinished
from fldp.experiments.paper.figures import PICTURES
from fldp.presentation.plot import save
from fldp.support.atomic_files import open_output
from fldp.support.optional_imports import load
from fldp.support.progress import progress

PAGE, FOLDER = "reproduction.md", "reproduction"
ENDINGS = ("svg", "png")


def reproduce(
    output: str | Path,
    evaluation: Evaluation,
    *,
    jobs: int = 1,
    full: bool = False,
    clock: Clock = process_time,
    note: Note = say_nothing,
) -> list[Verdict]:
    """Run the evaluation, and write the page, its figures and its tables into a folder; return the verdicts.

    The page is ``reproduction.md``; figures (SVG and PNG) and tables (CSV) are in ``reproduction`` beside it. The same
    call after an interruption goes on where it was. With ``full``, every user's report of the main experiment goes
    through the wire. All but the measured times is the same for the same seed.
    """
    load("matplotlib", "plot")  # say that it is missing before all the work
    folder = Path(output)
    try:
        (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FldpError(f"{folder}: cannot be written: {error.strerror}") from None
    with unfinished(folder / FOLDER) as place:
        evidence = gather(evaluation, place, jobs=jobs, full=full, clock=clock, note=note)
        note(f"judging and drawing {len(PICTURES)} figures")
        results = verdicts(evidence)
        _draw(evidence, folder / FOLDER)
        for name in ("main", "users", "etas"):
            getattr(evidence, name).write(folder / FOLDER / f"{name}.csv")
        with open_output(str(folder / PAGE)) as file:
            file.write(document(evidence, results, full=full, folder=FOLDER).encode())
    return results


def _draw(evidence: Evidence, folder: Path) -> None:
    with progress("drawing", len(PICTURES)) as advance:
        for picture in PICTURES.values():
            figure = picture.draw(evidence)
            for ending in ENDINGS:
                save(figure, folder / f"{picture.name}.{ending}")
            advance(1)
