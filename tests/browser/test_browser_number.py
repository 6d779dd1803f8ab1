"""Numbers in a real browser: the field with its unit, what a number counts as, and the figures on the dashboard."""

import re
from functools import cache

import numpy as np
import pytest

from fldp import Client, Survey, wire
from fldp.estimation.number_planner import best_bins, plan_number
from support.browser import DESK, PHONE, Visitor, accessible, expect, gap, new_survey
from support.collector_server import Server

ASKED = {"question": "How many seconds did the last page take?", "collect": {"minimum": 10}}
MEAN = {
    **ASKED,
    "name": "mean",
    "number": {"low": 0, "high": 30, "unit": "s", "goal": "mean"},
    "oracle": {"epsilon": 1.0},
}
CELLS = {
    **ASKED,
    "name": "cells",
    "number": {"low": 0, "high": 30, "bins": 16, "unit": "s", "apart": [0]},
    "oracle": {"epsilon": 2.0},
}

RING = 5  # pixels, of the focus around a field


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("collector"))
    yield server
    assert server.stop() == 0


@pytest.mark.parametrize(("size", "scheme"), [(DESK, "light"), (PHONE, "dark")], ids=["desk", "phone"])
def test_a_number_is_answered_with_its_unit(browser, server, size, scheme):
    server.publish(Survey.from_dict(CELLS).canonical)
    with Visitor(browser, server.url, viewport=size, color_scheme=scheme) as visitor:
        page = visitor.open(f"{server.url}/s/cells")
        field = page.get_by_label("A number from 0 to 30 s")
        label = page.get_by_text("A number from 0 to 30 s")
        assert gap(label, field) >= RING
        field.fill("3.2")
        page.get_by_text("Counts as 1.875 to 3.75 s.").wait_for()
        field.fill("0")
        page.get_by_text("Counts as 0 s.").wait_for()
        field.fill("99")
        page.get_by_text("Counts as 30 s.").wait_for()
        accessible(page)
        page.get_by_role("button", name="See my report").click()
        page.get_by_text("It rules out no answer: each of the 17 could have led to this report.").wait_for()
        accessible(page)
        page.get_by_role("button", name="Send this report").click()
        page.get_by_role("heading", name="Thank you, this was sent").wait_for()


@pytest.mark.parametrize(("size", "scheme"), [(DESK, "light"), (PHONE, "dark")], ids=["desk", "phone"])
def test_the_dashboard_shows_figures_histogram_and_cdf(browser, server, size, scheme):
    draw = np.random.default_rng(1)
    numbers = np.where(draw.random(4000) < 0.2, 0.0, draw.gamma(3, 3, 4000))
    with Visitor(browser, server.url, viewport=size, color_scheme=scheme) as visitor:
        for fields in (CELLS, MEAN):
            survey = server.publish(Survey.from_dict(fields).canonical)
            assert server.send(survey, wire.encode(survey.privatize(numbers, rng=2), survey.version)).status_code == 200
            page = visitor.open(f"{server.url}/#token={server.make_token('read')['token']}")
            page.get_by_role("button", name="Sign out").wait_for()
            page.goto(f"{server.url}/#/survey/{survey.name}/{survey.version}")
            page.get_by_text("The mean is ", exact=False).first.wait_for()
            rows = page.locator("tr", has=page.get_by_role("rowheader", name="Mean"))
            assert " s" in rows.first.text_content()
            with Client(server.url, token=server.token) as client:
                mean = client.estimate(survey).watched(1000).mean()  # planned with 100 times the minimum
            shown = re.search(r"([\d.]+) to ([\d.]+) s$", rows.first.text_content())
            assert [float(end) for end in shown.groups()] == pytest.approx([mean.low, mean.high], rel=2e-3)
            page.get_by_text("Every interval is for its figure alone, the band for all edges at once").wait_for()
            assert page.get_by_text("for one look").count() == 0
            assert page.get_by_role("heading", name="Histogram").is_visible() == (fields is CELLS)
            if fields is CELLS:
                page.get_by_role("rowheader", name="Median").wait_for()
                expect(page.locator("svg[aria-label^='Histogram of 17 cells'] .bar")).to_have_count(17)
                expect(page.locator("svg .band")).to_have_count(1)
            accessible(page)


def published(server, name):
    with server.client() as client:
        return Survey.from_dict(client.get(f"/v1/surveys/{name}").json()["survey"])


@pytest.mark.parametrize(("size", "scheme"), [(DESK, "dark"), (PHONE, "light")], ids=["desk", "phone"])
def test_a_number_in_three_steps(browser, server, size, scheme):
    """The ± of a level is the dashboard's: half the interval of the mean, and of the CDF, that holds at every look."""
    with Visitor(browser, server.url, viewport=size, color_scheme=scheme) as visitor:
        page = visitor.open(f"{server.url}/#token={server.token}")
        page.get_by_role("link", name="New survey").click()
        page.get_by_label("Question").fill(f"Minutes to work, {scheme}?")
        page.get_by_label("What people answer").select_option("number")
        page.get_by_label("From", exact=True).fill("120")
        page.get_by_label("To", exact=True).fill("0")
        page.get_by_role("button", name="Continue").click()
        page.get_by_text("Write the range, the smaller number first.").wait_for()
        page.get_by_label("From", exact=True).fill("0")
        page.get_by_label("To", exact=True).fill("120")
        page.get_by_label("Unit, if there is one").fill("min")
        accessible(page)
        page.get_by_role("button", name="Continue").click()
        page.get_by_text("rises from 50 % to at most 73.1 %").wait_for()
        accessible(page)
        for epsilon, level in ((0.5, "Strong"), (1.0, "Medium"), (2.0, "Weak")):
            said = page.locator(".level", has_text=level).inner_text()
            assert levels_of(10_000, epsilon) in said
            assert f"epsilon {epsilon:g}, eta 1: a report rules out no number" in said
        page.get_by_label("How many people will answer, about").fill("90000")
        page.get_by_text(levels_of(90_000, 1.0)).wait_for()
        page.get_by_role("button", name="Continue").click()
        page.get_by_text("from 0 to 120 min, in 32 cells of equal width").wait_for()
        accessible(page)
        version = page.get_by_text("Version that would be published").locator("code").inner_text()
        page.get_by_role("button", name="Publish this survey").click()
        page.get_by_role("heading", name="Share").wait_for()
        assert version in page.url
    survey = published(server, f"minutes-to-work-{scheme}")
    assert (survey.version, survey.oracle.epsilon, survey.number.unit) == (version, 1.0, "min")


