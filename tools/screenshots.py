"""The pictures of the pages in the documents: python tools/screenshots.py, or make screenshots."""

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import numpy as np  # noqa: E402

from fldp import Survey, wire  # noqa: E402
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
SEVERAL = {
    "name": "travel",
    "title": "Getting around",
    "questions": [
        {"name": "way", "question": SURVEY["question"], "labels": ["on foot", "bicycle", "bus or train", "car"]},
        {"name": "home", "question": "Where do you live?", "labels": ["in the city", "outside"]},
        {
            "name": "minutes",
            "question": "How long does it take?",
            "number": {"low": 0, "high": 90, "bins": 9, "unit": "min"},
        },
    ],
    "tables": {"cross": [["way", "home"]]},
    "oracle": {"epsilon": 2.0},
}
WINDOW = {"width": 820, "height": 900}
WIDE = {"width": 1280, "height": 1000}


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
    server.send(survey, wire.encode(survey.oracle.privatize(values, rng=7), survey.version))
    token = server.make_token("read")["token"]
    with Visitor(browser, server.url, viewport=WIDE, device_scale_factor=1) as visitor:
        page = visitor.open(f"{server.url}/#token={token}")
        page.get_by_role("link", name=SURVEY["question"]).click()
        page.locator("svg.chart .whisker").first.wait_for()
        page.screenshot(path=folder / "dashboard.png")


def travellers(count):
    """Draw people: who lives outside goes by car more often, and longer."""
    draw = np.random.default_rng(8)
    home = (draw.random(count) < 0.4).astype(int)
    ways = np.array([[0.15, 0.4, 0.3, 0.15], [0.03, 0.12, 0.3, 0.55]])
    way = (draw.random((count, 1)) > ways[home].cumsum(axis=1)).sum(axis=1).clip(0, 3)
    minutes = np.clip(draw.gamma(3.0, 6.0 + 5.0 * home) // 10, 0, 8).astype(int)
    return np.stack([way, home, minutes], axis=1)


def questions(server, browser, folder):
    """Answer several questions, and look at what many have answered."""
    survey = server.publish(Survey.from_dict(SEVERAL).canonical)
    with Visitor(browser, server.url, viewport=WINDOW, device_scale_factor=1) as visitor:
        page = visitor.open(f"{server.url}/s/travel")
        page.get_by_label("bicycle", exact=True).check()
        page.get_by_label("in the city", exact=True).check()
        page.get_by_label("A number from 0 to 90 min").fill("25")
        page.screenshot(path=folder / "answer-questions.png", full_page=True)
    server.send(survey, wire.encode(survey.oracle.privatize(travellers(40_000), rng=9), survey.version))
    token = server.make_token("read")["token"]
    with Visitor(browser, server.url, viewport=WIDE, device_scale_factor=1) as visitor:
        page = visitor.open(f"{server.url}/#token={token}")
        page.goto(f"{server.url}/#/survey/travel/{survey.version}")
        page.locator("table.matrix").wait_for()
        page.screenshot(path=folder / "dashboard-questions.png")
        cross = page.locator("section", has=page.locator("table.cross"))
        cross.screenshot(path=folder / "dashboard-cross.png")


def main():
    """Make all of them."""
    with tempfile.TemporaryDirectory() as data, chromium() as browser:
        server = Server(data)
        survey = server.publish(SURVEY)
        answer_page(server, browser, ROOT / "docs" / "images")
        dashboard(server, survey, browser, ROOT / "docs" / "images")
        questions(server, browser, ROOT / "docs" / "images")
        server.stop()


if __name__ == "__main__":
    main()
