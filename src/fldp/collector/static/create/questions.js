// A new survey of several questions: add, order and cross them; it is published, or taken along as a file.
import { privacyCard } from "../answer/learned.js";
import { NAMES } from "../answer/texts/texts.js";
import { field, selected } from "../dashboard/controls.js";
import { number, Survey } from "../fldp.js";
import { analystWords } from "../shared/analyst_words.js";
import { card } from "../shared/card.js";
import { copyable } from "../shared/copy.js";
import { element, list, notice } from "../shared/dom.js";
import { count } from "../shared/format.js";
import { oraclesOf } from "../shared/oracles.js";
import { collector, get, post, save } from "../shared/session.js";
import { mistakesOf } from "./create.js";
import { LEVELS } from "./levels.js";
import { answering } from "./preview.js";
import { mistakeOf, questionCard } from "./question_card.js";
import { named, toml } from "./questions_to_survey.js";
import { freeName, slugOf } from "./slug.js";

/** @import { View } from "../dashboard/dashboard.js" */
/** @import { QuestionPlan, SurveyRow } from "../shared/replies.d.ts" */
/** @import { SeveralSpecification } from "./questions_to_survey.js" */

const MINIMUM = 100;
const MAX_QUESTIONS = 64;
const SIGMAS = 1.96; // of a 95 % interval
const CROSSES = [
  ["none", "none: every question for itself"],
  ["all", "all pairs"],
  ["some", "the pairs that I choose"],
];
const ASKS = [
  ["all", "all questions"],
  ["drawn", "only those that their report is about"],
];
const SUBMIT = [
  ["open", "everybody who has the link"],
  ["ticket", "only people I invite, each by a link of their own"],
];
const PROTECTION = Object.entries(LEVELS).map(([name, epsilon]) => [String(epsilon), `${name} (epsilon ${epsilon})`]);

/**
 * Make the view with the form.
 *
 * @returns {Promise<View>}
 */
