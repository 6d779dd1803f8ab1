"""What the page around a framed survey learns, and the collector before a report: nothing of the answer or of typing.

The host is on another site, watches all that a browser shows it, and plays every state for every label. Visits that
differ in the label or in the typed text alone must look alike, to the host and on the wire.
"""

import numpy as np
import pytest
from playwright.sync_api import expect

from fldp.collector.http.page_files import files
from support.browser import DESK, Visitor
from support.collector_server import Server, specification
from support.embedding import Watcher, differences, host_page, host_server, recorded
from support.waiting import until

PHONE = {"width": 390, "height": 740}
LONG = (
    "Yes, type 2, which I treat with tablets, with injections, with a diet or in another way that is not listed here "
)
LABELS = [
    "No",
    "Yes, type 1, and I have known it since I was a child, or for more than ten years",
    LONG + "and that my doctor has advised me to follow for the rest of my life, every day",
    "Borderline or prediabetes, as far as somebody has told me",
    "W" * 200,
    "нет, 糖尿病 لا",
    "I would rather not say",
]
DIABETES = {**specification("diabetes"), "question": "Has a doctor told you that you have diabetes?", "labels": LABELS}
MANY = {
    **specification("illness"),
    "labels": [*LABELS, *(f"illness {number}" for number in range(40)), "hiv", "cancer"],
}
TEXT = {**specification("text", {"name": "cms", "epsilon": 1.0, "hashes": 64, "width": 64}), "domain": "strings"}
TEXT.pop("labels")
SEVERAL = {
    "name": "several",
    "title": "Your health",
    "description": "Your answers help to plan what is needed, where, and for how many people. " * 20 + "Thank you.",
    "questions": [
        {"name": "diabetes", "question": DIABETES["question"], "labels": LABELS},
        {
            "name": "weight",
            "question": "How much do you weigh?",
            "number": {"low": 30, "high": 200, "bins": 8, "unit": "kg", "apart": [80]},
        },
        {"name": "illness", "question": "Which illness do you have?", "labels": MANY["labels"], "optional": True},
        {"name": "height", "question": "How tall are you?", "number": {"low": 0, "high": 250, "bins": 8, "unit": "cm"}},
        {"name": "mother", "question": "Has your mother been told so?", "labels": LABELS},
    ],
    "tables": {"cross": [["diabetes", "weight"]]},
    "oracle": {"epsilon": 1.0},
}
NUMBER = {**specification("number", {"epsilon": 1.0}), "number": {"low": 0, "high": 200, "bins": 8, "unit": "kg"}}
NUMBER.pop("labels")
DRAWN = {**SEVERAL, "name": "drawn", "questions": [{**SEVERAL["questions"][0], "name": name} for name in "abc"]}
DRAWN["tables"] = {"ask": "drawn"}
ANSWERS = [(0, "45", "hiv", "9"), (6, "81.25", "zzzz zzzz zzzz zzzz zzzz zzzz", "1" * 60)]
CLIP = {"clipped": True}
TYPED = ["d", "hiv", "illness 3", "zzzz zzzz zzzz zzzz zzzz zzzz zzzz zzzz zzzz", "Wi" * 300]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    started = Server(tmp_path_factory.mktemp("collector"))
    yield started
    assert started.stop() == 0
    assert not [line for line in started.logged if line["level"] == "error"]


@pytest.fixture(scope="module")
def wire(server):
    with recorded(server.port) as way:
        yield way


@pytest.fixture(scope="module")
def host():
    with host_server() as website:
        yield website


@pytest.fixture
def stage(browser, server, wire, host):
    return Stage(browser, server, wire, host)


