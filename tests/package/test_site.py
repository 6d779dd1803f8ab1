"""The documentation site: it builds without a complaint, has everything, and loads nothing from elsewhere."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from inspect import getmembers, isfunction
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import TimeoutError as NotSeen

import fldp
from fldp.cli.catalogue import EXAMPLES
from fldp.collector.config.settings import described
from fldp.interface.operations import OPERATIONS
from support import website
from support.browser import Visitor, accessible, chromium
from support.waiting import until

ROOT = Path(__file__).parents[2]
LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "object": "data"}
LOOKED_AT = [  # page, width, scheme
    ("index", 390, "dark"),
    ("first_survey", 1280, "dark"),
    ("privacy", 390, "light"),
    ("reference/survey", 1280, "light"),
]
KINDS = ["Start", "Tutorials", "How to", "Reference", "Explanations"]


def built(folder):
    """Build the site as ``make docs`` does: a dead link or anchor is an error, unless --quiet hides it."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    variables = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]


class Loaded(HTMLParser):
    """What a page loads: scripts, pictures, style sheets and what they are linked by."""

    def __init__(self, text):
        super().__init__()
        self.addresses = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag == "link" and attributes.get("rel") not in ("canonical", "next", "prev"):
            self.addresses.append(attributes.get("href", ""))
        elif tag in LOADS and LOADS[tag] in attributes:
            self.addresses.append(attributes[LOADS[tag]])


@pytest.mark.long
def test_the_site_is_whole(tmp_path):
    """One test, since building takes seconds and every worker would do it."""
    built(tmp_path)
    loads_nothing_from_elsewhere(tmp_path)
    names_what_is_heard(tmp_path)
    has_every_name_command_setting_and_route(tmp_path)
    search_knows_every_page(tmp_path)
    is_accessible_and_finds(tmp_path)


def loads_nothing_from_elsewhere(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 60
    for page in pages:
        addresses = Loaded(page.read_text()).addresses
        assert len(addresses) > 2
        assert [each for each in addresses if re.match(r"(\w+:)?//", each)] == [], page.name
    for sheet in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(\w+:)?//|@import", sheet.read_text()), sheet.name


def names_what_is_heard(site):
    """What axe found on pages that are not looked at below: unnamed heads of tables, dialogs, two landmarks alike."""
    for page in site.rglob("*.html"):
        text = page.read_text()
        assert "<th></th>" not in text, page.name
        assert 'role="dialog">' not in text, page.name
        assert text.count('aria-label="Search options"') == 1, page.name


def has_every_name_command_setting_and_route(site):
    reference = {page.stem: page.read_text() for page in (site / "reference").glob("*.html")}
    everything = "".join(reference.values())
    assert [name for name in fldp.__all__ if f'id="fldp.{name}"' not in everything] == []
    assert [name for name in members() if f'id="{name}"' not in everything] == []
    assert "patience: float = 60.0" in re.sub(r"<[^>]+>", "", reference["client"])
    assert [words for words in EXAMPLES if f'id="{words.replace(" ", "-")}"' not in reference["shell"]] == []
    assert [name for name, _, _ in described() if f"<code>--{name.replace('_', '-')}</code>" not in everything] == []
    shown = re.sub(r"<[^>]+>", "", reference["http"])
    assert [each.path for each in OPERATIONS if f"{each.method} {each.path}" not in shown] == []


def members():
    """What can be called of a class, whether it is its own or inherited; oracles and errors inherit alike."""
    for name in fldp.__all__:
        thing = getattr(fldp, name)
        if isinstance(thing, type) and not issubclass(thing, fldp.Oracle | Exception):
            yield from (f"fldp.{name}.{own}" for own, value in getmembers(thing, isfunction) if is_shown(own, value))


def is_shown(name, function):
    return not name.startswith("_") and function.__module__.startswith("fldp.") and bool(function.__doc__)


def search_knows_every_page(site):
    index = (site / "search" / "search_index.json").read_text()
    for page in site.rglob("*.html"):
        name = page.relative_to(site).as_posix()
        assert name == "404.html" or f'"location":"{name}"' in index, name


def is_accessible_and_finds(site):
    with website.site(site) as url, chromium() as browser:
        for name, width, scheme in LOOKED_AT:
            size = {"width": width, "height": 900}
            with Visitor(browser, url, viewport=size, color_scheme=scheme) as visitor:
                page = visitor.open(f"{url}/{name}.html")
                page.wait_for_function(
                    "[...document.querySelectorAll('article table')].every(each => each.closest('[tabindex]'))"
                )
                accessible(page)
        with Visitor(browser, url) as visitor:
            page = visitor.open(f"{url}/index.html")
            until(lambda: finds(page, "withdrawal"))


def finds(page, word):
    """Go to the field and type anew, key by key: the script listens to keys, and has lost those before it listened."""
    field, first = page.get_by_role("textbox", name="Search"), page.locator(".md-search-result__link").first
    field.blur()
    field.fill("")
    field.press_sequentially(word)
    try:
        first.wait_for(timeout=20_000)
    except NotSeen:
        return False
    return True


def test_there_are_four_kinds_of_pages_and_a_beginning():
    text = (ROOT / "mkdocs.yml").read_text()
    assert [next(iter(part)) for part in yaml.safe_load(text)["nav"]] == KINDS


def test_the_beginning_is_short_and_names_five_kinds_of_people():
    """At 240 words a minute, what stands above the table takes at most half a minute and a bit."""
    above, _, below = (ROOT / "docs" / "index.md").read_text().partition("## Where to begin")
    assert len(above.split()) <= 150
    assert len(re.findall(r"^\| [^|]*\*\*", below, re.M)) == 5
