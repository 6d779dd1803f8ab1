"""A real browser for tests: Chromium without a screen. A console error or a request to elsewhere fails the test."""

import json
import os
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import expect, sync_playwright

from support.programs import program

AXE = Path(__file__).parents[2] / "js" / "node_modules" / "axe-core" / "axe.min.js"
FLAGS = [
    "--disable-background-networking",
    "--disable-component-update",
    # Playwright's own list denies storage to frames. A spare renderer is started for each page, and seldom used; the
    # popups of the address bar, which nobody sees here, are pages too, and cost ten times what a page of ours does.
    "--disable-features=HttpsUpgrades,OptimizationHints,SpareRendererForSitePerProcess,Translate"
    ",WebUIOmniboxAimPopup,WebUIOmniboxPopup",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
    "--no-sandbox",  # a test may run as root
]
PHONE = {"width": 360, "height": 740}
DESK = {"width": 1100, "height": 900}
MAX_WAIT = 180_000  # milliseconds: a busy machine must not fail a test, and who waits for a condition waits no longer
MAX_TOLD = 10_000  # milliseconds for what a page says when its test has failed
expect.set_options(
    timeout=MAX_WAIT
)  # counts what a page will show, where locator.count() counts what it shows just now

SLOW_PAGES = float(os.environ.get("FLDP_SLOW_PAGES", "0"))  # seconds, see CONTRIBUTING.md
HOLD = """(() => {
  const [send, wait] = [fetch, setTimeout];
  const hold = () => new Promise((go) => wait(go, Math.random() * MILLISECONDS / 2));
  window.fetch = (...request) => hold().then(() => send(...request)).finally(hold);
})()""".replace("MILLISECONDS", str(1000 * SLOW_PAGES))


@contextmanager
def chromium():
    """A running browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program("chromium"), args=FLAGS)
        yield browser
        browser.close()


class Visitor:
    """One person with one browser profile, and everything that went wrong in it."""

    def __init__(self, browser, *origins, **options):
        self.context = browser.new_context(**{"viewport": DESK, **options})
        self.context.set_default_timeout(MAX_WAIT)
        if SLOW_PAGES:
            self.context.add_init_script(HOLD)
        self.origins, self.wrong, self.forgiven = origins, [], []
        self.waiting, self.failures = {}, []  # requests without an answer, and those that ended without one
        self.context.on("request", self._requested)
        self.context.on("requestfinished", lambda request: self.waiting.pop(request, None))
        self.context.on("requestfailed", self._unanswered)
        self.context.on("weberror", lambda error: self.wrong.append(f"uncaught: {error.error}"))
        self.context.on("console", self._said)

    def _requested(self, request):
        self.waiting[request] = True
        parts = urlsplit(request.url)
        if parts.scheme in ("http", "https") and f"{parts.scheme}://{parts.netloc}" not in self.origins:
            self.wrong.append(f"a request to {request.url}")

    def _unanswered(self, request):
        self.waiting.pop(request, None)
        self.failures.append(f"{request.url}: {request.failure}")

    def _said(self, message):
        if message.type in ("error", "warning"):
            self.wrong.append(f"{message.type}: {message.text}")

    def open(self, url):
        page = self.context.new_page()
        page.goto(url)
        return page

    def forgive(self, text):
        """Leave out what is expected, from now on as well: pages ask again. It must come."""
        if not any(text in line for line in self.wrong):
            self.context.wait_for_event("console", lambda message: text in message.text)
        self.forgiven.append(text)

    def _tell(self):
        """Print what there was to see when a test failed: what went wrong, what has no answer, what each page says."""
        print("went wrong:", *self.wrong, sep="\n  ")
        print("without an answer:", *self.failures, *(request.url for request in self.waiting), sep="\n  ")
        for page in self.context.pages:
            with suppress(PlaywrightError):  # a page that hangs
                page.set_default_timeout(MAX_TOLD)
                print(f"{page.url} says:\n{page.locator('body').inner_text()[:2000]}")

    def __enter__(self):
        return self

    def __exit__(self, kind, *rest):
        if kind is not None:
            self._tell()
        self.context.close()
        if kind is None:
            wrong = [line for line in self.wrong if not any(text in line for text in self.forgiven)]
            assert not wrong, wrong


def new_survey(page, url, name, **choices):
    """Begin a new survey on the dashboard, and make some choices in its form, by the words of their fields."""
    page.goto(f"{url}/#/new")
    page.goto(f"{url}/#/new/advanced")
    page.get_by_role("heading", name="New survey, all settings").wait_for()
    page.get_by_label("Name, in the address").fill(name)
    page.get_by_label("Question").fill("Which?")
    for words, choice in choices.items():
        page.get_by_label(words.replace("_", " ")).select_option(choice)


def gap(above, below):
    """The pixels between two parts of a page, one above the other."""
    upper, lower = above.bounding_box(), below.bounding_box()
    return lower["y"] - upper["y"] - upper["height"]


def accessible(page):
    """Fail on whatever axe-core finds on a page, and on a page that is wider than its window."""
    page.evaluate(AXE.read_text())
    violations = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    assert not violations, json.dumps(
        [[one["id"], [node["html"] for node in one["nodes"]]] for one in violations], indent=1
    )
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