export async function questionsFormView() {
  /** @type {SurveyRow[]} */
  const rows = await get("v1/surveys");
  const taken = new Set(rows.map(({ name }) => name));
  const title = element("input", { id: "title", type: "text", autocomplete: "off", maxlength: 2000 });
  const language = selected("language", NAMES, "");
  const cross = selected("crosses", CROSSES, "none");
  const ask = selected("ask", ASKS, "all");
  const submit = selected("submit", SUBMIT, "open");
  const epsilon = selected("epsilon", PROTECTION, String(LEVELS.medium));
  const users = element("input", { id: "users", type: "number", min: 1, step: 1, value: 10_000 });
  const cards = element("div");
  const pairs = element("div", { class: "pairs" });
  const pairsField = element(
    "fieldset",
    { hidden: true },
    element("legend", {}, "Pairs of questions to see together"),
    pairs,
  );
  const problem = element("div", { "aria-live": "assertive" });
  const shown = element("div", { "aria-live": "polite" });
  const add = element("button", { type: "button" }, "Add a question");
  const look = element("button", { type: "submit", class: "primary" }, "Check this survey");
  /** @type {{ id: string, card: ReturnType<typeof questionCard> }[]} */
  let asked = [];
  /** @type {Set<string>} */
  const crossed = new Set(); // pairs of identifiers, in the order of making
  let numbered = 0;

  /** Show questions and pairs in their order. */
  function arrange() {
    cards.replaceChildren(...asked.map(({ card }) => card.node));
    asked.forEach(({ card }, place) => {
      card.place(place, asked.length);
    });
    add.disabled = asked.length >= MAX_QUESTIONS;
    showPairs();
    shown.replaceChildren();
  }

  function showPairs() {
    pairsField.hidden = cross.value !== "some";
    if (pairsField.hidden) return;
    pairs.replaceChildren(...everyPair().map(([a, b]) => pairLine(a, b)));
  }

  const everyPair = () =>
    asked.flatMap((first, place) => asked.slice(place + 1).map((second) => /** @type {const} */ ([first, second])));

  /** @param {{ id: string }[]} two */
  const keyOf = (...two) =>
    two
      .map(({ id }) => id)
      .sort()
      .join(" ");

  /**
   * @param {(typeof asked)[number]} a
   * @param {(typeof asked)[number]} b
   */
  function pairLine(a, b) {
    const key = keyOf(a, b);
    const box = element("input", { type: "checkbox", id: `pair-${key.replace(" ", "-")}` });
    box.checked = crossed.has(key);
    box.addEventListener("change", () => (box.checked ? crossed.add(key) : crossed.delete(key)));
    const words = [a, b].map((one) => one.card.read().question || `Question ${asked.indexOf(one) + 1}`);
    return element("div", { class: "field ticked" }, box, element("label", { for: box.id }, words.join(" × ")));
  }

  function addQuestion() {
    numbered += 1;
    const id = `question${numbered}`;
    const move = (/** @type {number} */ way) => () => {
      const place = asked.findIndex((one) => one.id === id);
      const [one] = asked.splice(place, 1);
      asked.splice(place + way, 0, one);
      arrange();
      one.card.focus();
    };
    const remove = () => {
      asked = asked.filter((one) => one.id !== id);
      arrange();
      asked[0].card.focus();
    };
    asked.push({ id, card: questionCard(id, { up: move(-1), down: move(1), remove }) });
    arrange();
  }

  /** @returns {SeveralSpecification} */
  function specification() {
    const questions = named(asked.map(({ card }) => card.read()));
    const nameOf = (/** @type {(typeof asked)[number]} */ one) => questions[asked.indexOf(one)].name;
    const chosen = everyPair().filter((pair) => crossed.has(keyOf(...pair)));
    const list = chosen.map(([a, b]) => /** @type {[string, string]} */ ([nameOf(a), nameOf(b)]));
    const crosses =
      cross.value === "all"
        ? { cross: /** @type {const} */ ("all") }
        : list.length && cross.value === "some"
          ? { cross: list }
          : {};
    const tables = { ...crosses, ...(ask.value === "drawn" ? { ask: /** @type {const} */ ("drawn") } : {}) };
    const own = title.value.trim();
    return {
      name: freeName(slugOf(own || questions[0].question), taken),
      ...(own ? { title: own } : {}),
      ...(language.value ? { language: language.value } : {}),
      questions,
      ...(Object.keys(tables).length ? { tables } : {}),
      oracle: { epsilon: Number(epsilon.value) },
      collect: { submit: submit.value, retention: "raw", minimum: MINIMUM, origins: [] },
    };
  }

  /** @param {readonly string[]} lines */
  const complain = (lines) => problem.replaceChildren(notice("bad", ...lines.map((line) => element("p", {}, line))));

  /** Check what was entered, plan it, and show what would be published. */
  async function review() {
    const mistakes = asked.map(({ card }, place) => mistakeOf(card.read(), place)).filter((line) => line !== null);
    shown.replaceChildren();
    if (mistakes.length) return complain(mistakes);
    problem.replaceChildren();
    const wanted = specification();
    const { questions, tables, oracle } = wanted;
    const people = Math.max(1, Math.round(users.valueAsNumber || 1));
    /** @type {QuestionPlan} */
    const plan = await post("v1/plan", { questions, ...(tables ? { tables } : {}), ...oracle, users: people });
    const pinned = {
      ...wanted,
      ...(tables?.ask ? { tables: { ask: tables.ask } } : { tables: undefined }),
      oracle: plan.oracle,
    };
    const survey = await Survey.of(pinned, collector, await oraclesOf(pinned), { number });
    const publish = element("button", { type: "button", class: "primary" }, "Publish this survey");
    publish.addEventListener("click", async () => {
      publish.disabled = true;
      await published(wanted).catch((error) => complain(["Not published.", ...mistakesOf(error)]));
      publish.disabled = false;
    });
    const file = toml(wanted);
    const keep = () => save(new Blob([file], { type: "application/toml" }), `${wanted.name}.toml`);
    const heading = element("h2", { tabindex: "-1" }, "What would be published");
    shown.replaceChildren(
      element(
        "section",
        { class: "panel" },
        heading,
        list([
          `Its page: ${collector}s/${wanted.name}`,
          ...planLines(
            plan,
            questions.map(({ name }) => name),
          ),
        ]),
        await answering(survey),
        element("p", { class: "small muted" }, "Version: ", element("code", {}, survey.version)),
        element(
          "div",
          { class: "actions" },
          publish,
          element("button", { type: "button", click: keep }, "Save as a file"),
        ),
        element("details", {}, element("summary", {}, "The file"), copyable("The file of the survey", file)),
        element(
          "details",
          {},
          element("summary", {}, "What a report gives away"),
          privacyCard(card(survey.oracle, analystWords)),
        ),
      ),
    );
    heading.focus();
    return undefined;
  }

  const form = element(
    "form",
    { class: "stack", novalidate: true },
    element("div", { class: "panel" }, field("Title of the survey", title), field("Language of the page", language)),
    cards,
    element("div", { class: "actions" }, add),
    element(
      "div",
      { class: "panel" },
      field("Cross-tables, which show questions together", cross),
      pairsField,
      field("How strongly each person is protected, for all answers together", epsilon),
      field("How many people will answer, about", users),
      field("Each person is asked", ask),
      field("Who may answer", submit),
    ),
    problem,
    element("div", { class: "actions" }, look),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    look.disabled = true;
    await review().catch((error) => complain(mistakesOf(error)));
    look.disabled = false;
  });
  form.addEventListener("input", () => shown.replaceChildren()); // what is shown is what would be published
  cross.addEventListener("change", showPairs);
  pairs.addEventListener("input", (event) => event.stopPropagation());
  cards.addEventListener("change", showPairs);
  add.addEventListener("click", () => {
    addQuestion();
    asked[asked.length - 1].card.focus();
  });
  addQuestion();
  addQuestion();
  const one = element("p", {}, element("a", { href: "#/new" }, "A survey of one question"));
  return { heading: "New survey of several questions", content: [one, form, shown], refresh: async () => {} };
}

