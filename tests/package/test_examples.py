"""The example notebooks run, and what they show was seen."""

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

HEADING = re.compile(r"<(?:h\d|caption|th)\b[^>]*>([^<]*)")
EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.ipynb"))


def shown(notebook):
    """Return for each cell of code what kinds of output it has, and their headings, without what chance decides."""
    cells = (cell for cell in notebook.cells if cell.cell_type == "code")
    data = [[output.get("data", {}) for output in cell.outputs] for cell in cells]
    return [[(sorted(each), _headings(each.get("text/html", ""))) for each in outputs] for outputs in data]


def _headings(html):
    """Return headings without how many values changed: of twenty runs, one finds a change that is none."""
    return [re.sub(r"^\d+ of ", "some of ", heading) for heading in HEADING.findall(html)]


@pytest.mark.serving
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_it_showed(path, tmp_path):
    before = nbformat.read(path, 4)
    after = nbformat.read(path, 4)
    NotebookClient(after, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert shown(after) == shown(before)
    assert list(tmp_path.iterdir()) == []


def test_there_are_three():
    assert [path.stem for path in EXAMPLES] == ["lake", "survey", "telemetry"]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_notebook_names_no_folder_of_whoever_ran_it(path):
    text = path.read_text()
    assert str(Path.home()) + "/" not in text
    assert "/tmp" not in text
