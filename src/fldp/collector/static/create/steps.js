// A new survey in three steps: what to ask, how strongly to protect the answers, and what is about to be published.
import { NAMES } from "../answer/texts/texts.js";
import { field, selected } from "../dashboard/controls.js";
import { element, notice } from "../shared/dom.js";
import { count } from "../shared/format.js";
import { collector, get, messageOf, post } from "../shared/session.js";
import { mistakesOf } from "./create.js";
import { keepDraft } from "./draft.js";
import { described } from "./form_to_survey.js";
import { LEVELS, levelLine, levelLines, plannedLevels } from "./levels.js";
import { preview } from "./preview.js";
import { freeName, slugOf } from "./slug.js";
import { GOALS, linesOf, twiceText } from "./survey_fields.js";

/** @import { View } from "../dashboard/dashboard.js" */
/** @import { SurveyRow } from "../shared/replies.d.ts" */
/** @import { NumberRange } from "./form_to_survey.js" */
/** @import { Asked, Level } from "./levels.js" */

const STEPS = ["Question", "Protection", "Publish"];
const TITLES = ["What do you want to ask?", "How strongly are answers protected?", "Ready to publish?"];
const DEFAULT_LEVEL = "medium";
const MINIMUM = 100;
const PAUSE = 300; // milliseconds after the last key before the planner is asked
const KINDS = [
  ["labels", "one answer from a list"],
  ["number", "a number"],
];
const SUBMIT = [
  ["open", "everybody who has the link"],
  ["ticket", "only people I invite, each by a link of their own"],
];

/**
 * Return what is wrong with a question and its answers, or its range, or nothing.
 *
 * @param {string} question
 * @param {readonly string[]} answers
 * @param {NumberRange | null} range
 */
function mistakeOf(question, answers, range) {
  if (!question) return "Write a question.";
  if (range) return range.low < range.high ? null : "Write the range, the smaller number first.";
  if (answers.length < 2) return "Write at least two answers, one per line.";
  return twiceText(answers);
}

/** The fields of the first step, and the fields of later steps that are filled in. */
function fieldsOf() {
  return {
    question: element("input", { id: "question", type: "text", autocomplete: "off", maxlength: 2000 }),
    kind: selected("kind", KINDS, "labels"),
    labels: element("textarea", { id: "labels", rows: 6, spellcheck: "false" }),
    low: element("input", { id: "low", type: "number", step: "any", "aria-describedby": "range-hint" }),
    high: element("input", { id: "high", type: "number", step: "any", "aria-describedby": "range-hint" }),
    unit: element("input", { id: "unit", type: "text", autocomplete: "off", maxlength: 20 }),
    goal: selected("goal", GOALS, "distribution"),
    language: selected("language", NAMES, ""),
    users: element("input", { id: "users", type: "number", min: 1, step: 1, value: 10_000 }),
    submit: selected("submit", SUBMIT, "open"),
  };
}

/**
 * Make the view with the three steps.
 *
 * @returns {Promise<View>}
 */
