// Oracles that do not protect all answers alike: what they say of it, in the words of `fldp card`, and whom it concerns.
import { count, numberText } from "./format.js";

const NAMED = 20; // answers that are listed

const times = (number, what) => `${count(number)} ${what}${number > 1 ? "s" : ""}`;
const short = (number) => numberText(number, 6);

const WORDS = {
  sensitive: ({ epsilon, domainSize, revealed, description: { sensitive } }) => ({
    unprotected:
      `Only ${count(sensitive.length)} of the ${count(domainSize)} answers are sensitive. ` +
      `Any other answer is named for certain by ${numberText(100 * revealed)} % of its reports.`,
    promise: `${short(epsilon)}-ULDP with ${times(sensitive.length, "sensitive value")}`,
  }),
  budgets: ({ epsilon, domainSize, description: { budgets } }) => ({
    unprotected:
      `Answers are not protected alike: ${count(budgets.length)} of ${count(domainSize)} by a budget of their own, ` +
      `from ${short(Math.min(...budgets.map(([, budget]) => budget)))}, and any two others by epsilon ${short(epsilon)}.`,
    promise: `${short(epsilon)}-ID-LDP with ${times(budgets.length, "smaller budget")}`,
  }),
  distance: ({ epsilon, alpha, description: { distance } }) => ({
    unprotected:
      `Answers that are far apart are protected less than neighbours: neighbours by epsilon ${numberText(alpha)}, ` +
      `the farthest by epsilon ${short(epsilon)}. About where your answer lies can be guessed.`,
    promise: `${short(alpha)}-CLDP on a ${distance}`,
  }),
};

/** Return by which parameter an oracle treats answers differently, if it does. */
const kindOf = ({ description }) => Object.keys(WORDS).find((kind) => kind in description);

/** Return what an oracle does not protect, and what it promises; nothing of one that treats all answers alike. */
export function differing(oracle) {
  return WORDS[kindOf(oracle)]?.(oracle) ?? {};
}

/** List some things, the first ones by name. */
function listed(things) {
  const rest = things.length - NAMED;
  return things.slice(0, NAMED).join(", ") + (rest > 0 ? `, and ${times(rest, "other")}` : "");
}

const CONCERNED = {
  sensitive: (survey, values) =>
    `Protected: ${listed(values.map((value) => survey.label(value)))}. If yours is one of these, no report says so for certain. Any other answer may be named by its report.`,
  budgets: (survey, pairs) =>
    `Protected more than the others: ${listed(pairs.map(([value, budget]) => `${survey.label(value)} (epsilon ${short(budget)})`))}.`,
  distance: (survey, name) =>
    name === "ring"
      ? "The answers stand in a ring, in the order of the list: the first is beside the last. The nearer two of them are, the harder they are to tell apart."
      : "The answers stand in a line, in the order of the list. The nearer two of them are, the harder they are to tell apart.",
};

/** Say which answers of a survey are treated differently; null where none is. */
export function concerned(survey) {
  const kind = kindOf(survey.oracle);
  return kind ? CONCERNED[kind](survey, survey.oracle.description[kind]) : null;
}
