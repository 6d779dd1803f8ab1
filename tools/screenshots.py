"""The pictures of the pages in the documents: python tools/screenshots.py, or make screenshots."""

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from browser import Visitor, chromium  # noqa: E402
from collector_server import Server  # noqa: E402

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
    "oracle": {"name": "fhr", "epsilon": 1.0},
}
WINDOW = {"width": 760, "height": 900}


def answer_page(server, browser, folder):
    """Answer the survey, and look at it before and after."""
    with Visitor(browser, server.url, viewport=WINDOW, device_scale_factor=1) as visitor:
        page = visitor.open(f"{server.url}/s/commute")
        page.get_by_label("bicycle", exact=True).check()
        page.screenshot(path=folder / "answer-question.png", full_page=True)
        page.get_by_role("button", name="See my report").click()
        page.get_by_role("button", name="Send this report").wait_for()
        page.screenshot(path=folder / "answer-report.png", full_page=True)


def main():
    """Make all of them."""
    with tempfile.TemporaryDirectory() as data, chromium() as browser:
        server = Server(data)
        server.publish(SURVEY)
        answer_page(server, browser, ROOT / "docs" / "images")
        server.stop()


if __name__ == "__main__":
    main()
