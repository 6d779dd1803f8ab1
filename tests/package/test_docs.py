"""What the documents show is what happens: every command and every example on every page is run."""

import re
from importlib import import_module

import pytest

from fldp import cli
from fldp.cli import app
from fldp.oracles import names
from fldp.survey import Survey
from support.commands_not_run import ENDS, LEFT_OUT, left_out
from support.documents import PAGES, ROOT, Walk, blocks, examples
from support.page_files import prepare

README = (ROOT / "README.md").read_text()
SERVED = {"README.md", "first_survey.md", "client.md", "collector.md", "heavy_hitters.md", "withdrawal.md"}
RUN_BY = {  # pages that a test of their own follows
    "operations.md": "tests/deploy/test_operations.py",  # not how it installs, nor its measurement of a million reports
    "telemetry.md": "tests/telemetry/test_rehearsal.py",
    "tutorial.md": "tests/survey/test_tutorial.py",
    "CONTRIBUTING.md": "tests/package/test_contributing.py",
}


WALKED = [path for path in PAGES if path.name not in SERVED | RUN_BY.keys() and examples(path)]


@pytest.mark.long
@pytest.mark.parametrize("path", WALKED, ids=lambda path: path.stem)
def test_what_a_page_says_happens(path, tmp_path):
    prepare(path, tmp_path)
    Walk(path, tmp_path, left_out=left_out, codes=ENDS).follow()


def test_what_is_left_out_is_there():
    every = [text for path in PAGES for text in examples(path)]
    assert [part for part in LEFT_OUT if not any(part in text for text in every)] == []


def test_what_is_run_elsewhere_is():
    for page, test in RUN_BY.items():
        assert page in (ROOT / test).read_text(), page
    served = (ROOT / "tests/package/test_docs_collector.py").read_text()
    assert [page for page in SERVED if f'"{page}"' not in served] == []
    for reason in LEFT_OUT.values():
        for place in re.findall(r"tests/[\w/.]+", reason):
            assert (ROOT / place.rstrip(".")).exists(), place


def test_every_block_has_a_language_that_is_known():
    """A command in a block of another kind would not be run."""
    for path in PAGES:
        for block in blocks(path):
            assert block.language or not re.search(r"^\$? ?(fldp|python|pip) ", block.text, re.M), (path.name, block)
            assert block.language not in ("bash", "shell", "py", "pycon"), (path.name, block)


def test_the_surveys_of_the_readme_are_good():
    surveys = [block.text for block in blocks(ROOT / "README.md") if block.language == "toml"]
    sizes = [getattr(Survey.parse(text, is_json=False).oracle, "domain_size", None) for text in surveys]
    assert sizes == [5, None]


def test_the_number_of_mechanisms_is_counted():
    for path in (ROOT / "README.md", ROOT / "docs" / "index.md"):
        assert re.findall(r"(\d+) mechanisms", path.read_text()) == [str(len(names()))], path.name


def test_every_command_is_in_the_readme():
    for module in cli.COMMANDS:
        import_module(f"fldp.cli.{module}")
    commands = [command.name or command.callback.__name__ for command in app.registered_commands]
    for group in app.registered_groups:
        inner = group.typer_instance.registered_commands
        commands += [f"{group.name} {command.name or command.callback.__name__}" for command in inner]
    for name in commands:
        assert f"fldp {name}" in README or f"make {name}" in README, name


@pytest.mark.parametrize("path", [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")], ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    """Also to headings, by the anchors that code hosts give them; those of the site are checked when it is built."""
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)", path.read_text()):
        if target.startswith("https://"):
            continue
        place = path.parent / target if target else path
        assert place.exists(), target
        assert not anchor or anchor in anchors(place), f"{target}#{anchor}"


def anchors(path):
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", path.read_text(), flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_phrases_on_which_readers_stumble_are_gone():
    """Each has a plain wording now."""
    phrases = re.compile(
        r"got (?:another one|something else|nobody|a no|one that is claimed)|a good token is needed"
        r"|not good, or not any more"
        r"|cannot be read, and then it can|neither so small nor so large|Past one machine|The whiskers are|Tell whether"
        r"|here our own client|What the answers of all|nothing is built on a slip|known by heart|The route that doubts"
    )
    places = [*(ROOT / "src" / "fldp").rglob("*.py"), *(ROOT / "js" / "src").rglob("*.ts"), *PAGES]
    places += [path for path in (ROOT / "src/fldp/collector/static").rglob("*.js") if "vendor" not in path.parts]
    assert [(path.name, match[0]) for path in places if (match := phrases.search(path.read_text()))] == []
