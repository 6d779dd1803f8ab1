"""The dashboard: in a real browser, against a real collector and its database."""

import os
import re
import signal
import subprocess
import sys
from datetime import date
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import numpy as np
import pytest

import fldp
import fldp.collector
from fldp import wire
from fldp.data.anytime_intervals import multiplier
from fldp.estimation.planner import Row, plan
from fldp.privacy.poisoning import poison
from fldp.survey import Survey
from support import postgres_server
from support.browser import DESK, PHONE, Visitor, accessible, expect, new_survey
from support.collector_server import Server, batch, flawless, key, specification
from support.ports import free_port

STATIC = Path(fldp.collector.__file__).parent / "static"
TRICKS = ["<script>document.title='hacked'</script>", "<img src=x onerror=alert(1)>", '"onmouseover="x', "{{7*7}}"]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with flawless(tmp_path_factory.mktemp("collector")) as server:
        yield server


@pytest.fixture(scope="module")
def token(server):
    return server.make_token("read")["token"]


@pytest.fixture
def visitor(browser, server):
    with Visitor(browser, server.url) as visitor:
        yield visitor


def enter(page, token):
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Sign in").click()


def look(visitor, server, token, survey=None):
    """Open the dashboard with a token, at a survey or at the list of all."""
    page = visitor.open(f"{server.url}/#token={token}")
    page.get_by_role("button", name="Sign out").wait_for()
    if survey is not None:
        page.goto(f"{server.url}/#/survey/{survey.name}/{survey.version}")
        page.get_by_role("heading", name="Results").wait_for()
        page.get_by_text("How this was computed").click()
    return page


def send(server, survey, counts):
    """Send a report of each of so many people."""
    reports = survey.oracle.privatize(np.repeat(np.arange(len(counts)), counts), rng=sum(counts))
    assert server.send(survey, wire.encode(reports, survey.version)).status_code == 200


def estimates(server, survey, **query):
    """Ask as the page does: for intervals that hold at every look, but of biased estimates for those of one look."""
    looks = {} if "post" in query else {"anytime": "true"}
    with server.admin as client:
        return client.get(f"/v1/versions/{survey.version}/estimates", params=looks | query).json()


def shown(page):
    """Return the lines of the table of values as texts."""
    return [line.locator("th, td").all_text_contents() for line in page.locator("table.all tbody tr").all()]


def number(text):
    return int(text.replace(",", ""))


# ------------------------------------------------------------------------------------------------------- the token


def test_a_token_opens_the_list_and_is_kept_in_the_tab_alone(visitor, server, token):
    server.publish(name="listed")
    page = visitor.open(f"{server.url}/")
    page.get_by_label("Token").wait_for()
    accessible(page)
    enter(page, token)
    page.get_by_text("listed", exact=True).wait_for()
    accessible(page)
    page.reload()
    page.get_by_text("listed", exact=True).wait_for()
    assert page.evaluate("localStorage.length") == 0
    assert visitor.context.cookies() == []
    other = visitor.open(f"{server.url}/")
    other.get_by_label("Token").wait_for()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("Token").wait_for()
    assert page.evaluate("sessionStorage.length") == 0


def test_a_link_brings_a_token_that_leaves_the_address_at_once(visitor, server, token):
    page = look(visitor, server, token)
    assert "fldp_read" not in page.url


def test_a_wrong_token(visitor, server):
    page = visitor.open(f"{server.url}/")
    enter(page, "fldp_read_" + "A" * 43)
    page.get_by_text("This token is invalid").wait_for()
    accessible(page)
    assert page.evaluate("sessionStorage.length") == 0
    enter(page, server.make_token("send")["token"])
    page.get_by_text("This token may not read surveys").wait_for()
    visitor.forgive("status of 401")
    visitor.forgive("status of 403")


def test_a_token_that_is_revoked_while_the_page_is_open(visitor, server):
    survey = server.publish(name="revoked", minimum=1)
    send(server, survey, [50, 0, 0, 0, 0])
    token = server.make_token("read")
    page = look(visitor, server, token["token"], survey)
    page.locator("svg.chart").first.wait_for()
    with server.admin as client:
        client.delete(f"/v1/tokens/{token['id']}")
    page.get_by_text("This token is invalid or has been revoked.").wait_for()
    assert page.locator("svg.chart").count() == 0
    visitor.forgive("status of 401")


def test_nothing_is_told_without_a_token(server):
    with server.client() as client:
        answer = client.get("/")
    assert answer.headers["content-security-policy"].endswith("frame-ancestors 'none'")
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert not re.search(r"\b[0-9a-f]{64}\b", answer.text)


# -------------------------------------------------------------------------------------------------------- one survey


