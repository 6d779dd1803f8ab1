"""Surveys whose answers are texts, in a real browser: answered, made, and looked at by naming candidates."""

import re

import numpy as np
import pytest

import fldp
from fldp import wire
from fldp.data.reports import Reports
from fldp.oracles.kit import analysis
from fldp.search import Search
from fldp.survey import Survey
from support.browser import PHONE, Visitor, accessible, expect, new_survey
from support.collector_server import flawless, key, specification

WORDS = ["crème brûlée", "<b>pie</b>", "apple pie"]
FIELDS = {
    "name": "dessert",
    "question": "What is your favourite dessert?",
    "domain": "strings",
    "oracle": {"name": "cms", "epsilon": 2.0, "hashes": 64, "width": 64},
    "collect": {"minimum": 50},
}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with flawless(tmp_path_factory.mktemp("collector")) as server:
        yield server


@pytest.mark.parametrize("look", [{}, {"viewport": PHONE, "color_scheme": "dark"}], ids=["desk", "phone, dark"])
def test_a_text_is_answered(browser, server, look):
    name = "dessert" if look else "dessert-2"
    survey = server.publish({**FIELDS, "name": name})
    with Visitor(browser, server.url, **look) as visitor:
        page = visitor.open(f"{server.url}/s/{name}")
        field = page.get_by_label("Your answer")
        field.wait_for()
        assert "Nothing. Every text could have given your report." in page.locator("main").text_content()
        for wrong in ("", "   ", "x" * 1025):
            field.fill(wrong)
            page.get_by_role("button", name="See my report").click()
            expect(page.locator("input:invalid")).to_have_count(1)
        field.fill("  crème brûlée ")
        accessible(page)
        page.get_by_role("button", name="See my report").click()
        page.get_by_role("button", name="Send this report").wait_for()
        panel = page.locator(".panel", has=page.get_by_role("heading", name="Your answer"))
        assert panel.locator("p").first.inner_text() == "crème brûlée"
        assert "every text could have led to this report" in page.locator("main").inner_text()
        accessible(page)
        seen = wire.decode(bytes.fromhex(page.locator(".bytes").text_content()), survey.oracle, survey.version)
        likely = analysis(survey.oracle).likelihoods_among(np.arange(1000), seen.data)[0]
        text = f"With it, in at most {100 * likely.max() / likely.sum():.3g} %."
        assert text in page.locator("main").inner_text()
        page.get_by_role("button", name="Send this report").click()
        page.get_by_text("You have answered this survey").wait_for()
        page.reload()
        page.get_by_text("You have answered this survey").wait_for()
    assert server.counts()[survey.version] == 1


def test_who_was_asked_for_one_of_a_list_is_told_of_any_text(browser, server):
    oracle = {"name": "hcms", "epsilon": 0.5}
    server.publish({**specification("list", {"name": "grr", "epsilon": 0.5}), "topic": "food"})
    server.publish({**FIELDS, "name": "text", "topic": "food", "oracle": oracle})
    with Visitor(browser, server.url) as visitor:
        page = visitor.open(f"{server.url}/s/list")
        page.get_by_label("firefox").check()
        page.get_by_role("button", name="See my report").click()
        page.get_by_role("button", name="Send this report").wait_for()
        page.goto(f"{server.url}/s/text")
        page.get_by_label("Your answer").fill("pie")
        page.get_by_role("button", name="See my report").click()
        said = page.get_by_role("dialog", name="Before you answer").inner_text()
        assert re.search(r"its labels have changed since [\d-]{10}: 5 then, any text now", said)
        page.get_by_role("button", name="Do not answer").click()
        page.get_by_role("heading", name="Not answered").wait_for()


def test_a_survey_that_is_answered_daily_asks_once(browser, server):
    oracle = {"name": "rappor", "epsilon": 1.0, "epsilon_permanent": 2.0}
    survey = server.publish({**FIELDS, "name": "daily", "oracle": oracle, "collect": {"repeat": "daily"}})
    with Visitor(browser, server.url) as visitor:
        page = visitor.open("about:blank")
        page.clock.set_fixed_time("2030-01-01T10:00:00Z")
        page.goto(f"{server.url}/s/daily")
        page.get_by_label("Your answer").fill("apple pie")
        assert "1-LDP for one report, 2-LDP for all that are made of one answer" in page.locator("main").text_content()
        page.get_by_role("button", name="See my report").click()
        page.get_by_role("button", name="Send this report").click()
        page.get_by_text("You have answered this survey today").wait_for()
        first = page.locator(".bytes").text_content()
        page.clock.set_fixed_time("2030-01-02T10:00:00Z")
        page.reload()
        page.get_by_text("This is today's report").wait_for()
        second = page.locator(".bytes").text_content()
        page.get_by_role("button", name="Send this report").click()
        page.get_by_text("You have answered this survey today").wait_for()
    assert server.counts()[survey.version] == 2
    one, two = (wire.decode(bytes.fromhex(text), survey.oracle, survey.version).data[0] for text in (first, second))
    assert (one[0], one.tolist() == two.tolist()) == (two[0], False)  # the same cohort, other bits


