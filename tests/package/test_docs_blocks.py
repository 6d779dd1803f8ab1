"""No block of a document is left out in silence: each is run, is a file that commands use, or is read by a test."""

import json
import re
import tomllib
from dataclasses import fields
from importlib import import_module

import pyarrow.parquet as pq
import pytest
from typer.main import get_command

import fldp
from fldp.cli import COMMANDS, app
from fldp.collector.http.audit import AuditEntry
from fldp.interface.operations import OPERATIONS
from fldp.oracles.registry import built_in
from support.documents import PAGES, ROOT, blocks, examples
from support.page_files import asked, reports

EVERY = [*PAGES, ROOT / "ARCHITECTURE.md", ROOT / "CHANGELOG.md", ROOT / "SECURITY.md", ROOT / "js" / "README.md"]
HERE = "tests/package/test_docs_blocks.py"
READ_BY = {  # what is neither a command nor an example nor a file: page, language, and the test that reads it
    ("ARCHITECTURE.md", ""): "",  # a drawing
    ("CONTRIBUTING.md", "toml"): "tests/package/test_contributing.py",
    ("README.md", "text"): "tests/package/test_docs_collector.py",
    ("collector.md", "json"): HERE,
    ("collector.md", "sql"): "tests/collector/http/test_collector_settings.py",
    ("integrity.md", "toml"): HERE,
    ("lake.md", ""): "",  # a drawing
    ("lake.md", "json"): HERE,
    ("lake.md", "sql"): "tests/distributed/test_duckdb.py",
    ("pages.md", "html"): HERE,
    ("tutorial.md", "text"): "tests/survey/test_tutorial.py",
    ("wire.md", "json"): HERE,
}
USED_BY = {("audit.md", "client.py"): "tests/responder/test_responder.py"}  # files that no command of their page names
RUN = {"sh", "console", "python", "js"}  # tests/package/test_docs.py says where; js: test_javascript_examples.py
NOT_PYTHON = {"d", "db", "lock", "schema", "service", "X"}  # fldp.d.ts, fldp.db and so on are no names of the package


def first(page, language):
    """Return the first block of a page in a language."""
    path = next(path for path in EVERY if path.name == page)
    return next(block.text for block in blocks(path) if block.language == language)


def is_survey(block):
    """Whether tests/survey/test_survey_documents.py checks it."""
    return block.language == "toml" and bool(re.search(r"^question\s*=", block.text, re.MULTILINE))


@pytest.mark.parametrize("path", EVERY, ids=lambda path: path.name)
def test_every_fence_is_of_a_block(path):
    """Blocks are found where fences begin their lines, and name a language and nothing else."""
    fences = re.findall(r"^[ >]*(?:```|~~~)", path.read_text(), re.MULTILINE)
    assert len(fences) == 2 * len(blocks(path))


def test_every_block_is_run_or_a_file_or_read_by_a_test():
    others = {
        (path.name, block.language)
        for path in EVERY
        for block in blocks(path)
        if block.language not in RUN and not block.file and not is_survey(block)
    }
    assert others == READ_BY.keys()
    for (page, _), place in READ_BY.items():
        assert not place or page in (ROOT / place).read_text(), place


def test_every_block_of_commands_has_commands():
    """A console shows them behind ``$``; a line that goes on in the next one would be two commands."""
    for path in EVERY:
        for block in blocks(path):
            if block.language in ("sh", "console"):
                assert block.commands, (path.name, block.line)
                assert block.language == "sh" or block.text.startswith("$ "), (path.name, block.line)
                assert not any(command.endswith("\\") for command, _ in block.commands), (path.name, block.line)


def test_every_file_of_a_page_is_used_on_it():
    for path in EVERY:
        used = "\n".join([*examples(path), *(block.text for block in blocks(path) if block.language == "js")])
        for block in blocks(path):
            if block.file:
                is_used = is_survey(block) or re.search(rf"\b{block.file.removesuffix('.py')}\b", used)
                place = USED_BY.get((path.name, block.file))
                assert is_used or path.name in (ROOT / place).read_text(), (path.name, block.file)