@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_estimates_come_alive_and_are_those_of_the_collector(browser, tmp_path, store):
    more = {"database": postgres_server.server().database()} if store == "postgres" else {}
    server = Server(tmp_path, **more)
    survey = server.publish(name="live")
    with Visitor(browser, server.url) as visitor:
        page = look(visitor, server, server.make_token("read")["token"], survey)
        page.get_by_text("There are no reports yet. Estimates are shown from 100 on.").wait_for()
        send(server, survey, [30, 0, 0, 0, 0])
        page.get_by_text("There are 30 reports.").wait_for()
        assert page.locator("svg.chart .whisker").count() == 0
        send(server, survey, [900, 400, 150, 0, 0])
        page.get_by_text("From 1,480 reports in all").wait_for()
        send(server, survey, [0, 20, 0, 0, 0])
        page.get_by_text("From 1,500 reports in all").wait_for()
        said = " ".join(page.locator(".facts").inner_text().split())
        assert said == "open 1,500 reports"
        page.get_by_text("Reports are made by FHR, of 5 values. Promised: (1, 1/2)-FLDP.").wait_for()
        rows = sorted(estimates(server, survey)["rows"], key=lambda row: -row["count"])
        assert [line[0] for line in shown(page)] == [
            row["label"] + (" (may be zero)" if row["low"] <= 0 else "") for row in rows
        ]
        assert [number(line[3]) for line in shown(page)] == [round(row["count"]) for row in rows]
        assert [line[4] for line in shown(page)] == [f"{row['low']:,.0f} to {row['high']:,.0f}" for row in rows]
    assert server.stop() == 0


def test_the_chart_is_drawn_to_scale_with_whiskers_and_greys_what_may_be_zero(visitor, server, token):
    survey = server.publish(name="drawn", minimum=1)
    send(server, survey, [1200, 500, 300, 0, 0])
    page = look(visitor, server, token, survey)
    page.locator("svg.chart .whisker").first.wait_for()
    rows = sorted(estimates(server, survey)["rows"], key=lambda row: row["value"])
    to_scale(page, rows)  # in the order of the survey, where there are few answers
    page.get_by_label("Order of the answers").select_option("The largest first")
    to_scale(page, sorted(rows, key=lambda row: -row["count"]))
    grey = sum(row["low"] <= 0 for row in rows)
    expect(page.locator("tr.unsure")).to_have_count(grey)
    expect(page.get_by_text(f"Grey values ({grey} of 5) cannot be told from zero")).to_have_count(1)
    assert rows[0]["label"] in page.locator("svg.chart").first.get_attribute("aria-label")


def to_scale(page, rows):
    """Check that the bars are of these rows, in their order, and as long as they should be."""
    chart = page.locator("svg.chart").first
    expect(chart.locator(".name")).to_have_text([row["label"] for row in rows])
    zero = float(re.match(r"M([\d.]+)", chart.locator(".zero").get_attribute("d"))[1])
    bars = chart.locator(".bar").all()
    longest = max(range(len(rows)), key=lambda place: rows[place]["count"])
    scale = float(bars[longest].get_attribute("width")) / rows[longest]["count"]
    for row, bar, whisker in zip(rows, bars, chart.locator(".whisker").all(), strict=True):
        low, high = (float(x) for x in re.match(r"M([-\d.]+) .*H([-\d.]+)M", whisker.get_attribute("d")).groups())
        assert low == pytest.approx(zero + scale * row["low"], abs=0.01)
        assert high == pytest.approx(zero + scale * row["high"], abs=0.01)
        assert float(bar.get_attribute("width")) == pytest.approx(scale * abs(row["count"]), abs=0.01)
        assert ("unsure" in bar.get_attribute("class")) == (row["low"] <= 0)


