"""Hooks of the documentation site: pages that are generated when it is built, and links out of docs/.

Documents link to files of the repository, so that they can be read there. On the site such a link leads to the page of
that file, where there is one, and is plain text otherwise.
"""

import json
import posixpath
import re
from base64 import b64decode
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import click
from docs_sessions import linked
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from typer.main import get_command

import fldp
from fldp import cli
from fldp.cli.catalogue import ENTRIES, EXAMPLES
from fldp.collector.config.settings import PREFIX, Settings, described
from fldp.interface.openapi import document

ROOT = Path(__file__).parents[1]
REPOSITORY = {  # documents and folders that are not in docs/, and their pages
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "js/README.md": "javascript_package.md",
    "deploy": "samples.md",
    "examples/wordy": "wordy.md",
    "examples/lake.ipynb": "notebooks/lake.md",
    "examples/survey.ipynb": "notebooks/survey.md",
    "examples/telemetry.ipynb": "notebooks/telemetry.md",
}
_SOURCES = {page: source for source, page in REPOSITORY.items() if page != "index.md"}
_FENCE = re.compile(r"^(```.*?^```\n?)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
_LANGUAGES = {".py": "python", ".toml": "toml", ".yaml": "yaml", ".yml": "yaml", ".json": "json", ".conf": "nginx"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are generated."""
    for name, content in generated():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Turn links to files of the repository into links of the site."""
    source = _SOURCES.get(page.file.src_uri, f"docs/{page.file.src_uri}")
    parts = _FENCE.split(markdown)
    parts[::2] = [_LINK.sub(lambda match: _relinked(match, source, page.file.src_uri), part) for part in parts[::2]]
    return "".join(parts)


def on_page_content(html: str, **_: Any) -> str:
    """Let the empty corner of a table be a cell: a heading without words puzzles those who hear the page."""
    return html.replace("<th></th>", "<td></td>")


def on_post_page(output: str, **_: Any) -> str:
    """Name the dialog of the search and what is in it, each by a name of its own, for those who hear the page."""
    output = output.replace('role="dialog">', 'role="dialog" aria-label="Search">', 1)
    return output.replace(
        'md-search__options" aria-label="Search"', 'md-search__options" aria-label="Search options"', 1
    )


def on_post_template(output_content: str, template_name: str, **_: Any) -> str:
    """Do the same on the page for addresses that do not exist, which is no document."""
    return on_post_page(output_content) if template_name.endswith(".html") else output_content


def _relinked(match: re.Match[str], source: str, page: str) -> str:
    mark, text, target = match.groups()
    path, _, anchor = target.partition("#")
    if not path or ":" in path:
        return match[0]
    place = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
    if (place := _page_of(place)) is None:
        return str(text)
    address = posixpath.relpath(place, posixpath.dirname(page) or ".")
    return f"{mark}[{text}]({address}{f'#{anchor}' if anchor else ''})"


def _page_of(place: str) -> str | None:
    """Return the page of a file of the repository, or of the folder that it is in; None if there is none."""
    if place.startswith("docs/"):
        return place.removeprefix("docs/")
    return REPOSITORY.get(place) or REPOSITORY.get(posixpath.dirname(place))


def generated() -> Iterator[tuple[str, str | bytes]]:
    """Yield the generated pages, by name."""
    for page, source in _SOURCES.items():
        if source.endswith(".ipynb"):
            yield from notebook(page, json.loads((ROOT / source).read_text()))
        else:
            yield page, (ROOT / source).read_text() if source.endswith(".md") else folder(source)
    yield "reference/shell.md", shell()
    yield "reference/settings.md", settings()
    yield "reference/http.md", interface(document())
    yield from api()


def folder(source: str) -> str:
    """Show the files of a folder."""
    parts = [f"# Files of `{source}`\n"]
    for path in sorted(path for path in (ROOT / source).rglob("*") if path.is_file()):
        if path.suffix in (".pyc", ".lock"):
            continue
        shown = path.relative_to(ROOT / source).as_posix()
        language = _LANGUAGES.get(path.suffix, "text")
        parts.append(f"## {shown}\n\n````{language}\n{path.read_text().rstrip()}\n````\n")
    return "\n".join(parts)


def notebook(page: str, cells: dict[str, Any]) -> Iterator[tuple[str, str | bytes]]:
    """Show a notebook with the results that it holds; its pictures are files."""
    parts, pictures = [], 0
    for cell in cells["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(text)
            continue
        parts.append(f"```python\n{text}\n```")
        for output in cell["outputs"]:
            data = output.get("data", {"text/plain": output.get("text", "")})
            if "image/png" in data:
                pictures += 1
                name = f"{page.removesuffix('.md')}-{pictures}.png"
                yield name, b64decode(data["image/png"])
                parts.append(f"![The picture that this cell draws]({posixpath.basename(name)})")
            else:
                parts.append(f"```text\n{''.join(data['text/plain']).rstrip()}\n```")
    yield page, "\n\n".join(parts) + "\n"


def shell() -> str:
    """Describe every command from its help."""
    for module in cli.COMMANDS:
        import_module(f"fldp.cli.{module}")
    group = get_command(cli.app)
    parts = [
        "# Commands\n\nThis page is generated from the help of the commands. In the shell, `fldp COMMAND --help` shows "
        "the same; with `--oracle NAME`, also the options of that oracle.\n"
    ]
    for name, entry in ENTRIES.items():
        context = click.Context(group, info_name="fldp")
        context.command.resolve_command(context, [name])  # type: ignore[attr-defined]
        parts.append(f"## {name}\n\n{entry.summary}\n")
        parts += _commands(name, group.commands[name])  # type: ignore[attr-defined]
    return "\n".join(parts)


def _commands(words: str, command: Any) -> Iterator[str]:
    for name, inner in getattr(command, "commands", {}).items():
        yield f"### {words} {name}\n"
        yield from _commands(f"{words} {name}", inner)
    if not hasattr(command, "commands"):
        yield _command(words, command)


def _command(words: str, command: Any) -> str:
    context = click.Context(command, info_name=f"fldp {words}")
    usage = " ".join(command.collect_usage_pieces(context))
    example = f"\n```text\n{EXAMPLES[words]}\n```\n" if words in EXAMPLES else ""
    rows = [_parameter(parameter) for parameter in command.params if not getattr(parameter, "hidden", False)]
    table = "\n| option | what |\n|---|---|\n" + "\n".join(rows) + "\n" if rows else ""
    return f"{command.help or ''}\n\n`fldp {words} {usage}`\n{example}{table}"


def _parameter(parameter: Any) -> str:
    named = parameter.param_type_name == "option"
    names = ", ".join(parameter.opts) if named else parameter.metavar or parameter.name.upper()
    default = parameter.default if isinstance(parameter.default, str | int | float) else None
    told = "" if default is None or isinstance(default, bool) else f" Default: `{default}`."
    text = (getattr(parameter, "help", None) or "").replace("|", "\\|").replace("\n", " ")
    return f"| `{names}` | {text}{told} |"


def settings() -> str:
    """Describe the settings of a collector, with their variables."""
    variables = {name: field.metadata["variable"] for name, field in Settings.__dataclass_fields__.items()}
    rows = [
        f"| `--{name.replace('_', '-')}` | `{variables[name] or PREFIX + name.upper()}` | `{default}` | {about} |"
        for name, default, about in described()
    ]
    return (
        "# Settings of a collector\n\nA flag overrides an environment variable, a variable overrides the file "
        "(`--config FILE` or `FLDP_CONFIG`, TOML, with the names of the flags and `_` for `-`), and the file overrides "
        "the default. `fldp serve --check` shows the settings, or everything that is wrong with them.\n\n"
        "| flag | variable | default | what |\n|---|---|---|---|\n" + "\n".join(rows) + "\n"
    )


def interface(description: dict[str, Any]) -> str:
    """Describe the HTTP interface from its OpenAPI document."""
    parts = [
        "# The HTTP interface\n\nThis page is generated from the description that every collector serves at "
        "`/openapi.json`. [The collector](../collector.md#routes) explains it.\n"
    ]
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            parts.append(f"## {method.upper()} {path}\n\n{_sentence(operation['summary'])}\n\n{_details(operation)}")
    parts.append("## Models\n")
    for name, schema in sorted(description["components"]["schemas"].items()):
        parts.append(f"### {name}\n\n{schema.get('description', '')}\n\n{_fields(schema)}")
    return "\n".join(parts)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def _details(operation: dict[str, Any]) -> str:
    access = operation["x-scope"]
    rows = [f"| access | {'anybody' if access == 'public' else f'a token of scope `{access}`'} |"]
    for part in operation.get("parameters", ()):
        need = "" if part["required"] else ", optional"
        about = f": {part['description']}" if "description" in part else ""
        rows.append(f"| {part['in']} `{part['name']}` | {_type(part['schema'])}{need}{about} |")
    rows += [f"| body | {_content(operation['requestBody']['content'])} |"] if "requestBody" in operation else []
    rows += [
        f"| {status} {reply['description']} | {_content(reply.get('content', {})) or 'no body'} |"
        for status, reply in operation["responses"].items()
    ]
    return "| part | what |\n|---|---|\n" + "\n".join(rows) + "\n"


def _content(content: dict[str, Any]) -> str:
    return "; ".join(f"`{kind}`{_of(part['schema'])}" for kind, part in content.items())


def _of(schema: dict[str, Any]) -> str:
    return f" {_type(schema)}" if schema and schema != {"type": "string"} else ""


def _fields(schema: dict[str, Any]) -> str:
    required = schema.get("required", ())
    rows = [
        f"| `{name}` | {_type(part)}{'' if name in required else ', optional'} |"
        for name, part in schema.get("properties", {}).items()
    ]
    return "| field | type |\n|---|---|\n" + "\n".join(rows) + "\n" if rows else f"{_type(schema)}\n"


def _type(schema: dict[str, Any]) -> str:
    """Say in a few words what JSON a schema takes."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(_type(each) for each in schema["anyOf"])
    if "enum" in schema:
        return "one of " + ", ".join(f"`{json.dumps(each)}`" for each in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items') or {})}"
    return str(schema.get("type", "anything"))


def api() -> Iterator[tuple[str, str]]:
    """Yield a page for each room of the package: its public names, whose docstrings are filled in."""
    rooms: dict[str, list[str]] = {}
    for name in fldp.__all__:
        rooms.setdefault(fldp._HOME_OF[name].split(".")[1], []).append(f"fldp.{name}")
    for room in ("client", "distributed", "telemetry", "wire"):
        own = [name for name in import_module(f"fldp.{room}").__all__ if not name.isupper()]
        rooms.setdefault(room, []).extend(f"fldp.{room}.{name}" for name in own if name not in fldp.__all__)
    index = ["# Python\n\nThis part is generated from the docstrings.\n", "| page | names |\n|---|---|"]
    for room, names in sorted(rooms.items()):
        about = linked((import_module(f"fldp.{room}").__doc__ or "").partition("\n\n")[0])
        shown = ", ".join(f"[`{name.removeprefix('fldp.')}`]({room}.md#{name})" for name in names)
        index.append(f"| [{room}]({room}.md) | {shown} |")
        yield f"reference/{room}.md", f"# {room}\n\n{about}\n\n" + "".join(_shown(name) for name in names)
    yield "reference/python.md", "\n".join(index) + "\n"


def _shown(name: str) -> str:
    """Ask for the docstring of a public name; of a class but an oracle or an error with what it inherits."""
    kind = getattr(import_module(name.rpartition(".")[0]), name.rpartition(".")[2])
    alone = isinstance(kind, type) and issubclass(kind, fldp.Oracle | Exception)
    return f"::: {name}\n    options:\n      inherited_members: {str(not alone).lower()}\n\n"