export async function stepsView() {
  /** @type {SurveyRow[]} */
  const rows = await get("v1/surveys");
  const taken = new Set(rows.map(({ name }) => name));
  const inputs = fieldsOf();
  const address = element("p", { class: "small muted", role: "status" });
  const levels = element("div", { class: "choices" });
  const shown = element("div");
  const problem = element("div", { "aria-live": "assertive" });
  const progress = element("ol", { class: "steps" });
  const back = element("button", { type: "button" }, "Back");
  const on = element("button", { type: "submit", class: "primary" });
  let step = 0;
  let newest = 0;
  let timer = 0;
  let chosen = DEFAULT_LEVEL;
  /** @type {readonly Level[]} */
  let planned = [];

  const question = () => inputs.question.value.trim();
  const answers = () => linesOf(inputs.labels.value);
  const range = () => (inputs.kind.value === "number" ? rangeOf(inputs) : null);
  /** @returns {Asked} */
  const asked = () => ({ size: answers().length, number: range() });
  const users = () => Math.max(1, Math.round(inputs.users.valueAsNumber || 1));
  const name = () => freeName(slugOf(question()), taken);
  const level = () => /** @type {Level} */ (planned.find((one) => one.name === chosen));

  const listed = field("Answers, one per line, in the order in which people see them", inputs.labels);
  const measured = numberFields(inputs);

  function showKind() {
    listed.hidden = inputs.kind.value === "number";
    measured.hidden = !listed.hidden;
  }

  const parts = [
    element(
      "div",
      {},
      field("Question", inputs.question),
      field("What people answer", inputs.kind),
      listed,
      measured,
      field("Language of the page", inputs.language),
      address,
    ),
    element(
      "div",
      {},
      field("How many people will answer, about", inputs.users),
      element("fieldset", {}, element("legend", { class: "small" }, "Protection of each person's answer"), levels),
    ),
    element("div", {}, field("Who may answer", inputs.submit), shown),
  ];

  function showAddress() {
    address.textContent = question() ? `Its page will be ${collector}s/${name()}` : "";
  }

  async function plan() {
    clearTimeout(timer);
    newest += 1;
    const turn = newest;
    const levelsPlanned = await plannedLevels(asked(), users());
    if (turn !== newest) return; // something else was asked meanwhile
    planned = levelsPlanned;
    levels.replaceChildren(...planned.map((one) => levelLine(one, asked(), users(), one.name === chosen)));
  }

  function specification() {
    return {
      name: name(),
      question: question(),
      ...(range() ? { number: level().number } : { labels: answers() }),
      ...(inputs.language.value ? { language: inputs.language.value } : {}),
      oracle: described(level().row.oracle),
      collect: { submit: inputs.submit.value, retention: "raw", minimum: MINIMUM, origins: [] },
    };
  }

  async function review() {
    const { row } = level();
    const [person, everybody] = levelLines(level(), asked(), users());
    const number = level().number;
    const facts = [
      ["Question", question()],
      number ? ["Number", rangeText(number)] : ["Answers", answers().join(" · ")],
      ["Address", `${collector}s/${name()}`],
      ["Protection", `${capital(chosen)}. ${person} ${everybody}`],
      ["Results", `from ${count(MINIMUM)} reports on`],
    ];
    const listed = facts.map(([term, text]) => element("div", {}, element("dt", {}, term), element("dd", {}, text)));
    const list = element("dl", { class: "review" }, listed);
    const { answered, more } = await preview(specification(), row, true);
    shown.replaceChildren(list, ...answered, ...more);
  }

  /** @param {number} next */
  async function go(next) {
    if (next > 0) await plan();
    if (next === 2) await review();
    step = next;
    parts.forEach((part, place) => {
      part.hidden = place !== step;
    });
    progress.replaceChildren(...STEPS.map((text, place) => stepItem(text, place, step)));
    back.hidden = step === 0;
    on.textContent = step === 2 ? "Publish this survey" : "Continue";
    problem.replaceChildren();
    title.textContent = TITLES[step];
  }

  async function advance() {
    const mistake = mistakeOf(question(), answers(), range());
    if (mistake) throw new Error(mistake);
    if (step < 2) {
      await go(step + 1);
      title.focus();
      return;
    }
    /** @type {{ name: string, version: string }} */
    const published = await post("v1/surveys", specification());
    location.hash = `#/survey/${published.name}/${published.version}`;
  }

  /** @param {unknown} error */
  function complain(error) {
    const lines = step === 2 ? ["Not published.", ...mistakesOf(error)] : [messageOf(error)];
    problem.replaceChildren(notice("bad", ...lines.map((line) => element("p", {}, line))));
  }

  function keep() {
    const epsilon = String(LEVELS[/** @type {keyof typeof LEVELS} */ (chosen)]);
    const entered = Object.fromEntries(Object.entries(inputs).map(([name, { value }]) => [name, value]));
    keepDraft({ ...entered, epsilon });
  }

  const title = element("h2", { tabindex: "-1" });
  const form = element("form", { class: "panel stack", novalidate: true }, title, parts, problem);
  form.append(element("div", { class: "actions" }, on, back));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    on.disabled = true;
    await advance().catch(complain);
    on.disabled = false;
  });
  back.addEventListener("click", () => go(step - 1).then(() => title.focus(), complain));
  inputs.question.addEventListener("input", showAddress);
  inputs.kind.addEventListener("change", showKind);
  inputs.users.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => plan().catch(complain), PAUSE);
  });
  inputs.submit.addEventListener("change", () => review().catch(complain));
  levels.addEventListener("change", ({ target }) => {
    chosen = /** @type {HTMLInputElement} */ (target).value;
  });
  showKind();
  await go(0);
  const more = element("a", { href: "#/new/advanced", click: keep }, "Advanced: all settings");
  const why =
    ": free text as the answer, surveys that repeat, answers that need more protection than others, the mechanism, pages that may embed the survey.";
  const several = element("a", { href: "#/new/questions" }, "Several questions");
  const advanced = element(
    "div",
    { class: "small muted" },
    element("p", {}, several, " in one report, to see which of them go together."),
    element("p", {}, more, why),
  );
  return { heading: "New survey", content: [progress, form, advanced], refresh: async () => {} };
}

/**
 * @typedef {Record<"low" | "high" | "unit", HTMLInputElement> & { goal: HTMLSelectElement }} RangeInputs
 */

/**
 * Make the fields of a number.
 *
 * @param {RangeInputs} inputs
 */
function numberFields({ low, high, unit, goal }) {
  const hint =
    "A number below or above the range counts as its nearest end: choose a range that holds nearly all, before anybody answers.";
  return element(
    "div",
    {},
    element("div", { class: "controls" }, field("From", low), field("To", high), field("Unit, if there is one", unit)),
    element("p", { id: "range-hint", class: "small muted" }, hint),
    field("What you want to know", goal),
  );
}

/**
 * Return the range of a number as it was entered; its cells follow from the plan.
 *
 * @param {RangeInputs} inputs
 * @returns {NumberRange}
 */
function rangeOf({ low, high, unit, goal }) {
  const own = unit.value.trim();
  return { low: low.valueAsNumber, high: high.valueAsNumber, goal: goal.value, ...(own ? { unit: own } : {}) };
}

/**
 * Say what a number may be, and how it is asked for.
 *
 * @param {NumberRange} range
 */
const rangeText = ({ low, high, unit, goal, bins }) =>
  `from ${low} to ${high}${unit ? ` ${unit}` : ""}, ${goal === "mean" ? "for its mean alone" : `in ${bins} cells of equal width`}`;

/** @param {string} text */
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/**
 * @param {string} text
 * @param {number} place
 * @param {number} step
 */
const stepItem = (text, place, step) =>
  element("li", { "aria-current": place === step ? "step" : null, class: place < step ? "done" : null }, text);