def test_every_control_changes_what_is_asked(visitor, server, token):
    survey = server.publish(name="controls", minimum=1)
    send(server, survey, [600, 300, 100, 0, 0])
    page = look(visitor, server, token, survey)
    page.locator("svg.chart .whisker").first.wait_for()
    for words, choice, query in (
        ("Decoder", "paper", {"decoder": "paper"}),
        ("Post-processing", "norm-sub", {"decoder": "paper", "post": "norm-sub"}),
        ("Interval level", "0.99", {"decoder": "paper", "post": "norm-sub", "level": 0.99}),
    ):
        with page.expect_response(re.compile("estimates")):
            page.get_by_label(words).select_option(choice)
        rows = sorted(estimates(server, survey, **query)["rows"], key=lambda row: (-row["count"], row["value"]))
        wanted = f"{rows[0]['low']:,.0f} to {rows[0]['high']:,.0f}"
        page.locator("table.all td", has_text=wanted).first.wait_for()
        assert [number(line[3]) for line in shown(page)] == [round(row["count"]) for row in rows]
    page.get_by_text("Post-processed by norm-sub, which is biased.").wait_for()
    page.get_by_label("Post-processing").select_option("empirical Bayes (biased)")
    page.get_by_text("Empirical Bayes needs 100 values").wait_for()
    page.get_by_label("Interval level").select_option("0.999")
    page.get_by_text("about 1 in 1,000 misses the true value").wait_for()
    page.get_by_text(
        "This holds for one look. Anybody who looks every day is misled in more than a quarter of cases."
    ).wait_for()
    page.get_by_label("Post-processing").select_option("")
    page.get_by_text("These intervals hold for all values and whenever you look.").wait_for()
    with page.expect_request(lambda request: "estimates" in request.url and "anytime" not in request.url):
        page.get_by_label("Intervals hold").select_option("One look, decided beforehand (narrower)")
    page.get_by_text(
        "This holds for one look. Anybody who looks every day is misled in more than a quarter of cases."
    ).wait_for()
    page.get_by_label("Intervals hold").select_option("Whenever you look")
    page.get_by_text("These intervals hold for all values and whenever you look.").wait_for()
    for choice, days in (("Last 7 days", 6), ("Last 30 days", 29)):
        with page.expect_request(re.compile("estimates")) as asked:
            page.get_by_label("Period", exact=True).select_option(choice)
        query = parse_qs(urlsplit(asked.value.url).query)
        first, last = (date.fromisoformat(query[name][0]) for name in ("from", "to"))
        assert (last - first).days == days
        page.get_by_text("reports in these days").wait_for()
        page.get_by_text("not for days that were chosen after looking").wait_for()
    assert not page.get_by_label("From day (UTC)").is_visible()
    page.get_by_label("Period", exact=True).select_option("From … to …")
    page.get_by_label("From day (UTC)").fill("2020-01-02")
    page.get_by_text("reports in these days").wait_for()
    page.get_by_label("To day (UTC)").fill("2020-01-01")
    page.get_by_text("The first day must not be after the last.").wait_for()
    with page.expect_response(re.compile("v1/surveys$")):  # the page asks again by itself
        pass
    page.get_by_text("reports in these days").wait_for()
    page.get_by_label("To day (UTC)").fill("2020-01-03")
    page.get_by_text("There are no reports in these days.").wait_for()
    assert page.locator("svg.chart .whisker:visible").count() == 0
    accessible(page)
    visitor.forgive("status of 403")


def test_the_table_is_sorted_searched_and_saved(visitor, server, token):
    labels = ["chrome", "firefox", "safari", "edge", *(f"other {place}" for place in range(8))]
    survey = server.publish({**specification(name="table", minimum=1), "labels": labels})
    send(server, survey, [600, 300, 100, *([0] * 9)])
    page = look(visitor, server, token, survey)
    page.locator("table.all tbody tr").first.wait_for()
    page.get_by_role("button", name="Value").click()
    assert [line[0].split(" (")[0] for line in shown(page)] == sorted(survey.labels)
    page.get_by_role("button", name="Value").click()
    assert [line[0].split(" (")[0] for line in shown(page)] == sorted(survey.labels, reverse=True)
    page.get_by_role("button", name="Std. error").click()
    assert page.locator("th[aria-sort]").inner_text().startswith("Std. error")
    page.get_by_label("Search the values").fill("FOX")
    assert [line[0].split(" (")[0] for line in shown(page)] == ["firefox"]
    page.get_by_text("1 of 12 values; 1 to 1 are shown.").wait_for()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download as CSV").click()
    text = Path(saved.value.path()).read_text()
    assert saved.value.suggested_filename == "table.csv"
    with server.admin as client:
        path = f"/v1/versions/{survey.version}/estimates"
        asked = {"level": "0.95", "decoder": "full", "format": "csv", "anytime": "true"}
        assert text == client.get(path, params=asked).text


def test_ten_thousand_labels_stay_fluent(visitor, server, token):
    fields = specification(name="many", oracle={"name": "fhr", "epsilon": 4.0}, minimum=1)
    survey = server.publish({**fields, "labels": [f"word {value}" for value in range(10_000)]})
    send(server, survey, [2000, 1000, *([1] * 98)])
    page = look(visitor, server, token, survey)
    page.get_by_text("10,000 of 10,000 values; 1 to 50 are shown.").wait_for()
    expect(page.locator("table.all tbody tr")).to_have_count(50)
    page.get_by_role("button", name="Next").click()
    page.get_by_text("51 to 100 are shown.").wait_for()
    page.get_by_label("Search the values").fill("word 99")
    page.get_by_text("111 of 10,000 values; 1 to 50 are shown.").wait_for()
    expect(page.get_by_text("The chart shows the 20 largest of 10,000.")).to_have_count(1)
    assert page.evaluate("document.querySelectorAll('*').length") < 2500
    accessible(page)