@cache
def levels_of(users, epsilon):
    plan = plan_number(users, epsilon, bins=best_bins(users, epsilon))
    row = next(row for row in plan.rows if row.bins == plan.bins)
    mean, cdf = (f"{float(f'{amount:.2g}'):g}" for amount in (120 * row.mean_reach, 100 * row.cdf_reach))
    spread = f"the share of people up to any border of a cell to ± {cdf} points"
    return f"With {users:,} answers the mean is known to ± {mean} min, and {spread}, whenever you look."


def test_a_mean_alone_goes_on_to_all_settings(browser, server):
    with Visitor(browser, server.url) as visitor:
        page = visitor.open(f"{server.url}/#token={server.token}")
        page.get_by_role("link", name="New survey").click()
        page.get_by_label("Question").fill("Steps a day?")
        page.get_by_label("What people answer").select_option("number")
        page.get_by_label("From", exact=True).fill("0")
        page.get_by_label("To", exact=True).fill("20000")
        page.get_by_label("What you want to know").select_option("mean")
        page.get_by_role("button", name="Continue").click()
        reach = plan_number(10_000, 1.0, goal="mean").rows[0].mean_reach
        page.get_by_text(f"the mean is known to ± {float(f'{20_000 * reach:.2g}'):g}, whenever you look.").wait_for()
        page.get_by_role("link", name="Advanced: all settings").click()
        page.get_by_role("heading", name="New survey, all settings").wait_for()
        assert page.get_by_label("To", exact=True).input_value() == "20000"
        assert page.get_by_label("What you want to know").input_value() == "mean"


def test_the_form_makes_a_number_that_is_asked_every_month(browser, server):
    with Visitor(browser, server.url) as visitor:
        page = visitor.open(f"{server.url}/#token={server.token}")
        page.get_by_role("button", name="Sign out").wait_for()
        new_survey(page, server.url, "way", What_people_answer="a number", How_often_a_person_reports="every month")
        page.get_by_text("Enter the range, the smaller number first.").wait_for()
        for label, text in (("From", "0"), ("To", "120"), ("Unit, if there is one", "min"), ("Cells", "16")):
            page.get_by_label(label, exact=True).fill(text)
        page.get_by_label("Values that many hold exactly").fill("0, 30")
        page.get_by_label("Epsilon of a report").fill("0.5")
        page.get_by_text("has given away 12 times as much, epsilon 6.").wait_for()
        page.get_by_text("a person answers this survey in 4 months, and then no more.").wait_for()
        page.get_by_role("heading", name="What to expect").wait_for()
        assert page.locator("tr.best th").inner_text() == "16"
        accessible(page)
        shown = page.get_by_text("Version that would be published").locator("code").inner_text()
        page.get_by_role("button", name="Publish this survey").click()
        page.get_by_role("heading", name="Which?").wait_for()
    survey = published(server, "way")
    assert survey.version == shown
    assert (survey.number.described["bins"], survey.number.apart, survey.number.unit) == (16, (0.0, 30.0), "min")
    assert (survey.repeat, survey.oracle.epsilon, survey.keeps) == ("monthly", 0.5, False)


def test_the_form_makes_a_list_of_answers_that_may_change(browser, server):
    """What devices would refuse is said before it is published, and what is suggested they do not refuse."""
    with Visitor(browser, server.url) as visitor:
        page = visitor.open(f"{server.url}/#token={server.token}")
        page.get_by_role("button", name="Sign out").wait_for()
        new_survey(page, server.url, "changing", How_often_a_person_reports="every week")
        page.get_by_label("Answers, one per line").fill("car\nbus\nbike")
        page.get_by_text("in 2 weeks, and then no more.").wait_for()
        page.get_by_label("Devices keep their noise").check()
        assert page.get_by_label("Epsilon of a report").input_value() == "0.5"
        page.get_by_text("that it changed, and when, may show: no epsilon covers that").wait_for()
        page.get_by_text("a person can answer 2 surveys like this one here, ever").wait_for()
        page.get_by_label("Epsilon of all reports").fill("2")
        page.get_by_text("nobody can answer this").wait_for()
        page.get_by_label("Epsilon of all reports").fill("1")
        page.get_by_text("a person can answer 2 surveys like this one here, ever").wait_for()
        page.get_by_role("button", name="Publish this survey").click()
        page.get_by_role("heading", name="Which?").wait_for()
    survey = published(server, "changing")
    assert (survey.oracle.name, survey.oracle.epsilon_permanent, survey.repeat) == ("lwr", 1.0, "weekly")
    assert survey.keeps