def test_the_line_of_administration_has_its_fields():
    line = json.loads(first("collector.md", "json"))
    assert line.keys() == {"time", "level", "event", *(field.name for field in fields(AuditEntry))}


def test_the_header_of_a_batch_and_the_metadata_of_a_lake_have_their_keys(tmp_path):
    survey = asked(["a", "b", "c"])
    batch = fldp.wire.encode(reports(survey), survey.version)
    header = json.loads(re.search(rb'\{"oracle":\{[^}]*\}[^}]*\}', batch)[0])
    shown = json.loads(first("wire.md", "json"))
    assert shown.keys() == header.keys()
    assert shown["oracle"].keys() == header["oracle"].keys()
    with (tmp_path / "reports.parquet").open("wb") as file:
        fldp.parquet.write(file, survey.oracle, [reports(survey)], survey.version)
    stored = json.loads(pq.read_schema(tmp_path / "reports.parquet").metadata[b"fldp"])
    assert json.loads(first("lake.md", "json")).keys() == stored.keys()


def test_the_rules_of_tickets_are_rules():
    rules = tomllib.loads(first("integrity.md", "toml"))["collect"]
    oracle = {"name": "hrr", "epsilon": 1.0}
    survey = fldp.Survey.from_dict({**asked(["a", "b", "c"]).canonical, "oracle": oracle, "collect": rules})
    assert (survey.collect["submit"], survey.collect["derive"]) == ("ticket", True)


def test_the_tags_of_an_embedded_survey_ask_for_what_there_is():
    """The routes, and the attributes that the script reads."""
    html = first("pages.md", "html")
    script = (ROOT / "src/fldp/collector/static/embed.js").read_text()
    (read,) = re.findall(r"const \{ (.*?) \} = script\.dataset", script)
    assert set(re.findall(r"data-(\w+)=", html)) <= set(re.findall(r"\w+", read))
    assert re.findall(r'src="https://collector.example(/\w+/)', html) == ["/static/", "/s/"]
    assert "/s/{name}" in {operation.path for operation in OPERATIONS}


def inline(path):
    """Return what stands in the text of a page as code."""
    return re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", path.read_text(), flags=re.MULTILINE | re.DOTALL))


def mistake_in_command(words):
    """Return the first word that is no command, or option, of the shell; None if all are."""
    command = get_command(app)
    while words and hasattr(command, "list_commands"):
        if words[0] not in command.list_commands(None):
            return words[0]
        command, words = command.get_command(None, words[0]), words[1:]
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    known |= {f"--{name.replace('_', '-')}" for oracle in built_in() for name in oracle.params} | {"--help", "--parts"}
    return next((word for word in words if word.startswith("--") and word not in known), None)


def test_commands_in_sentences_are_commands():
    for module in COMMANDS:
        import_module(f"fldp.cli.{module}")
    commands = [code for path in EVERY for code in inline(path) if re.match(r"fldp [a-z][a-z-]*(?: |$)(?!\w+\|)", code)]
    assert len(commands) > 150
    assert [code for code in commands if mistake_in_command(code.split()[1:])] == []
    assert mistake_in_command(["estimates", "--none"]) == "--none"
    assert mistake_in_command(["token", "none"]) == "none"


def is_name(dotted):
    """Whether the package has a name: an attribute, or a module that nobody has loaded."""
    place = fldp
    for part in dotted.split(".")[1:]:
        try:
            place = getattr(place, part)
        except AttributeError:
            try:
                place = import_module(f"{place.__name__}.{part}")
            except (AttributeError, ImportError):
                return False
    return True


def test_names_in_sentences_are_names():
    dotted = {name for path in EVERY for code in inline(path) for name in re.findall(r"^fldp(?:\.\w+)+", code)}
    assert len(dotted) > 60
    assert [name for name in sorted(dotted) if name.split(".")[1] not in NOT_PYTHON and not is_name(name)] == []
    assert not is_name("fldp.none")
    assert not is_name("fldp.Client.none")