def test_script_in_texts_is_text(visitor, server, token):
    fields = specification(name="tricks", minimum=1, oracle={"name": "grr", "epsilon": 3.0})
    question = "<b>Which</b> <script>alert(1)</script>?"
    survey = server.publish({**fields, "labels": TRICKS, "question": question, "title": TRICKS[2]})
    send(server, survey, [400, 300, 200, 100])
    page = look(visitor, server, token)
    expect(page.get_by_role("link", name=question)).to_have_count(1)
    page.goto(f"{server.url}/#/survey/tricks/{survey.version}")
    page.locator("table.all tbody tr").first.wait_for()
    assert page.locator("h1").inner_text() == question
    assert sorted(line[0].split(" (may")[0] for line in shown(page)) == sorted(TRICKS)
    assert 'data-title="&quot;onmouseover=&quot;x"' in page.get_by_label("Embed code").text_content()
    assert page.locator("main script, main img, main iframe, main b").count() == 0


def test_a_survey_that_is_deleted_while_the_page_is_open(visitor, server, token):
    survey = server.publish(name="deleted", minimum=1)
    with visitor.context.expect_event("requestfinished", lambda request: request.url.endswith("/days")):  # the last one
        page = look(visitor, server, token, survey)
    page.get_by_text("There are no reports yet.").first.wait_for()
    with server.admin as client:
        client.delete("/v1/surveys/deleted", params={"all": "true"})
    page.get_by_text("This survey is not here.").wait_for()
    page.get_by_role("link", name="All surveys").click()
    page.get_by_role("button", name="Sign out").wait_for()


def test_a_collector_that_is_away_for_a_moment(browser, tmp_path):
    server = Server(tmp_path)
    survey = server.publish(name="away", minimum=1)
    send(server, survey, [60, 0, 0, 0, 0])
    with Visitor(browser, server.url) as visitor:
        page = look(visitor, server, server.token, survey)
        page.locator("svg.chart .whisker").first.wait_for()
        visitor.context.set_offline(True)
        page.get_by_text("The collector cannot be reached.").wait_for()
        expect(page.locator("svg.chart .whisker")).to_have_count(5)
        visitor.context.set_offline(False)
        page.get_by_text("The collector cannot be reached.").wait_for(state="hidden")
        visitor.forgive("ERR_INTERNET_DISCONNECTED")
    server.stop()


def merge(server, survey, counts, day):
    """Have reports of so many people counted under another day."""
    values = np.repeat(np.arange(len(counts)), counts)
    tally = survey.oracle.tally(survey.oracle.privatize(values, rng=int(day[-2:])))
    body = wire.encode_tally(tally, survey.version)
    with server.admin as client:
        headers = {"Idempotency-Key": key(), "Content-Type": "application/octet-stream"}
        path = f"/v1/versions/{survey.version}/merge"
        assert client.post(path, params={"day": day}, content=body, headers=headers).status_code == 200


def test_reports_over_time(visitor, server, token):
    survey = server.publish(name="days", minimum=50)
    for day, people in (("2026-10-01", 60), ("2026-10-03", 40), ("2026-10-04", 120)):
        merge(server, survey, [people, 0, 0, 0, 0], day)
    page = look(visitor, server, token, survey)
    part = page.locator("section", has=page.get_by_role("heading", name="Reports over time"))
    part.locator(".bar").first.wait_for()
    assert ["unsure" in bar.get_attribute("class") for bar in part.locator(".bar").all()] == [False, False, True, False]
    heights = [float(bar.get_attribute("height")) for bar in part.locator(".bar").all()]
    assert heights[0] == pytest.approx(heights[3] / 2)
    part.get_by_text("As a table").click()
    lines = [line.locator("th, td").all_text_contents() for line in part.locator("tbody tr").all()]
    assert lines == [
        ["2026-10-01", "60", "0"],
        ["2026-10-02", "0", "0"],
        ["2026-10-03", "0 to 49", "not shown"],
        ["2026-10-04", "120", "0"],
    ]
    assert "from 2026-10-01 to 2026-10-04" in part.locator("svg").get_attribute("aria-label")
    accessible(page)


def test_answers_that_were_taken_back(visitor, server, token):
    """They are told, and what is shown changes with them, also where as many others come."""
    survey = server.publish(name="taken", minimum=1)
    bodies = [batch(survey, 40), batch(survey, 10)]
    keys = [key() for _ in bodies]
    for name, body in zip(keys, bodies, strict=True):
        assert server.send(survey, body, name).json()["accepted"]
    page = look(visitor, server, token, survey)
    page.get_by_text("From 50 reports in all.").wait_for()
    assert not page.get_by_text("taken back by their senders").is_visible()
    with server.client() as client:
        headers = {"Idempotency-Key": keys[1], "Content-Type": "application/octet-stream"}
        path = f"/v1/versions/{survey.version}/withdrawals"
        assert client.post(path, content=bodies[1], headers=headers).json() == {"withdrawn": 10}
    page.reload()
    page.get_by_text("From 40 reports in all.").wait_for()
    page.get_by_text("10 taken back by their senders, and not counted").wait_for()
    part = page.locator("section", has=page.get_by_role("heading", name="Reports over time"))
    part.get_by_text("As a table").click()
    expect(part.locator("tbody tr").last.locator("td")).to_have_text(["40", "10"])
    accessible(page)


