// What anybody can learn from one report, in words and drawn.
import { drawn, element, list } from "../shared/dom.js";
import { count, percent } from "../shared/format.js";

/** @import { Survey } from "../fldp.js" */
/** @import { Card } from "../shared/card.js" */
/** @import { Explanation } from "./explain.js" */

const MAX_NAMED = 40;
const MAX_DRAWN = 20_000;
const MAX_COLUMNS = 64;

/**
 * Make the part of a page that says what a report tells.
 *
 * @param {Survey} survey
 * @param {Explanation} explanation
 */
export function learned(survey, { ruledOut, left, guess }) {
  const size = ruledOut.length;
  const out = size - left;
  const isText = survey.domain && !survey.specification.search;
  const who = isText
    ? `knows that your answer is one of ${count(size)} texts, all equally likely,`
    : "knows nothing else";
  const certain = isText
    ? "It rules out no text: every text could have led to this report."
    : certainText(size, left, out);
  const map = () => (size <= MAX_NAMED ? named(survey, ruledOut) : drawing(ruledOut, left));
  return [
    element("p", {}, certain),
    ...(out && size <= MAX_DRAWN ? map() : []),
    element(
      "p",
      {},
      `Somebody who ${who} and guesses it is right `,
      `with probability ${percent(guess.before)} without this report, and at best ${percent(guess.after)} with it.`,
    ),
  ];
}

/**
 * @param {number} size
 * @param {number} left
 * @param {number} out
 */
function certainText(size, left, out) {
  if (!out) return `It rules out no answer: each of the ${count(size)} could have led to this report.`;
  if (left === 1) return `For certain: it names your answer. It rules out all others, ${count(out)} of ${count(size)}.`;
  return `For certain: it rules out ${count(out)} of the ${count(size)} answers, and leaves ${count(left)} possible. Yours is one of these.`;
}

const key = () =>
  element("ul", { class: "key" }, element("li", {}, "possible"), element("li", { class: "out" }, "ruled out"));

/**
 * @param {Survey} survey
 * @param {readonly boolean[]} ruledOut
 */
function named(survey, ruledOut) {
  const items = ruledOut.map((out, value) =>
    element(
      "li",
      { class: out ? "out" : null },
      survey.label(value),
      out ? element("span", { class: "visually-hidden" }, " (ruled out)") : null,
    ),
  );
  return [element("ul", { class: "domain", "aria-label": "All answers" }, items)];
}

/**
 * @param {readonly boolean[]} ruledOut
 * @param {number} left
 */
function drawing(ruledOut, left) {
  const columns = Math.min(MAX_COLUMNS, Math.ceil(Math.sqrt(ruledOut.length * 2)));
  const rows = Math.ceil(ruledOut.length / columns);
  const path = (/** @type {boolean} */ wanted) =>
    ruledOut
      .map((out, value) => (out === wanted ? `M${value % columns} ${Math.floor(value / columns)}h.86v.86h-.86z` : ""))
      .join("");
  const title = `A field for each of ${count(ruledOut.length)} answers in their order: ${count(left)} are possible, the others ruled out.`;
  const picture = drawn(
    "svg",
    { class: "map", viewBox: `0 0 ${columns} ${rows}`, role: "img", "aria-label": title },
    drawn("path", { class: "possible", d: path(false) }),
    drawn("path", { class: "out", d: path(true) }),
  );
  return [picture, key()];
}

/**
 * Make the privacy card of a survey: what any report gives away, and which answers differ in that.
 *
 * @param {Pick<Card, "certain" | "numbers">} card
 * @param {string | null} [differs]
 */
export function privacyCard({ certain, numbers }, differs = null) {
  return element(
    "section",
    { class: "panel", "aria-labelledby": "card" },
    element("h2", { id: "card" }, "What a report gives away"),
    element("h3", {}, "For certain"),
    certain.map((line) => element("p", {}, line)),
    differs === null ? null : [element("h3", {}, "Not alike for all answers"), element("p", {}, differs)],
    element("h3", {}, "In numbers"),
    list(numbers),
  );
}
