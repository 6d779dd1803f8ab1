// What anybody can learn from one report, in words and drawn.
import { drawn, element, list } from "../shared/dom.js";

const NAMED = 40;
const DRAWN = 20_000;
const COLUMNS = 64;

const count = (number) => number.toLocaleString("en-US");
const percent = (share) => `${(100 * share).toLocaleString("en-US", { maximumSignificantDigits: 3 })} %`;

/** Make the part of a page that says what a report tells. */
export function learned(survey, { ruledOut, left, guess }) {
  const size = ruledOut.length;
  const out = size - left;
  const isText = survey.domain && !survey.specification.search;
  const who = isText
    ? `knows that your answer is one of ${count(size)} texts, all equally likely,`
    : "knows nothing else";
  const parts = [
    element(
      "p",
      {},
      isText ? "It rules out no text: every text could have led to this report." : words(size, left, out),
    ),
  ];
  if (out && size <= DRAWN) parts.push(...(size <= NAMED ? named(survey, ruledOut) : map(ruledOut, left)));
  parts.push(
    element(
      "p",
      {},
      `Somebody who ${who} and guesses it is right `,
      `with probability ${percent(guess.before)} without this report, and at best ${percent(guess.after)} with it.`,
    ),
  );
  return parts;
}

function words(size, left, out) {
  if (!out) return `It rules out no answer: each of the ${count(size)} could have led to this report.`;
  if (left === 1) return `For certain: it names your answer. It rules out all others, ${count(out)} of ${count(size)}.`;
  return `For certain: it rules out ${count(out)} of the ${count(size)} answers, and leaves ${count(left)} possible. Yours is one of these.`;
}

const key = () =>
  element("ul", { class: "key" }, element("li", {}, "possible"), element("li", { class: "out" }, "ruled out"));

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

function map(ruledOut, left) {
  const columns = Math.min(COLUMNS, Math.ceil(Math.sqrt(ruledOut.length * 2)));
  const rows = Math.ceil(ruledOut.length / columns);
  const path = (wanted) =>
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

/** Make the privacy card of a survey: what any report gives away, and which answers differ in that. */
export function privacyCard(facts, differs = null) {
  return element(
    "section",
    { class: "panel", "aria-labelledby": "card" },
    element("h2", { id: "card" }, "What a report gives away"),
    element("h3", {}, "For certain"),
    facts.certain.map((line) => element("p", {}, line)),
    differs === null ? null : [element("h3", {}, "Not alike for all answers"), element("p", {}, differs)],
    element("h3", {}, "In numbers"),
    list(facts.numbers),
  );
}