def test_what_more_reports_would_bring(visitor, server, token):
    survey = server.publish(name="more", minimum=1)
    send(server, survey, [500, 300, 200, 0, 0])
    page = look(visitor, server, token, survey)
    part = page.locator("section", has=page.get_by_role("heading", name="With more reports"))
    part.locator(".curve").wait_for()
    part.get_by_text("As a table").click()
    lines = [line.locator("th, td").all_text_contents() for line in part.locator("tbody tr").all()]
    assert [number(line[0]) for line in lines] == [1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000]
    expected = sorted(row["high"] - row["low"] for row in estimates(server, survey)["rows"])[2] / 2 / 1000
    for times, line in zip((1, 2, 5, 10, 20, 50, 100), lines, strict=True):
        assert float(line[1].removesuffix(" %")) == pytest.approx(100 * expected / times**0.5, rel=0.006)
    row = Row(survey.oracle, "full", 10_000)
    width = multiplier(10, 0.05 / 5)  # at 1,000 reports, where a minimum of 1 plans with 100
    assert expected / 10**0.5 == pytest.approx(width * row.error_mean, rel=0.1)  # what the planner expects
    assert f"would be {lines[3][1]}." in part.inner_text()
    accessible(page)


def test_the_error_of_every_oracle_falls_with_the_root_of_the_reports():
    few, many = (plan(domain_size=9, users=users, epsilon=1.5, eta=0.25).rows for users in (1000, 100_000))
    errors = {(row.name, share): row.error(share) for row in few for share in (0.0, 0.01, 0.3)}
    assert len({row.oracle.name for row in few}) > 7
    for row in many:
        for share in (0.0, 0.01, 0.3):
            assert row.error(share) == pytest.approx(errors[row.name, share] / 10)


def test_one_test_of_honesty_is_spoken_of_alone(visitor, server, token):
    survey = server.publish(name="alone", oracle={"name": "grr", "epsilon": 1.0}, minimum=100)
    send(server, survey, [100, 100])
    page = look(visitor, server, token, survey)
    page.get_by_text("The only test of 200 reports was passed.").wait_for()
    page.get_by_text("It looks for what honest reports never do").wait_for()
    page.get_by_text("and fails honest reports in at most").wait_for()


def test_reports_that_cannot_all_be_honest_are_warned_of(visitor, server, token):
    survey = server.publish(name="doubted", oracle={"name": "oue", "epsilon": 1.0}, minimum=100)
    users = survey.oracle.privatize([0] * 900, rng=1)
    assert server.send(survey, wire.encode(users, survey.version)).status_code == 200
    page = look(visitor, server, token, survey)
    panel = page.locator("section.panel", has=page.get_by_role("heading", name="Are the reports honest?"))
    panel.get_by_text("All 4 tests of 900 reports were passed. That is no proof.").wait_for()
    warning = page.get_by_text("cannot all be honest")
    assert not warning.is_visible()
    fakes = poison(survey.oracle, [1, 2, 3], 300, rng=2)
    page.clock.install()
    assert server.send(survey, wire.encode(fakes, survey.version)).status_code == 200
    page.get_by_text("1,200 reports").first.wait_for()  # it is too early to look at all of them again
    assert not warning.is_visible()
    page.clock.fast_forward(61_000)  # nothing more comes; what came last is looked at, too
    warning.wait_for()
    assert "Estimates below may be those that somebody wants to be seen." in warning.inner_text()
    panel.get_by_text("of 4 tests of 1,200 reports failed").wait_for()
    panel.get_by_text("All tests", exact=True).click()
    assert panel.locator("li", has_text="FAILED, pairs: no two values").is_visible()
    panel.get_by_text("What no test here can see").click()
    panel.get_by_text("follow the rules with a value of their choice").wait_for()
    accessible(page)