class Stage:
    """Plays visits to a survey on the host."""

    def __init__(self, browser, server, wire, host):
        self.browser, self.server, self.wire, self.host = browser, server, wire, host

    def publish(self, fields, **collect):
        """Publish a survey that the host may show."""
        rules = {**fields.get("collect", {}), **collect, "origins": [self.host.url]}
        return self.server.publish({**fields, "collect": rules})

    def visit(self, fields, play, *, window=DESK, clipped=False, planted=None, forgiven=()):
        """Play one visit with a new browser profile, and return what it told."""
        self.host.page = host_page(self.wire.url, fields["name"], clipped=clipped)
        with Visitor(self.browser, self.wire.url, self.host.url, viewport=window) as visitor:
            if planted:
                plant(visitor.context, *planted)
            watcher = Watcher(lambda: visitor.open(self.host.url), self.wire)
            opened(watcher)
            play(watcher)
            for text in forgiven:
                visitor.forgive(text)
            return watcher.told()


def plant(context, file, before, after):
    """Serve a file of the pages with a defect in it."""
    text = files()[file].data.decode()
    if before not in text:
        raise LookupError(f"{file} has no {before!r}: plant the defect elsewhere")  # an assertion would be expected
    headers = {"Content-Type": files()[file].kind}
    context.route(f"**/static/{file}", lambda route: route.fulfill(body=text.replace(before, after), headers=headers))


# ------------------------------------------------------------------------------------------------ what a person does


def heading(watcher, text):
    watcher.frame.get_by_role("heading", name=text, exact=True).wait_for()


def opened(watcher):
    watcher.page.wait_for_function("watched().some((line) => line.includes('\"message\"'))")
    watcher.frame.get_by_role("heading", level=1).wait_for()
    watcher.frame.locator("main:not([aria-busy])").wait_for()
    watcher.step("opened")


def press(watcher, *keys):
    for key in keys:
        watcher.page.keyboard.press(key)


def enter(watcher):
    """Go into the frame with the keyboard, as far as to the first thing in it."""
    watcher.page.locator("#before").focus()
    watcher.page.keyboard.down("Tab")
    watcher.frame.locator("body :focus").wait_for(state="attached")
    watcher.step("entered")
    watcher.page.keyboard.up("Tab")  # now that it goes to the frame


def choose(watcher, place, name="chosen"):
    """Choose a label with the keyboard."""
    press(watcher, "Space", *["ArrowDown"] * place)
    watcher.frame.locator(".choice").nth(place).locator(":checked").wait_for(state="attached")
    watcher.step(name)


def roll(watcher, name):
    """Turn the wheel over the frame, farther than it can scroll."""
    watcher.page.mouse.move(150, 120)
    for way in (9000, 9000):
        watcher.page.mouse.wheel(0, way)
    watcher.step(f"{name}, wheel")


def roll_back(watcher, field):
    """Turn the wheel until a field takes text again: a browser with little time drops turns that follow others."""
    writable = watcher.frame.locator(f"{field}:not([readonly])")

    def rolled_back():
        watcher.page.mouse.wheel(0, -20_000)
        watcher.page.wait_for_timeout(100)
        return writable.is_visible()

    until(rolled_back, 180)


def submit(watcher):
    press(watcher, "Tab", "Enter")


def report(watcher, name="This would be sent"):
    heading(watcher, name)
    watcher.step(name)
    press(watcher, "Tab")
    watcher.step(f"{name}, tab")
    roll(watcher, name)


def send(watcher):
    press(watcher, "Tab", "Enter")


def usual(place):
    """The whole way, and another visit."""

    def play(watcher):
        enter(watcher)
        choose(watcher, place)
        roll(watcher, "chosen")
        submit(watcher)
        report(watcher)
        send(watcher)
        report(watcher, "Thank you, this was sent")
        watcher.reload()
        opened(watcher)
        heading(watcher, "Thank you, this was sent")
        watcher.step("again")

    return play


def drawn(place):
    """As far as to the report: where a leak is planted, it shows there."""

    def play(watcher):
        enter(watcher)
        choose(watcher, place)
        submit(watcher)
        report(watcher)

    return play