def test_a_survey_that_is_answered_monthly_asks_again_and_says_what_that_costs(browser, server):
    labels = {"name": "monthly", "question": "Tea?", "labels": ["no", "yes", "often"]}
    collect = {"repeat": "monthly"}
    survey = server.publish({**labels, "oracle": {"name": "grr", "epsilon": 1.0}, "collect": collect})
    with Visitor(browser, server.url, viewport=PHONE, color_scheme="dark") as visitor:
        page = visitor.open("about:blank")
        for day in ("2030-01-31", "2030-02-01"):
            page.clock.set_fixed_time(f"{day}T10:00:00Z")
            page.goto(f"{server.url}/s/monthly")
            page.get_by_text("Each answer is drawn anew, and adds to what the earlier ones have given away.").wait_for()
            accessible(page)
            page.get_by_label("often").check()
            page.get_by_role("button", name="See my report").click()
            page.get_by_role("button", name="Send this report").click()
            page.get_by_text("You have answered this survey for this month").wait_for()
            page.reload()
            page.get_by_text("You have answered this survey for this month").wait_for()
        page.clock.set_fixed_time("2030-03-01T10:00:00Z")
        page.reload()
        page.get_by_label("often").check()
        page.get_by_role("button", name="See my report").click()
        page.get_by_text("must have an epsilon of at most 2 together, got 3").wait_for()  # a page switches nothing on
    assert server.counts()[survey.version] == 2


def test_a_round_of_a_search_is_answered_and_looked_at(browser, server):
    oracle, search = {"name": "grr", "epsilon": 2.0}, {"alphabet": "aple i", "bits": 6, "k": 2}
    survey = server.publish({**FIELDS, "name": "search", "oracle": oracle, "search": search, "collect": {"minimum": 1}})
    with Visitor(browser, server.url) as visitor:
        page = visitor.open(f"{server.url}/s/search")
        page.get_by_label("Your answer").fill("apple pie")
        page.get_by_role("button", name="See my report").click()
        page.get_by_text("It rules out no answer: each of the 65 could have led to this report.").wait_for()
        page.get_by_role("button", name="Send this report").click()
        page.get_by_text("You have answered this survey").wait_for()
        unseen = Reports(survey.oracle, np.array([0, 40], survey.oracle.report_format.dtype))  # nothing, and a blank
        assert [survey.label(value) for value in unseen.data] == ["", " "]
        assert server.send(survey, wire.encode(unseen, survey.version)).status_code == 200
        page = visitor.open(f"{server.url}/#token={server.token}")
        page.goto(f"{server.url}/#/survey/search/{survey.version}")
        page.get_by_text("How this was computed").click()
        page.get_by_text("GRR, of round 1 of a search, 65 beginnings").wait_for()
        page.locator("table.all tbody tr").first.wait_for()
        accessible(page)
        assert {"(empty)", "(blank)"} <= {label.removesuffix(" (may be zero)") for label in cells(page)}
    assert server.counts()[survey.version] == 3


def made_in(page, server):
    """Make a survey of texts with the form, and return it."""
    new_survey(page, server.url, "pies", What_people_answer="any text")
    page.get_by_label("Epsilon of a report").fill("4")
    page.get_by_text("has the least error").wait_for()
    assert not page.get_by_label("Answers, one per line").is_visible()
    page.get_by_text("Version that would be published").wait_for()
    accessible(page)
    page.get_by_role("button", name="Publish this survey").click()
    page.get_by_role("heading", name="Results").wait_for()
    with server.admin as client:
        return Survey.from_dict(client.get("/v1/surveys/pies").json()["survey"])


def cells(page):
    """Return the labels of the table, and the numbers beside them."""
    lines = [line.locator("th, td").all_text_contents() for line in page.locator("table.all tbody tr").all()]
    return {label.removesuffix(" (may be zero)"): number for label, _, _, number, *_ in lines}


def merged(server, survey, word, day):
    tally = survey.oracle.tally(survey.privatize([word] * 200, rng=6))
    with server.client(server.token, **{"Idempotency-Key": key()}) as client:
        path, body = f"/v1/versions/{survey.version}/merge", wire.encode_tally(tally, survey.version)
        assert client.post(path, params={"day": day}, content=body).json() == {"accepted": 200}


def compared(page, *windows):
    for label, day in zip(["First period, from", "First period, to", "Second period, from"], windows, strict=False):
        page.get_by_label(label).fill(day)
    page.get_by_label("Second period, to").fill(windows[-1])
    page.get_by_role("button", name="Compare").click()
    page.get_by_text("values changed significantly").wait_for()
    return page.get_by_role("region", name="Changes").inner_text()