def test_two_windows_are_compared(visitor, server, token):
    survey = server.publish(name="compared", minimum=100)
    merge(server, survey, [700, 200, 100, 0, 0], "2026-10-01")
    merge(server, survey, [300, 600, 100, 0, 0], "2026-10-08")
    page = look(visitor, server, token, survey)
    part = page.locator("section", has=page.get_by_role("heading", name="Compare two periods"))
    for words, day in (
        ("First period, from", "2026-10-01"),
        ("First period, to", "2026-10-02"),
        ("Second period, from", "2026-10-02"),
        ("Second period, to", "2026-10-09"),
    ):
        part.get_by_label(words).fill(day)
    part.get_by_role("button", name="Compare").click()
    part.get_by_text("the two windows must not have a day in common").wait_for()
    part.get_by_label("Second period, from").fill("2026-10-03")
    part.get_by_role("button", name="Compare").click()
    part.get_by_text("2 of 5 values changed significantly").wait_for()
    lines = [line.locator("th, td").all_text_contents() for line in part.locator("tbody tr").all()]
    assert {line[0] for line in lines if line[-1] == "yes"} == {"chrome", "firefox"}
    expect(part.locator("tr.unsure")).to_have_count(3)
    accessible(page)
    visitor.forgive("status of 422")


# ----------------------------------------------------------------------------------------------------- a new survey


def test_from_a_new_survey_to_an_answer_to_an_estimate(visitor, server):
    page = look(visitor, server, server.token)
    page.goto(f"{server.url}/#/new/advanced")
    page.get_by_text("Enter at least two answers.").wait_for()
    accessible(page)
    page.get_by_label("Name, in the address").fill("made")
    page.get_by_label("Question").fill("Tea or coffee?")
    page.get_by_label("Answers, one per line").fill("tea\ncoffee\n\nwater\njuice\n")
    page.get_by_label("Epsilon of a report").fill("1.5")
    page.get_by_label("Reports before results are shown").fill("1")
    page.get_by_label("Origins").fill("https://www.example.org")
    advised = plan(domain_size=4, users=10_000, epsilon=1.5, eta=1.0)
    page.get_by_text(advised.reason).wait_for()
    assert page.locator("tr.best th").text_content().startswith(advised.recommended.oracle.name.upper())
    page.get_by_label("Smallest eta").select_option("0.5")
    page.get_by_text(plan(domain_size=4, users=10_000, epsilon=1.5, eta=0.5).reason).wait_for()
    page.get_by_label("Oracle", exact=True).select_option("grr")
    page.get_by_text("Each of the 4 answers could have given any report.").wait_for()
    accessible(page)
    rules = {"submit": "open", "retention": "raw", "minimum": 1, "origins": ["https://www.example.org"]}
    oracle = {"name": "grr", "epsilon": 1.5}
    fields = {"labels": ["tea", "coffee", "water", "juice"], "oracle": oracle, "collect": rules}
    promised = Survey.from_dict({"name": "made", "question": "Tea or coffee?", **fields}).version
    page.get_by_text(promised).wait_for()
    page.get_by_role("button", name="Publish this survey").click()
    page.get_by_text("Estimates are shown from 1 on.").wait_for()
    assert promised in page.url
    answering = visitor.open(f"{server.url}/s/made")
    answering.get_by_label("water", exact=True).check()
    answering.get_by_role("button", name="See my report").click()
    answering.get_by_role("button", name="Send this report").click()
    answering.get_by_text("You have answered this survey").wait_for()
    page.bring_to_front()
    page.get_by_text("From 1 report in all").wait_for()
    assert len(shown(page)) == 4


def publish(page, server, name, **declared):
    """Publish what the form says, with this declared, and return the survey; its version is as promised."""
    version = page.get_by_text("Version that would be published").locator("code").inner_text()
    with page.expect_request("**/v1/surveys") as sent:
        page.get_by_role("button", name="Publish this survey").click()
    body = sent.value.post_data_json
    assert {key: body.get(key) for key in ("sensitive", "budgets", "distance") if key in body} == declared
    page.get_by_role("heading", name="Results").wait_for()
    with server.admin as client:
        survey = Survey.from_dict(client.get(f"/v1/surveys/{name}").json()["survey"])
    assert version == survey.version
    return survey


