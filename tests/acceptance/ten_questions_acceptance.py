"""Ten questions at full size: 2,000 people, 20 of them through Chromium, the others by the JavaScript client.

``tests/browser/test_browser_questions.py`` has the same, reduced.
"""

import json
import subprocess

from fldp import wire
from support import ten_questions
from support.browser import Visitor, chromium
from support.collector_server import Server
from support.javascript import HERE, node

PEOPLE, IN_CHROMIUM = 2000, 20


def answer(page, survey, answers):
    """Answer every question on the page, and send the report."""
    for asked in survey.questions:
        own, chosen = page.locator("fieldset", has=page.locator("legend", has_text=asked.text)), answers[asked.name]
        if asked.number is not None:
            own.get_by_role("spinbutton").fill(str(chosen))
        elif chosen is not None:
            own.get_by_label(chosen, exact=True).check()
    page.get_by_role("button", name="See my report").click()
    page.get_by_role("button", name="Send this report").click()
    page.get_by_role("heading", name="Thank you, this was sent").wait_for()


def test_all_tables_of_ten_questions_are_within_simultaneous_intervals_of_the_truth(tmp_path):
    """An honest run fails with a probability of 1e-6; people who answer the reverse of the first question are seen."""
    survey, server = ten_questions.asked(), Server(tmp_path)
    people = ten_questions.people(survey, PEOPLE, seed=7)
    try:
        server.publish(ten_questions.specification())
        with chromium() as browser:
            for answers in people[:IN_CHROMIUM]:
                with Visitor(browser, server.url) as visitor:
                    page = visitor.open(f"{server.url}/s/ten")
                    page.get_by_role("button", name="See my report").wait_for()
                    answer(page, survey, answers)
        others = {"url": server.url, "name": "ten", "people": [{"label": each} for each in people[IN_CHROMIUM:]]}
        command = [node(), str(HERE / "javascript_people.mjs")]
        subprocess.run(command, input=json.dumps(others), capture_output=True, text=True, check=True)
        with server.admin as client:
            tally = wire.decode_tally(client.get(f"/v1/versions/{survey.version}/tally").content)
    finally:
        assert server.stop() == 0
    assert tally.n == PEOPLE
    assert not ten_questions.misses(survey, tally, people)
    reverse = {"never": "seldom", "seldom": "never"}
    turned = [{**each, "q0": reverse[each["q0"]]} for each in people]
    assert ten_questions.misses(survey, tally, turned)