def unsent(place):
    """A report that is drawn, seen again on another visit, and not sent."""

    def play(watcher):
        enter(watcher)
        choose(watcher, place)
        submit(watcher)
        report(watcher)
        watcher.reload()
        opened(watcher)
        enter(watcher)
        press(watcher, "Tab", "Tab", "Enter")
        heading(watcher, "Nothing was sent")
        watcher.step("not sent")

    return play


def offline(place):
    """A connection that breaks before the report is sent, and comes back."""

    def play(watcher):
        enter(watcher)
        choose(watcher, place)
        submit(watcher)
        report(watcher)
        watcher.page.context.set_offline(True)
        send(watcher)
        report(watcher, "Not sent yet")
        watcher.page.context.set_offline(False)
        heading(watcher, "Thank you, this was sent")
        watcher.step("sent")

    return play


def taken_back(place):
    """A report that is sent and taken back, and another visit."""

    def play(watcher):
        enter(watcher)
        choose(watcher, place)
        submit(watcher)
        report(watcher)
        send(watcher)
        report(watcher, "Thank you, this was sent")
        press(watcher, "Tab", "Enter")
        watcher.frame.get_by_role("dialog").wait_for()
        watcher.step("asked")
        press(watcher, "Shift+Tab", "Enter")
        report(watcher, "Your report was taken back")
        watcher.reload()
        opened(watcher)
        watcher.step("again")

    return play


def asked(place, go_on):
    """A survey of two labels, about which the page asks first."""

    def play(watcher):
        enter(watcher)
        choose(watcher, place)
        submit(watcher)
        watcher.frame.get_by_role("dialog").wait_for()
        watcher.step("asked")
        press(watcher, *(["Shift+Tab"] if go_on else []), "Enter")
        heading(watcher, "This would be sent" if go_on else "Not answered")
        watcher.step("said")

    return play


def refused(place):
    """A survey that would give away more than the limits allow."""

    def play(watcher):
        enter(watcher)
        choose(watcher, place)
        submit(watcher)
        heading(watcher, "Not answered")
        watcher.step("refused")
        roll(watcher, "refused")

    return play


def allowed(place):
    """A survey whose report may name the answer: the page asks for that before anything else."""

    def play(watcher):
        enter(watcher)
        press(watcher, "Space", "Tab")
        choose(watcher, place)
        submit(watcher)
        report(watcher)
        send(watcher)
        report(watcher, "Thank you, this was sent")

    return play


def searching(text):
    """Type into the search, with all keys that move the caret, and choose something else."""

    def play(watcher):
        enter(watcher)
        watcher.frame.locator("#search:not([readonly])").wait_for()
        watcher.page.keyboard.type(text)
        expect(watcher.frame.locator("#search")).to_have_value(text)
        watcher.step("typed")
        roll(watcher, "typed")
        roll_back(watcher, "#search")
        press(watcher, "Home", "End", "Enter", "Control+A", "Delete", "Tab", "Space")
        watcher.step("cleared")
        submit(watcher)
        report(watcher)

    return play


def writing(text):
    """Write an answer, and send it."""

    def play(watcher):
        enter(watcher)
        watcher.frame.locator("#text:not([readonly])").wait_for()
        watcher.page.keyboard.type(text)
        watcher.step("typed")
        roll(watcher, "typed")
        roll_back(watcher, "#text")
        press(watcher, "Home", "End", "Enter")
        report(watcher)
        send(watcher)
        report(watcher, "Thank you, this was sent")

    return play


def choose_last(watcher, place):
    """Go to the last question, choose a label, and look at the field before it once more."""
    press(watcher, "Tab", "Space", *["ArrowDown"] * place)
    last = watcher.frame.locator("fieldset").last
    last.locator(".choice").nth(place).locator(":checked").wait_for(state="attached")
    watcher.step("chosen at last")
    press(watcher, "Shift+Tab")
    watcher.step("back")
    press(watcher, "Tab")
    watcher.step("on")