def test_texts_are_named_and_counted(browser, server, tmp_path):
    with Visitor(browser, server.url) as visitor:
        page = visitor.open(f"{server.url}/#token={server.token}")
        survey = made_in(page, server)
        assert survey.oracle.name == "cms"
        reports = survey.privatize(np.repeat(WORDS, [300, 200, 100]).tolist(), rng=5)
        assert server.send(survey, wire.encode(reports, survey.version)).status_code == 200
        page.get_by_text("Name texts above").wait_for()
        page.get_by_label("Texts, one per line").fill("\n".join([*WORDS, "", WORDS[0], "nobody's"]))
        page.get_by_role("button", name="Count these").click()
        page.get_by_text("4 texts.").wait_for()
        page.locator("table.all tbody tr").first.wait_for()
        expected = survey.estimate(reports, candidates=[*WORDS, "nobody's"])
        assert cells(page) == {
            label: f"{round(count) + 0:,}" for label, count in zip([*WORDS, "nobody's"], expected.counts, strict=True)
        }
        accessible(page)
        merged(server, survey, "apple pie", "2026-10-01")
        said = compared(page, "2026-10-01", "2026-10-01", "2026-10-02", "2099-12-31")
        assert next(line.split("\t")[0] for line in said.splitlines() if line.endswith("yes")) == "apple pie"
        page.set_viewport_size(PHONE)
        page.emulate_media(color_scheme="dark")
        accessible(page)
        with page.expect_download() as saved:
            page.get_by_role("button", name="Download as CSV").click()
        assert "nobody's" in saved.value.path().read_text()
        page.reload()
        page.locator("table.all tbody tr").first.wait_for()
        (tmp_path / "words.txt").write_text("apple pie\r\nx\r\n" + "y" * 1025)
        page.get_by_label("Or a file").set_input_files(tmp_path / "words.txt")
        page.get_by_text("Not counted: estimates: candidates must be strings of 1 to 1024 bytes").wait_for()
        visitor.forgive("422")
        page.get_by_label("Texts, one per line").fill("apple pie")
        page.get_by_role("button", name="Count these").click()
        page.get_by_text("1 text.").wait_for()
        page.get_by_role("button", name="Sign out").click()
        page.get_by_label("Token").wait_for()
        assert page.evaluate("sessionStorage.length") == 0


def test_texts_of_every_day_are_asked_for_and_those_that_stand_out_are_found(browser, server):
    with Visitor(browser, server.url) as visitor:
        page = visitor.open(f"{server.url}/#token={server.token}")
        daily = {"What_people_answer": "any text", "How_often_a_person_reports": "every day, with noise that is kept"}
        new_survey(page, server.url, "often", **daily)
        page.get_by_label("Epsilon of all reports of a person").fill("8")  # first: below that of a report it is refused
        page.get_by_label("Epsilon of a report").fill("4")
        page.get_by_text("All reports of one person together keep epsilon 8, however many.").wait_for()
        page.get_by_text("must have an epsilon of at most 2 together, got 8").wait_for()
        accessible(page)
        page.get_by_role("button", name="Publish this survey").click()
        page.get_by_role("heading", name="Results").wait_for()
        with server.admin as client:
            survey = Survey.from_dict(client.get("/v1/surveys/often").json()["survey"])
        assert (survey.oracle, survey.daily) == (fldp.RAPPOR(4.0, 8.0), True)
        reports = survey.privatize(np.repeat(WORDS, [600, 400, 200]).tolist(), rng=7)
        assert server.send(survey, wire.encode(reports, survey.version)).status_code == 200
        named = [*WORDS, *(f"nobody's {k}" for k in range(37))]
        page.get_by_label("Texts, one per line").fill("\n".join(named))
        page.get_by_role("button", name="Count these").click()
        page.get_by_text("The chart shows the 20 largest of 40.").wait_for()
        page.get_by_text("How this was computed").click()
        page.get_by_label("What is estimated").select_option("those that stand out")
        page.get_by_text("Of 40 texts these").wait_for()
        estimate = survey.estimate(reports, candidates=named, method="select")
        assert set(WORDS) <= set(estimate.labels)
        assert cells(page) == {
            label: f"{round(count) + 0:,}" for label, count in zip(estimate.labels, estimate.counts, strict=True)
        }
        accessible(page)


def test_a_search_is_made_in_the_form(browser, server):
    with Visitor(browser, server.url) as visitor:
        page = visitor.open(f"{server.url}/#token={server.token}")
        new_survey(page, server.url, "found", What_people_answer="any text: find what many answer")
        page.get_by_label("How many texts to find").fill("5")
        page.get_by_label("Reports of a round").fill("700")
        page.get_by_label("Epsilon of a report").fill("2")
        page.get_by_text("The first round asks for 65,537 beginnings of texts. For it, PGR").wait_for()
        accessible(page)
        page.get_by_role("button", name="Publish this survey").click()
        page.get_by_text("How this was computed").click()
        page.get_by_text("PGR, of round 1 of a search, 65,537 beginnings").wait_for()
    with server.admin as client:
        asked = Survey.from_dict(client.get("/v1/surveys/found").json()["survey"]).search
    assert asked == Search(epsilon=2.0, k=5, quota=700).first