/**
 * Publish a survey, and go to it.
 *
 * @param {SeveralSpecification} specification
 */
async function published(specification) {
  /** @type {{ name: string, version: string }} */
  const { name, version } = await post("v1/surveys", specification);
  location.hash = `#/survey/${name}/${version}`;
}

/**
 * Say what to expect with this number of people.
 *
 * @param {QuestionPlan} plan
 * @param {readonly string[]} names
 */
function planLines({ rows, users, bits, eta, gives_away: told, views, oracle }, names) {
  const reach = (/** @type {number} */ stderr) => `± ${+(100 * SIGMAS * stderr).toPrecision(2)} points`;
  const line = (/** @type {QuestionPlan["rows"][number]} */ { questions, stderr, smallest_association: least }) => {
    const what = questions.map((place) => names[place]).join(" × ");
    if (least === undefined) return `${what}: a share is known to ${reach(stderr)}`;
    const strength =
      least < 1
        ? `an association of Cramér's V ${least.toFixed(2)} is found in four surveys of five`
        : "too few to find an association";
    return `${what}: a cell is known to ${reach(stderr)}, ${strength}`;
  };
  const people = views.map((view) => view.people);
  const most = rows.slice(0, MAX_LINES);
  return [
    `One report for all questions, epsilon ${oracle.epsilon}, eta ${eta}. ${told}`,
    `${count(views.length)} views, with ${count(Math.min(...people))} to ${count(Math.max(...people))} of ${count(users)} people each; ${count(bits)} bits a report.`,
    ...most.map(line),
    ...(rows.length > MAX_LINES ? [`and ${count(rows.length - MAX_LINES)} more tables`] : []),
  ];
}

const MAX_LINES = 24;