def test_a_new_survey_says_what_must_be_protected(visitor, server):
    labels = [*TRICKS, "__proto__", "hiv", "7", *(f"cold {k}" for k in range(8))]
    page = look(visitor, server, server.token)
    new_survey(page, server.url, "some", What_must_be_protected="only some answers")
    page.get_by_label("Answers, one per line").fill("\n".join(labels))
    page.get_by_text("Tick the sensitive answers.").wait_for()
    page.get_by_label("hiv", exact=True).check()
    page.get_by_role("searchbox").fill("PROTO")
    expect(page.get_by_role("group", name="Sensitive").get_by_role("checkbox")).to_have_count(2)  # what is ticked stays
    page.get_by_label("__proto__", exact=True).check()
    page.get_by_text(plan(domain_size=15, users=10_000, epsilon=1.0, sensitive=[4, 5]).reason).wait_for()
    page.get_by_text("a report must leave at least 2 values possible, got 1. The answer page asks").wait_for()
    page.get_by_text("Protected: __proto__, hiv. No report says for certain that somebody gave one").wait_for()
    accessible(page)
    survey = publish(page, server, "some", sensitive=["__proto__", "hiv"])
    assert survey.oracle == fldp.URR(1.0, 15, sensitive=[4, 5])

    new_survey(page, server.url, "more", What_must_be_protected="some answers more than others")
    page.get_by_label("Answers, one per line").fill("\n".join(labels))
    for label, budget in (("7", "3"), ("__proto__", "0.25")):
        page.get_by_label(label, exact=True).fill(budget)
    page.get_by_text("It protects all values alike, by epsilon 0.25").wait_for()
    page.get_by_text("IDUE: a budget in budgets must be below epsilon, 1, got 3.0").wait_for(state="attached")
    page.get_by_role("button", name="Publish this survey").click()
    assert page.locator("input:invalid").get_attribute("placeholder") == "1"
    page.get_by_label("7", exact=True).fill("0.5")
    page.get_by_label("Oracle", exact=True).locator("option[value=idue]").wait_for(state="attached")
    page.get_by_label("Oracle", exact=True).select_option("idue")
    page.get_by_text("Protected more than the others: __proto__ (epsilon 0.25), 7 (epsilon 0.5).").wait_for()
    page.set_viewport_size(PHONE)
    accessible(page)
    survey = publish(page, server, "more", budgets={"__proto__": 0.25, "7": 0.5})
    assert survey.oracle == fldp.IDUE(1.0, 15, budgets={4: 0.25, 6: 0.5})

    new_survey(page, server.url, "near", What_must_be_protected="near answers more than far ones")
    page.get_by_label("Answers, one per line").fill("\n".join(labels))
    page.get_by_label("How the answers lie").select_option("ring")
    page.get_by_label("Epsilon of a report").fill("3.5")
    page.get_by_text("Epsilon of the two answers farthest apart: 3.5. Of neighbours: 0.5.").wait_for()
    page.get_by_label("Oracle", exact=True).locator("option[value=exponential]").wait_for(state="attached")
    page.get_by_label("Oracle", exact=True).select_option("exponential")
    page.get_by_text("nobody can answer this: answers on topic near").wait_for()  # the usual limit is an epsilon of 2
    accessible(page)
    assert publish(page, server, "near", distance="ring").oracle == fldp.Exponential(3.5, 15, distance="ring")


def test_tickets_decide_public_words_where_they_can(visitor, server):
    page = look(visitor, server, server.token)
    new_survey(page, server.url, "tickets", Who_may_answer="anybody with a ticket")
    page.get_by_label("Answers, one per line").fill("\n".join("abcdefgh"))
    page.get_by_label("Tickets decide the public random words").check()
    page.get_by_text("has the least error of the oracles whose public random words tickets can decide").wait_for()
    assert sorted(page.locator("tbody th").all_text_contents()) == ["FWR (recommended)", "HRR", "OLH"]
    page.get_by_text("tickets cannot decide what is public in its reports").first.wait_for(state="attached")
    accessible(page)
    survey = publish(page, server, "tickets")
    assert (survey.derives, survey.oracle) == (True, fldp.FWR(1.0, 8))
    new_survey(page, server.url, "texts", What_people_answer="any text", Who_may_answer="anybody with a ticket")
    page.get_by_label("Tickets decide the public random words").check()
    page.get_by_text("HCMS has the least error of the oracles whose").wait_for()
    page.get_by_label("Who may answer").select_option("everybody")
    page.locator("tr.best", has_text="CMS").first.wait_for()
    assert not page.get_by_label("Tickets decide the public random words").is_visible()


SLOW = """() => {
  const [send, later] = [fetch, () => new Promise((go) => setTimeout(go, 600))];
  window.fetch = (...request) => later().then(() => send(...request));
}"""


def test_mistakes_of_a_new_survey_are_told(visitor, server):
    page = look(visitor, server, server.token)
    page.goto(f"{server.url}/#/new/advanced")
    page.get_by_label("Name, in the address").fill("wrong")
    page.get_by_label("Question").fill("Which?")
    page.get_by_label("Answers, one per line").fill("same\nsame\nother")
    page.get_by_label("Origins").fill("nonsense")
    page.locator(".advice", has_text="The answer “same” appears twice.").wait_for()
    page.get_by_role("button", name="Publish this survey").click()
    page.locator(".notice.bad", has_text="The answer “same” appears twice.").wait_for()
    page.get_by_label("Answers, one per line").fill("same\nother")
    page.evaluate(SLOW)  # the planner is asked when nothing is typed any more, which is while the survey is published
    page.get_by_role("button", name="Publish this survey").click()
    page.get_by_text("Not published.").wait_for()
    assert "origins" in page.locator(".notice.bad").inner_text()
    accessible(page)
    assert "wrong" not in [row["name"] for row in listed(server)]
    visitor.forgive("status of 422")