def several(answers):
    """Several questions on one page, answered with the keyboard; and another visit."""
    place, weight, illness, height = answers

    def write(watcher, field, text):
        watcher.frame.locator(f"{field}:not([readonly])").wait_for()
        watcher.page.keyboard.type(text)
        expect(watcher.frame.locator(field)).to_have_value(text)
        watcher.step(f"typed into {field}")

    def play(watcher):
        enter(watcher)
        choose(watcher, place)
        press(watcher, "Tab")
        write(watcher, "#q1-number", weight)
        press(watcher, "Tab")
        write(watcher, "#q2-search", illness)
        press(watcher, "Tab")
        watcher.step("at the choices")
        press(watcher, "Tab")
        write(watcher, "#q3-number", height)
        choose_last(watcher, place // 2)
        roll(watcher, "answered")
        submit(watcher)
        report(watcher)
        send(watcher)
        report(watcher, "Thank you, this was sent")
        watcher.reload()
        opened(watcher)
        heading(watcher, "Thank you, this was sent")
        watcher.step("again")

    return play


def glimpsed(answers):
    """Go through several questions, some of them without an answer, where the host shows a part of the frame only."""
    place, *_ = answers

    def play(watcher):
        enter(watcher)
        choose(watcher, place)
        for stop in ("weight", "search", "choices", "height"):
            press(watcher, "Tab")
            watcher.step(stop)
        choose_last(watcher, place // 2)
        submit(watcher)
        watcher.step("lacking")
        press(watcher, "1")
        watcher.step("typed")

    return play


def begun(place):
    """Begin where chance chooses one of three like questions, and answer it."""

    def play(watcher):
        enter(watcher)
        press(watcher, "Enter")
        watcher.frame.locator("fieldset").wait_for()
        watcher.step("begun")
        press(watcher, "Tab")
        choose(watcher, place)
        submit(watcher)
        report(watcher)
        send(watcher)
        report(watcher, "Thank you, this was sent")

    return play


def measured(text):
    """Write a number, and send it."""

    def play(watcher):
        enter(watcher)
        watcher.frame.locator("#number:not([readonly])").wait_for()
        watcher.page.keyboard.type(text)
        expect(watcher.frame.locator("#number")).to_have_value(text)
        watcher.step("typed")
        press(watcher, "Enter")
        report(watcher)
        send(watcher)
        report(watcher, "Thank you, this was sent")

    return play


def kept_out(text):
    """Type while the host hides a part of the field."""

    def play(watcher):
        enter(watcher)
        watcher.page.keyboard.type(text)
        press(watcher, "Home", "End")
        watcher.step("typed")
        watcher.page.evaluate("scrollTo(0, 0), (box.scrollLeft = box.scrollTop = 0)")
        watcher.step("scrolled back")
        watcher.page.keyboard.type(text[:1])
        watcher.step("typed again")
        assert watcher.frame.locator("input").first.input_value() == ""

    return play


# ---------------------------------------------------------------------------------------------- all visits look alike


def alike(visit, answers, *, scrolls=False, again=2):
    """Fail where visits that differ in the answer alone differ in anything that somebody sees, and differ again.

    A host that shows the whole frame is not scrolled at all. A browser with little time may leave out a place where it
    scrolls, or ask anew for a file that it has not kept yet, whatever the answer; so a difference counts if it is there
    each time. A planted one is there whenever it is looked for.
    """
    first, *others = map(visit, answers)
    assert scrolls or "scroll" not in first
    assert 1 <= len(first["message"]) <= 3  # one for each time that the page was loaded, and one where it was sent
    for answer, other in zip(answers[1:], others, strict=True):
        seen = differences(first, other)
        for _ in range(again):
            seen = seen and differences(visit(answers[0]), visit(answer))
        assert not seen


def test_the_host_is_told_constants_alone(stage):
    stage.publish(DIABETES)
    told = stage.visit(DIABETES, usual(2))
    height, sent = '{"fldp":"diabetes","height":640}', '{"fldp":"diabetes","sent":true}'
    assert told["message"] == [f'["message","window",{data}]' for data in (height, sent, height)]
    state = told["steps"][-1][1]
    assert '"unreadable":true' in state
    assert '"frames":[1,0]' in state


def test_what_is_not_sent_is_not_told(stage):
    stage.publish(DIABETES)
    told = stage.visit(DIABETES, unsent(2))
    assert not [line for line in told["message"] if "sent" in line]


DENIED = """
if (parent !== self) Object.defineProperty(window, "indexedDB", { get() { %s } });
"""


@pytest.mark.parametrize(
    "denial", ["throw new DOMException('denied', 'SecurityError')", "return null"], ids=["throws", "is missing"]
)
@pytest.mark.parametrize("window", [DESK, PHONE], ids=["desk", "phone"])
def test_where_a_frame_may_keep_nothing_there_is_a_link_to_a_tab(stage, denial, window):
    survey = stage.publish({**DIABETES, "name": "denied"}, submit="ticket")
    before = stage.server.counts()[survey.version]
    with stage.server.admin as client:
        (ticket,) = client.post(f"/v1/versions/{survey.version}/tickets", json={"count": 1}).json()["tickets"]
    stage.host.page = host_page(stage.wire.url, f"denied#ticket={ticket}")
    with Visitor(stage.browser, stage.wire.url, stage.host.url, viewport=window) as visitor:
        visitor.context.add_init_script(DENIED % denial)
        page = visitor.open(stage.host.url)
        frame = page.frame_locator("iframe")
        with visitor.context.expect_page() as opened_page:
            frame.get_by_role("link", name="Answer in a tab of its own").click()
        tab = opened_page.value
        tab.get_by_role("radio", name="No", exact=True).check()
        tab.get_by_role("button", name="See my report").click()
        tab.get_by_role("button", name="Send this report").click()
        tab.get_by_role("heading", name="Thank you, this was sent").wait_for()
        assert "ticket" not in tab.url
    assert stage.server.counts()[survey.version] == before + 1


@pytest.mark.parametrize("window", [DESK, PHONE], ids=["desk", "phone"])
def test_no_label_can_be_told_from_another(stage, window):
    stage.publish(DIABETES)
    alike(lambda place: stage.visit(DIABETES, usual(place), window=window), (0, 2, 4))


def test_no_label_at_all_can_be_told_from_another(stage):
    """Every label, as far as to its report."""
    stage.publish(DIABETES)
    alike(lambda place: stage.visit(DIABETES, drawn(place)), range(len(LABELS)))


def test_not_even_by_a_host_that_hides_most_of_the_frame(stage):
    """A browser scrolls such a host to whatever takes the focus."""
    stage.publish(DIABETES)
    alike(lambda place: stage.visit(DIABETES, usual(place), clipped=True), (0, 2, 4), scrolls=True)


@pytest.mark.parametrize("play", [unsent, offline, taken_back])
def test_nor_by_a_report_that_is_not_sent_or_taken_back(stage, play):
    stage.publish(DIABETES)
    forgiven = ["ERR_INTERNET_DISCONNECTED"] if play is offline else []
    alike(lambda place: stage.visit(DIABETES, play(place), window=PHONE, forgiven=forgiven), (0, 2))


@pytest.mark.parametrize("go_on", [True, False])
def test_nor_by_the_box_that_asks_first(stage, go_on):
    few = {**specification("few", {"name": "grr", "epsilon": 1.0}), "labels": ["No", LABELS[2]]}
    stage.publish(few)
    alike(lambda place: stage.visit(few, asked(place, go_on), window=PHONE), (0, 1))


def test_nor_by_a_refusal(stage):
    dear = {**DIABETES, "name": "dear", "oracle": {"name": "grr", "epsilon": 9.0}}
    stage.publish(dear)
    alike(lambda place: stage.visit(dear, refused(place)), (0, 2))


def test_nor_where_a_report_may_name_the_answer(stage):
    oracle = {"name": "urr", "epsilon": 1.0}
    bare = {**DIABETES, "name": "bare", "oracle": oracle, "sensitive": LABELS[:2]}
    stage.publish(bare)
    alike(lambda place: stage.visit(bare, allowed(place)), (0, 2, 6))


@pytest.mark.parametrize("window", [DESK, PHONE], ids=["desk", "phone"])
def test_no_search_can_be_told_from_another(stage, window):
    stage.publish(MANY)
    alike(lambda text: stage.visit(MANY, searching(text), window=window), TYPED[1:4])


@pytest.mark.parametrize("window", [DESK, PHONE], ids=["desk", "phone"])
def test_no_text_can_be_told_from_another(stage, window):
    stage.publish(TEXT)
    alike(lambda text: stage.visit(TEXT, writing(text), window=window), (TYPED[0], TYPED[2], TYPED[4]))


def test_no_answers_to_several_questions_can_be_told_from_others(stage):
    stage.publish(SEVERAL)
    alike(lambda answers: stage.visit(SEVERAL, several(answers), window=PHONE), ANSWERS)


def test_nor_where_the_host_hides_most_of_several_questions(stage):
    stage.publish(SEVERAL)
    alike(lambda answers: stage.visit(SEVERAL, glimpsed(answers), clipped=True), ANSWERS, scrolls=True)


@pytest.mark.parametrize("how", [{}, CLIP], ids=["whole", "clipped"])
def test_nor_where_chance_chooses_the_question(stage, how):
    stage.publish(DRAWN)
    alike(lambda place: stage.visit(DRAWN, begun(place), **how), (0, 2, 4), scrolls=bool(how))


@pytest.mark.parametrize("window", [DESK, PHONE], ids=["desk", "phone"])
def test_no_number_can_be_told_from_another(stage, window):
    """Numbers inside and outside the range, of few digits and of many."""
    stage.publish(NUMBER)
    alike(lambda text: stage.visit(NUMBER, measured(text), window=window), ("8", "99.125", "123456789"))


def test_a_planted_leak_of_several_answers_is_seen(stage):
    """Without a place to begin from, the host would follow to where the last answer has scrolled the frame."""
    planted = ("answer/frame.js", 'if (isFramed && key === "Tab") document.body.scrollTop = 0;', "void key;")
    stage.publish(SEVERAL)
    one, other = (stage.visit(SEVERAL, glimpsed(answers), clipped=True, planted=planted) for answers in ANSWERS)
    assert differences(one, other)


@pytest.mark.parametrize("fields", [TEXT, MANY, NUMBER], ids=["text", "search", "number"])
def test_nothing_can_be_typed_where_the_host_hides_the_field(stage, fields):
    stage.publish(fields)
    texts = ["8", "81.25"] if fields is NUMBER else ["a", "a text of forty letters or even more...."]
    alike(lambda text: stage.visit(fields, kept_out(text), clipped=True), texts, scrolls=True)


TIMED = """async (place) => {
  const until = (find) => new Promise((done) => {
    const look = () => find() && (observer.disconnect(), done(find()));
    const observer = new MutationObserver(look);
    observer.observe(document, { childList: true, subtree: true });
    look();
  });
  const button = (words) => [...document.querySelectorAll("button")].find(({ textContent }) => textContent === words);
  const form = await until(() => document.querySelector("form"));
  document.querySelectorAll(".choice input")[place].click();
  const times = [performance.now()];
  form.requestSubmit();
  const send = await until(() => button("Send this report"));
  times.push(performance.now());
  const real = window.fetch;
  const posted = new Promise((done) => (window.fetch = (...all) => (done(performance.now()), real(...all))));
  const start = performance.now();
  send.click();
  times.push(await posted);
  await until(() => document.body.textContent.includes("Thank you"));
  return [times[1] - times[0], times[2] - start];
}"""
FORGET = """new Promise((done) => {
  const deleting = indexedDB.deleteDatabase("fldp");
  deleting.onsuccess = done;
})"""
TIMES = 25


def rank_score(one, other):
    """Return the z-score of the Wilcoxon rank-sum test."""
    wins = np.sign(np.subtract.outer(one, other)).sum() / 2
    pairs = len(one) * len(other)
    return wins / (pairs * (len(one) + len(other) + 1) / 12) ** 0.5


def test_the_time_to_draw_and_to_send_does_not_depend_on_the_label(browser, server):
    """The labels take turns, so that a busy machine slows down both; the false-alarm rate is below 2e-4."""
    fields = {**DIABETES, "name": "timed"}
    server.publish(fields)
    times = {0: [], 4: []}
    with Visitor(browser, server.url) as visitor:
        page = visitor.open(f"{server.url}/s/timed")
        for turn in range(2 * TIMES):
            place = (0, 4)[(turn + turn // 2) % 2]
            times[place].append(page.evaluate(TIMED, place))
            page.evaluate(FORGET)
            page.reload()
    for part in (0, 1):
        assert abs(rank_score(*([pair[part] for pair in times[place]] for place in times))) < 4


# ----------------------------------------------------------------------------------------- a leak would have been seen

SPOT = "  await showReport(survey, person, answer, answer.repeated"  # in answer.js, where the label is known
LONGER = "if (label?.length > 9)"


def of_label(code):
    """Plant something where the answer is known."""
    return "answer/answer.js", SPOT, code + ";" + SPOT


LEAKS = {
    "height": (*of_label("new ResizeObserver(() => parent.postMessage(main.offsetHeight, '*')).observe(main)"), {}),
    "number of messages": (*of_label(f"{LONGER} parent.postMessage({{ fldp: name, height: 640 }}, '*')"), {}),
    "history": (*of_label(f"{LONGER} history.pushState(null, '')"), {}),
    "frames": (*of_label(f"{LONGER} document.body.append(element('iframe'))"), {}),
    "request": (*of_label(f"{LONGER} fetch('/static/shared/card.js')"), {}),
    "size of a request": (
        *of_label("fetch('/static/shared/card.js', { headers: { 'x-a': `${label ?? ''}`.replace(/./gs, 'a') } })"),
        {},
    ),
    "focus": (*of_label(f"{LONGER} setTimeout(() => parent.focus(), 0)"), {}),
    "scroll into view": (
        "answer/answer.js",
        "begin(title);",
        "begin(title), main.querySelectorAll('h2')[2]?.scrollIntoView({ block: 'nearest' });",
        CLIP,
    ),
    "place of radio buttons": ("answer/frame.css", "position: fixed;\n  inset: 0 auto 0 0;", "", CLIP),
    "place of the bytes": ("answer/answer.js", "    panel(words.report", "    label, panel(words.report", CLIP),
    "chained scrolling": ("answer/frame.css", "overscroll-behavior: contain; /*", "/*", {}),
}


@pytest.mark.parametrize("leak", LEAKS)
def test_a_planted_leak_is_seen(stage, leak):
    *planted, how = LEAKS[leak]
    stage.publish(DIABETES)
    with pytest.raises(AssertionError):
        alike(
            lambda place: stage.visit(DIABETES, drawn(place), planted=planted, **how),
            (0, 2),
            scrolls="clipped" in how,
            again=int("clipped" in how),
        )


TYPING_LEAKS = {
    "messages": (
        MANY,
        searching,
        "answer/choices.js",
        "  function show(wanted) {",
        "  function show(wanted) { parent.postMessage(1, '*');",
        {},
    ),
    "caret": (TEXT, writing, "answer/frame.js", "  if (!isFramed) return null;", "  return null;", {"clipped": True}),
}


@pytest.mark.parametrize("leak", TYPING_LEAKS)
def test_a_planted_leak_of_typing_is_seen(stage, leak):
    fields, play, *planted, how = TYPING_LEAKS[leak]
    stage.publish(fields)
    texts = ["d", "zzzz " * 12]
    with pytest.raises(AssertionError):
        alike(
            lambda text: stage.visit(fields, play(text), planted=planted, **how),
            texts,
            scrolls="clipped" in how,
            again=int("clipped" in how),
        )
