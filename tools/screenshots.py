"""The pictures of the pages in the documents: python tools/screenshots.py, or make screenshots."""

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import numpy as np  # noqa: E402

from fldp import wire  # noqa: E402
from support.browser import Visitor, chromium  # noqa: E402
from support.collector_server import Server  # noqa: E402

SURVEY = {
    "name": "commute",
    "question": "How do you get to work on most days?",
    "description": "The city council uses the totals to plan where bicycle lanes and bus stops are needed.",
    "labels": [
        "on foot",
        "bicycle",
        "bus",
        "tram",
        "train",
        "car, alone",
        "car, with others",
        "motorcycle",
        "I work at home",
    ],
    "oracle": {"name": "grr", "epsilon": 1.0},
}
WINDOW = {"width": 760, "height": 900}
WIDE = {"width": 1000, "height": 1000}


def answer_page(server, browser, folder):
    """Answer the survey, and look at it before and after."""
    with Visitor(browser, server.url, viewport=WINDOW, device_scale_factor=1) as visitor:
        page = visitor.open(f"{server.url}/s/commute")
        page.get_by_label("bicycle", exact=True).check()
        page.screenshot(path=folder / "answer-question.png", full_page=True)
        page.get_by_role("button", name="See my report").click()
        page.get_by_role("button", name="Send this report").wait_for()
        page.screenshot(path=folder / "answer-report.png", full_page=True)


def dashboard(server, survey, browser, folder):
    """Look at a survey that many have answered."""
    values = np.random.default_rng(7).choice(9, 20_000, p=[0.1, 0.23, 0.15, 0.12, 0.07, 0.2, 0.06, 0.003, 0.067])
    server.send(survey, wire.encode(survey.oracle.privatize(values), survey.version))
    token = server.make_token("read")["token"]
    with Visitor(browser, server.url, viewport=WIDE, device_scale_factor=1) as visitor:
        page = visitor.open(f"{server.url}/#token={token}")
        page.get_by_role("link", name=SURVEY["question"]).click()
        page.locator("svg.chart .whisker").first.wait_for()
        page.screenshot(path=folder / "dashboard.png")


def main():
    """Make all of them."""
    with tempfile.TemporaryDirectory() as data, chromium() as browser:
        server = Server(data)
        survey = server.publish(SURVEY)
        answer_page(server, browser, ROOT / "docs" / "images")
        dashboard(server, survey, browser, ROOT / "docs" / "images")
        server.stop()


if __name__ == "__main__":
    main()