def test_a_read_token_makes_no_survey(visitor, server, token):
    page = look(visitor, server, token)
    assert page.get_by_role("link", name="New survey").count() == 0
    page.goto(f"{server.url}/#/new")
    page.get_by_role("heading", name="Surveys").wait_for()
    with server.client(token) as client:
        assert client.post("/v1/plan", json={"domain_size": 4, "users": 10, "epsilon": 1}).status_code == 403


def listed(server):
    with server.admin as client:
        return client.get("/v1/surveys").json()


# ----------------------------------------------------------------------------------------------------------- the demo


def test_the_live_demo(browser, tmp_path):
    command = [sys.executable, "-m", "fldp", "serve", "--demo", "--port", str(free_port())]
    folders = {"TMPDIR": str(tmp_path), "FLDP_DATA": str(tmp_path)}  # the second one is of the datasets
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **folders}
    )
    try:
        lines = [process.stdout.readline() for _ in range(5)]
        assert all(lines), process.stderr.read()
        url, link = lines[0].split()[-1], lines[2].split()[-1]
        assert lines[2].startswith("fldp: dashboard: ")
        assert link.startswith(f"{url}/#token=fldp_admin_")
        with Visitor(browser, url) as visitor:
            page = visitor.open(link)
            page.get_by_role("link", name="How do you get to work").click()
            page.locator("svg.chart .whisker").first.wait_for()
            before = page.locator(".count").inner_text()
            page.locator(f".count:not(:text-is('{before}'))").wait_for()
            assert number(page.locator(".count").inner_text()) > number(before)
            page.get_by_role("link", name="Surveys").click()
            page.get_by_role("link", name="What did you have for lunch?").click()
            page.get_by_text("From 12,600 reports in all").wait_for()
        assert len(list(tmp_path.iterdir())) == 1
    finally:
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=180)
    assert (process.returncode, said[1], said[0]) == (0, "", "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("flag", [("--data", "."), ("--database", "postgresql://x/y")], ids=["data", "database"])
def test_the_live_demo_keeps_nothing(tmp_path, flag):
    folder = str(tmp_path) if flag[0] == "--data" else flag[1]
    command = [sys.executable, "-m", "fldp", "serve", "--demo", flag[0], folder]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=180)
    assert done.returncode == 2
    assert re.fullmatch(r"serve: \w+ must be left out with --demo, which keeps nothing\n", done.stderr)


# ------------------------------------------------------------------------------------------------- keyboard and look


def test_with_the_keyboard_alone(visitor, server, token):
    survey = server.publish(name="keyboard", minimum=1)
    send(server, survey, [600, 300, 100, 0, 0])
    page = visitor.open(f"{server.url}/")
    page.get_by_label("Token").wait_for()
    reach(page, "#token")
    page.keyboard.type(token)
    page.keyboard.press("Enter")
    page.get_by_text("keyboard", exact=True).wait_for()
    assert page.evaluate("document.activeElement.tagName") == "H1"
    reach(page, f"a[href$='{survey.version}']")
    for _ in range(2):  # updates come, the second once the first was shown, and must not take the focus away
        with page.expect_response("**/v1/surveys"):
            pass
    assert page.evaluate("document.activeElement.tagName") == "A"
    page.keyboard.press("Enter")
    page.locator("svg.chart .whisker").first.wait_for()
    reach(page, "button.sort")
    page.keyboard.press("Enter")
    assert page.locator("th[aria-sort=ascending]").inner_text().startswith("Value")
    reach(page, "details.fold summary")
    page.keyboard.press("Enter")
    reach(page, "#level")
    page.keyboard.press("ArrowDown")
    page.get_by_text("Error bars are 99 % intervals").wait_for()


def reach(page, selector):
    """Go to an element by Tab alone."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(selector)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("window", [PHONE, DESK], ids=["phone", "desk"])
def test_every_view_is_accessible(browser, server, token, scheme, window):
    survey = server.publish(name="look", minimum=1)
    send(server, survey, [600, 300, 100, 0, 0])
    with Visitor(browser, server.url, viewport=window, color_scheme=scheme) as visitor:
        page = look(visitor, server, token)
        accessible(page)
        page.goto(f"{server.url}/#/survey/look/{survey.version}")
        page.locator("svg.chart .whisker").first.wait_for()
        accessible(page)


# ------------------------------------------------------------------------------------------------------ what is shipped


def test_what_others_wrote_comes_with_its_licence_and_versions(server):
    assert "Permission to use, copy, modify" in (STATIC / "vendor" / "d3.LICENSE").read_text()
    head = (STATIC / "vendor" / "d3.js").read_text()[:600]
    assert "d3-scale 4.0.3" in head
    assert httpx.get(f"{server.url}/static/vendor/d3.js").headers["content-type"].startswith("text/javascript")
    assert httpx.get(f"{server.url}/static/vendor/d3.LICENSE").status_code == 404
