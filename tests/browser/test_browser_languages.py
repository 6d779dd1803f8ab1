"""The answer page in the language that a survey declares."""

import pytest

from support.browser import DESK, PHONE, Visitor, accessible
from support.collector_server import Server, specification

KEYS = """async () => {
  const files = await Promise.all(["en", "de"].map((name) => import(`/static/answer/texts/${name}.js`)));
  const kind = (value) => (typeof value === "function" ? `function of ${value.length}` : typeof value);
  const flat = (texts, path = "") => Object.entries(texts).flatMap(([key, value]) =>
    typeof value === "object" ? flat(value, `${path}${key}.`) : [[path + key, kind(value)]]);
  const strings = (texts) => Object.values(texts).flatMap((value) =>
    typeof value === "string" ? [value] : typeof value === "object" ? strings(value) : []);
  const [en, de] = [files[0].en, files[1].de];
  return { keys: [flat(en), flat(de)], strings: [strings(en), strings(de)] };
}"""
LABELS = ["zu Fuß", "Fahrrad", "Bus", "Auto"]
GERMAN = {
    "name": "weg",
    "title": "Wege zur Arbeit",
    "question": "Wie kommen Sie zur Arbeit?",
    "labels": LABELS,
    "language": "de",
    "oracle": {"name": "fhr", "epsilon": 1.0},
}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("collector"))
    yield server
    assert server.stop() == 0


@pytest.fixture
def visitor(browser, server):
    with Visitor(browser, server.url) as visitor:
        yield visitor


def texts(visitor, server):
    return visitor.open(f"{server.url}/").evaluate(KEYS)


def test_both_languages_have_the_same_keys(visitor, server):
    shown = texts(visitor, server)
    assert shown["keys"][0] == shown["keys"][1]
    assert len(shown["keys"][0]) > 90
    same = [one for one, other in zip(*shown["strings"], strict=True) if one == other]
    assert same == []


@pytest.mark.parametrize("look", [{}, {"viewport": PHONE, "color_scheme": "dark"}], ids=["desk", "phone, dark"])
def test_a_survey_in_german_is_answered_in_german(browser, server, look):
    survey = server.publish({**GERMAN, "name": f"weg-{len(look)}"})
    with Visitor(browser, server.url, **{"viewport": DESK, **look}) as visitor:
        english = [text for text in texts(visitor, server)["strings"][0] if len(text) > 8]
        page = visitor.open(f"{server.url}/s/{survey.name}")

        def check():
            page.get_by_text("Einzelheiten").click()
            accessible(page)
            said = page.locator("main").inner_text()
            assert [text for text in english if text in said] == []
            assert page.locator("html").get_attribute("lang") == "de"

        page.get_by_label("Fahrrad", exact=True).check()
        assert page.locator("main > p").first.inner_text() == GERMAN["title"]  # above the question
        check()
        page.get_by_role("button", name="Meinen Bericht ansehen").click()
        page.get_by_role("heading", name="Das würde gesendet").wait_for()
        check()
        page.get_by_role("button", name="Diesen Bericht senden").click()
        page.get_by_text("Sie haben an dieser Umfrage teilgenommen.").wait_for()
        check()
    assert server.counts()[survey.version] == 1


def test_what_the_client_wants_confirmed_is_said_in_german(visitor, server):
    server.publish({**GERMAN, "name": "ja-nein", "labels": ["ja", "nein"], "oracle": {"name": "grr", "epsilon": 1.0}})
    page = visitor.open(f"{server.url}/s/ja-nein")
    page.get_by_label("nein", exact=True).check()
    page.get_by_role("button", name="Meinen Bericht ansehen").click()
    page.get_by_text("sie hat nur 2 Antworten, weniger als 3").wait_for()
    page.get_by_role("button", name="Weiter").click()
    page.get_by_role("heading", name="Das würde gesendet").wait_for()


def test_other_languages_and_none_are_in_english(visitor, server):
    for name, declared in (("none", {}), ("other", {"language": "pt-BR"}), ("english", {"language": "en-GB"})):
        server.publish({**specification(name=name), **declared})
        page = visitor.open(f"{server.url}/s/{name}")
        page.get_by_role("button", name="See my report").wait_for()
        assert page.locator("html").get_attribute("lang") == "en"
    server.publish({**specification(name="austria"), "language": "de-AT"})
    page = visitor.open(f"{server.url}/s/austria")
    page.get_by_role("button", name="Meinen Bericht ansehen").wait_for()


def test_the_language_is_chosen_where_a_survey_is_made(visitor, server):
    page = visitor.open(f"{server.url}/#token={server.token}")
    page.get_by_role("link", name="New survey").click()
    page.get_by_label("Question").fill("Tee oder Kaffee?")
    page.get_by_label("Answers, one per line").fill("Tee\nKaffee\nWasser")
    page.get_by_label("Language of the page").select_option("Deutsch")
    page.get_by_role("link", name="Advanced: all settings").click()
    page.get_by_text("Version that would be published").wait_for()
    with page.expect_request("**/v1/surveys") as sent:
        page.get_by_role("button", name="Publish this survey").click()
    page.get_by_role("heading", name="Share").wait_for()
    assert sent.value.post_data_json["language"] == "de"
