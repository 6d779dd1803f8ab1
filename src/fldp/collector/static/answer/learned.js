// What anybody can learn from one report, in words and drawn.
import { drawn, element, list } from "../shared/dom.js";
import { en } from "./texts/en.js";

/** @import { Survey } from "../fldp.js" */
/** @import { Card } from "../shared/card.js" */
/** @import { Explanation } from "./explain.js" */
/** @import { Texts } from "./texts/en.js" */

const MAX_NAMED = 40;
const MAX_DRAWN = 20_000;
const MAX_COLUMNS = 64;

/**
 * Whether any text may be answered.
 *
 * @param {Survey} survey
 */
const isOfTexts = ({ domain, specification }) => Boolean(domain) && !specification.search;

/**
 * Make the sentence about guessing. Its last number alone depends on the report: it has one width, so that whatever
 * stands below is in one place for every answer.
 *
 * @param {Survey} survey
 * @param {Explanation} explanation
 * @param {Texts} words
 */
export function guessed(survey, explanation, words) {
  const size = explanation.ruledOut.length;
  const text = isOfTexts(survey) ? (/** @type {number} */ before) => words.guessText(before, size) : words.guess;
  return likelyText(text, explanation, words);
}

/**
 * @param {(before: number) => string} text
 * @param {Pick<Explanation, "guess">} explanation
 * @param {Texts} words
 */
export const likelyText = (text, { guess }, words) =>
  element("p", {}, text(guess.before), element("strong", { class: "figure" }, `${words.percent(guess.after)}.`));

/**
 * Make the part of a page that says what a report rules out.
 *
 * @param {Survey} survey
 * @param {Explanation} explanation
 * @param {Texts} words
 */
export function learned(survey, { ruledOut, left }, words) {
  const size = ruledOut.length;
  const out = size - left;
  const certain = isOfTexts(survey) ? words.noText : certainText(size, left, words);
  const map = () => (size <= MAX_NAMED ? named(survey, ruledOut, words) : drawing(ruledOut, left, words));
  return [element("p", {}, certain), ...(out && size <= MAX_DRAWN ? map() : [])];
}

/**
 * @param {number} size
 * @param {number} left
 * @param {Texts} words
 */
export function certainText(size, left, words) {
  if (left === size) return words.noneOut(size);
  return left === 1 ? words.onlyYours(size - left, size) : words.someOut(size - left, size, left);
}

/** @param {Texts} words */
const key = (words) =>
  element("ul", { class: "key" }, element("li", {}, words.possible), element("li", { class: "out" }, words.ruledOut));

/**
 * @param {Survey} survey
 * @param {readonly boolean[]} ruledOut
 * @param {Texts} words
 */
function named(survey, ruledOut, words) {
  const items = ruledOut.map((out, value) =>
    element(
      "li",
      { class: out ? "out" : null },
      survey.label(value),
      out ? element("span", { class: "visually-hidden" }, ` (${words.ruledOut})`) : null,
    ),
  );
  return [element("ul", { class: "domain", "aria-label": words.allAnswers }, items)];
}

/**
 * @param {readonly boolean[]} ruledOut
 * @param {number} left
 * @param {Texts} words
 */
function drawing(ruledOut, left, words) {
  const columns = Math.min(MAX_COLUMNS, Math.ceil(Math.sqrt(ruledOut.length * 2)));
  const rows = Math.ceil(ruledOut.length / columns);
  const path = (/** @type {boolean} */ wanted) =>
    ruledOut
      .map((out, value) => (out === wanted ? `M${value % columns} ${Math.floor(value / columns)}h.86v.86h-.86z` : ""))
      .join("");
  const title = words.map(ruledOut.length, left);
  const picture = drawn(
    "svg",
    { class: "map", viewBox: `0 0 ${columns} ${rows}`, role: "img", "aria-label": title },
    drawn("path", { class: "possible", d: path(false) }),
    drawn("path", { class: "out", d: path(true) }),
  );
  return [picture, key(words)];
}

/**
 * Make the privacy card of a survey: what any report gives away, and which answers differ in that.
 *
 * @param {Pick<Card, "certain" | "numbers"> & Partial<Pick<Card, "first">>} card
 * @param {string | null} [differs]
 */
export function privacyCard({ first = [], certain, numbers }, differs = null, words = en.card) {
  return element(
    "section",
    { class: "panel", "aria-labelledby": "card" },
    element("h2", { id: "card" }, words.title),
    first.length ? element("h3", {}, words.several) : null,
    first.map((line) => element("p", {}, line)),
    element("h3", {}, words.certain),
    certain.map((line) => element("p", {}, line)),
    differs === null ? null : [element("h3", {}, words.differs), element("p", {}, differs)],
    element("h3", {}, words.inNumbers),
    list(numbers),
  );
}
