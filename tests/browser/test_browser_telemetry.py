"""All metrics of a program on one page of the dashboard: trends over periods, with their intervals."""

import numpy as np
import pytest

from fldp.client import Client
from fldp.telemetry.periods import system
from fldp.telemetry.publishing import publish, survey_of
from support.browser import DESK, PHONE, Visitor, accessible, chromium, expect
from support.collector_server import Server
from support.relays import relay
from support.telemetry import SampleProgram, declared

MONTHS = ("2026-08-03", "2026-09-10", "2026-10-07")
SHARES = ((0.6, 0.2, 0.1, 0.1), (0.5, 0.3, 0.1, 0.1), (0.3, 0.5, 0.1, 0.1))


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A collector with three months of reports of a program's theme, and too few of its startup."""
    server = Server(tmp_path_factory.mktemp("collector"))
    metrics = declared(app="paint")
    with Client(server.url, server.token) as client:
        publish(metrics, client, "2026-11-16")
        theme, startup = (survey_of(metrics, metrics.metrics[name]) for name in ("theme", "startup"))
        for day, shares in zip(MONTHS, SHARES, strict=True):
            values = np.repeat(np.arange(4), [round(20_000 * share) for share in shares])
            client.merge(theme.oracle.tally(theme.oracle.privatize(values, rng=len(day))), theme, day=day)
        few = startup.oracle.tally(startup.oracle.privatize([0] * 30, rng=1))
        client.merge(few, startup, day=MONTHS[0])
    yield server
    assert server.stop() == 0


def test_the_link_of_a_program_stays_while_the_list_is_asked_for_again(server):
    """Else a click that begins before an answer and ends after it is lost, and the focus with it."""
    with chromium() as browser, Visitor(browser, server.url) as visitor:
        page = visitor.open(f"{server.url}/#token={server.make_token('read')['token']}")
        link = page.get_by_role("link", name="paint", exact=True)
        link.focus()
        for _ in range(2):  # the page puts the first answer before it asks for the second
            page.wait_for_event("response", lambda answer: answer.url.endswith("v1/surveys"))
        expect(link).to_be_focused(timeout=1)


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_a_program_has_all_its_metrics_on_one_page(server, size):
    with chromium() as browser, Visitor(browser, server.url, viewport=size) as visitor:
        page = visitor.open(f"{server.url}/#token={server.make_token('read')['token']}")
        page.get_by_role("link", name="paint", exact=True).click()
        page.get_by_role("heading", name="Telemetry of paint").wait_for()
        assert sorted(page.get_by_role("heading", level=2).all_text_contents()) == ["startup", "sync", "theme"]
        chart = page.get_by_role("img", name="Shares of 4 values in 3 periods")
        chart.wait_for()
        assert "In 2026-10: light" in chart.get_attribute("aria-label")
        panel = page.locator("section.panel", has=page.get_by_role("heading", name="theme"))
        panel.get_by_text("As a table").click()
        rows = [line.locator("th, td").all_text_contents() for line in panel.locator("tbody tr").all()]
        assert len(rows) == 12
        light = {row[0][:7]: float(row[1].rstrip(" %")) for row in rows if row[0].endswith("light")}
        assert [light[month[:7]] for month in MONTHS] == pytest.approx([60, 50, 30], abs=12)
        with Client(server.url, server.token) as client:
            survey = survey_of(declared(app="paint"), declared(app="paint").metrics["theme"])
            told = client.estimates(survey, since=MONTHS[0], until=MONTHS[0], level=1 - 0.05 / 12)
        shown = {row[0]: row[2] for row in rows}
        for row in told["rows"]:
            low, high = (f"{100 * row[end] / told['n']:.2f} %" for end in ("low", "high"))
            assert shown[f"2026-08, {row['label']}"].replace("-0.00", "0.00") == f"{low} to {high}".replace(
                "-0.00", "0.00"
            )
        other = page.locator("section.panel", has=page.get_by_role("heading", name="startup"))
        assert "too few reports" in other.text_content()
        accessible(page)
        visitor.forgive("403")  # the browser notes that too few reports are refused


@pytest.fixture
def gateway(tmp_path):
    server = Server(tmp_path, ohttp="true")
    yield server
    assert server.stop() == 0


def test_the_sample_program_reaches_the_dashboard_through_a_relay(gateway, tmp_path):
    """Its own report is one of those that the dashboard shows; the others are simulated people's."""
    folder = tmp_path / "app"
    folder.mkdir()
    with relay(gateway.url) as way, Client(gateway.url, gateway.token) as client:
        program = SampleProgram(folder, gateway.url, app="wordy", relay=way)
        publish(program.metrics, client, "2026-11-16")
        program.run()
        program.hurry()
        program.run(wait=True)
        assert [report.state for report in program.reports] == ["sent"], program.reports
        survey = survey_of(program.metrics, program.metrics.metrics["format"])
        assert [row["n"] for row in client.surveys()] == [1]
        people = survey.oracle.privatize(np.repeat([0, 1], [150, 50]), rng=1)
        client.merge(survey.oracle.tally(people), survey, day=f"{system():%Y-%m-%d}")
        estimate = client.estimate(survey)
    assert estimate.n == 201
    with chromium() as browser, Visitor(browser, gateway.url) as visitor:
        page = visitor.open(f"{gateway.url}/#token={gateway.make_token('read')['token']}")
        page.get_by_role("link", name="wordy", exact=True).click()
        page.get_by_role("heading", name="Telemetry of wordy").wait_for()
        page.get_by_role("img", name="Shares of 4 values in 1 period").wait_for()
        page.get_by_text("As a table").click()
        shown = [float(cell.rstrip(" %")) for cell in page.locator("tbody tr td:nth-child(2)").all_text_contents()]
        assert shown == pytest.approx(100 * estimate.counts / 201, abs=0.006)
