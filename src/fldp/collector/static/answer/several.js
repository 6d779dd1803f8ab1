// Several questions on one page: the form that asks them, and the part of a report that says which it is about.
import { decode, Sampled } from "../fldp.js";
import { element, list, notice, panel } from "../shared/dom.js";
import { choicesOf } from "./choices.js";
import { bringIntoView, isFramed, settle } from "./frame.js";
import { certainText, guessed, likelyText } from "./learned.js";

/** @import { AskedQuestion, Bytes, Survey } from "../fldp.js" */
/** @import { Explanation } from "./explain.js" */
/** @import { Texts } from "./texts/en.js" */

/**
 * A person's answers, by the names of the questions; empty where one is not answered.
 *
 * @typedef {Readonly<Record<string, string>>} Answers
 */

/**
 * What a report of several questions is about: the places of these questions, and what it tells of them.
 *
 * @typedef {Explanation & { places: readonly number[] }} About
 */

/**
 * Make the form with the questions. `submit` is called with the answers, once every question has one that needs it.
 *
 * @param {readonly AskedQuestion[]} questions
 * @param {Texts} words
 * @param {(answers: Answers) => void} submit
 */
export function questionsForm(questions, words, submit) {
  const fields = questions.map((asked, place) => questionField(asked, place, words));
  const button = element("button", { type: "submit", class: "primary" }, words.seeReport);
  const form = element(
    "form",
    { autocomplete: "off", novalidate: true, keydown: settle },
    fields.map(({ node }) => node),
    element("div", { class: "actions" }, button),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const missing = fields.filter((field) => field.check());
    if (missing.length) return missing[0].show();
    button.disabled = true;
    return submit(Object.fromEntries(fields.map(({ name, value }) => [name, value() ?? ""])));
  });
  return form;
}

/**
 * Make the field of a question, with the line that says what it lacks. It keeps its place in the page whether or not
 * that is shown.
 *
 * @param {AskedQuestion} asked
 * @param {number} place
 * @param {Texts} words
 */
function questionField(asked, place, words) {
  const id = `q${place}-`;
  const legend = asked.optional ? `${asked.question} ${words.optional}` : asked.question;
  const { field, value } = choicesOf(asked, words, { legend, id });
  const problem = element("p", { class: "small bad lacking", role: "alert", id: `${id}lacking` });
  field.querySelector("legend")?.after(problem);
  const inputs = () => [...field.querySelectorAll("input")].filter(({ type }) => type !== "search");

  /** Say what is missing, if anything is; return whether that is so. */
  function check() {
    const isMissing = value() === null;
    problem.textContent = isMissing ? words.lacking : "";
    for (const input of inputs()) input.ariaInvalid = isMissing ? "true" : null;
    return isMissing;
  }

  /** Go to the field without moving the page around. */
  function show() {
    inputs()[0]?.focus({ preventScroll: true });
    if (isFramed) bringIntoView(field);
    else field.scrollIntoView({ block: "nearest" });
  }
  field.addEventListener("input", () => problem.textContent && check()); // not when it is left: a click would miss
  return { name: asked.name, node: element("div", { class: "panel asked" }, field), value, check, show };
}

/**
 * Return what the report of an answer tells: of the questions that it is about, how many answers to them there are
 * together, and which of these it rules out.
 *
 * @param {Survey} survey
 * @param {Bytes} bytes
 * @returns {Promise<About>}
 */
export async function explainSeveral({ oracle, version }, bytes) {
  const { survey, reports } = await decode(bytes, [Sampled]);
  const parts = oracle instanceof Sampled ? oracle.split(reports[0]) : null;
  if (!parts || survey !== version || reports.length !== 1) {
    throw new Error("the batch must be an answer to this version of the survey");
  }
  const { view, inside } = parts;
  const likelihood = view.oracle.likely(inside);
  const likely = Float64Array.from(Array(view.size).keys(), (value) => likelihood(value));
  const total = likely.reduce((sum, part) => sum + part, 0);
  return {
    places: view.questions,
    ruledOut: Array.from(likely, (part) => part === 0),
    left: likely.reduce((sum, part) => sum + Number(part > 0), 0),
    probability: likely.map((part) => part / total),
    guess: { before: 1 / view.size, after: likely.reduce((most, part) => Math.max(most, part), 0) / total },
  };
}

/**
 * Make the part that says which questions a report is about, what it tells of them, and of which it says nothing.
 *
 * @param {Survey} survey
 * @param {About} about
 * @param {Texts} words
 */
export function aboutPanel(survey, about, words) {
  const questions = survey.questions ?? [];
  const named = (/** @type {boolean} */ isIn) =>
    list(questions.filter((_, place) => about.places.includes(place) === isIn).map(({ question }) => question));
  const others = questions.length - about.places.length;
  return panel(
    words.about(about.places.length),
    named(true),
    element("p", {}, words.chanceChose),
    about.places.length === 1 ? guessed(survey, about, words) : likelyText(words.guessSeveral, about, words),
    element("p", {}, outText(about, words)),
    others ? [element("p", {}, words.notAbout(others)), named(false)] : null,
  );
}

/**
 * Say what a report rules out.
 *
 * @param {About} about
 * @param {Texts} words
 */
function outText({ places, left, ruledOut: { length: size } }, words) {
  if (places.length === 1 || left === 1) return certainText(size, left, words);
  return left === size ? words.noneOutSeveral(size) : words.someOutSeveral(size - left, size, left);
}

/**
 * Make the part with the person's own answers.
 *
 * @param {Survey} survey
 * @param {Answers} answers
 * @param {About} about
 * @param {Texts} words
 */
export function answersPanel({ questions }, answers, { left }, words) {
  const answered = (questions ?? []).filter(({ name }) => name in answers);
  const lines = answered.map(({ name, question, scale }) =>
    element(
      "div",
      {},
      element("dt", {}, question),
      element("dd", {}, answers[name] ? written(scale, answers[name]) : words.noAnswer),
    ),
  );
  const fate = left === 1 ? words.named : words.notKeptSeveral;
  return panel(words.answers, element("dl", { class: "given" }, lines), element("p", { class: "small muted" }, fate));
}

/**
 * Write an answer, a number with its unit.
 *
 * @param {AskedQuestion["scale"]} scale
 * @param {string} answer
 */
const written = (scale, answer) => [answer, Object(scale).unit].filter(Boolean).join(" ");

/**
 * Make what is shown before anybody knows which questions are asked, where chance chooses a few of them.
 *
 * @param {Survey} survey
 * @param {Texts} words
 * @param {() => void} go
 */
export function beforeQuestions({ questions }, words, go) {
  const begin = element("button", { type: "button", class: "primary", click: go }, words.begin);
  return [
    notice("", element("p", {}, words.asksLess(questions?.length ?? 0)), element("p", {}, words.asksLessWhy)),
    element("div", { class: "actions" }, begin),
  ];
}
