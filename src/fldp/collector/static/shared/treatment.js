// Oracles that do not protect all answers alike: what they say of it, in the words of `fldp card`, and whom it concerns.
import { count, numberText } from "./format.js";

/** @import { Oracle, Survey } from "../fldp.js" */

/**
 * Parameters by which oracles treat answers differently.
 *
 * @typedef {{
 *   name: string,
 *   sensitive: readonly number[],
 *   budgets: readonly (readonly [value: number, budget: number])[],
 *   distance: "line" | "ring",
 *   groups: readonly number[],
 * }} Parameters
 */

/**
 * An oracle with what some have: the probability that a report names its value, the epsilon of neighbours.
 *
 * @typedef {Omit<Oracle, "description"> & { description: Parameters, revealed: number, alpha: number }} UnequalOracle
 */

/** @typedef {"sensitive" | "budgets" | "distance"} Treatment */

const MAX_NAMED = 20; // answers that are listed

/**
 * @param {number} number
 * @param {string} noun
 */
const counted = (number, noun) => `${count(number)} ${noun}${number > 1 ? "s" : ""}`;

/** @param {number} number */
const sixDigits = (number) => numberText(number, 6);

/** @type {Record<Treatment, (oracle: UnequalOracle) => { unprotected: string, promise: string }>} */
const TEXTS = {
  sensitive: ({ epsilon, domainSize, revealed, description: { sensitive } }) => ({
    unprotected:
      `Only ${count(sensitive.length)} of the ${count(domainSize)} answers are sensitive. ` +
      `Any other answer is named for certain by ${numberText(100 * revealed)} % of its reports.`,
    promise: `${sixDigits(epsilon)}-ULDP with ${counted(sensitive.length, "sensitive value")}`,
  }),
  budgets: ({ epsilon, domainSize, description: { budgets } }) => ({
    unprotected:
      `Answers are not protected alike: ${count(budgets.length)} of ${count(domainSize)} by a budget of their own, ` +
      `from ${sixDigits(Math.min(...budgets.map(([, budget]) => budget)))}, and any two others by epsilon ${sixDigits(epsilon)}.`,
    promise: `${sixDigits(epsilon)}-ID-LDP with ${counted(budgets.length, "smaller budget")}`,
  }),
  distance: ({ epsilon, alpha, description: { distance } }) => ({
    unprotected:
      `Answers that are far apart are protected less than neighbours: neighbours by epsilon ${numberText(alpha)}, ` +
      `the farthest by epsilon ${sixDigits(epsilon)}. About where your answer lies can be guessed.`,
    promise: `${sixDigits(alpha)}-CLDP on a ${distance}`,
  }),
};

const TREATMENTS = /** @type {Treatment[]} */ (Object.keys(TEXTS));

/**
 * Return the parameter by which an oracle treats answers differently, if there is one.
 *
 * @param {Pick<Oracle, "description">} oracle
 */
const treatmentOf = ({ description }) => TREATMENTS.find((parameter) => parameter in description);

/**
 * Return what an oracle does not protect, and what it promises; nothing of one that treats all answers alike.
 *
 * @param {UnequalOracle} oracle
 * @returns {{ unprotected?: string, promise?: string }}
 */
export function unequalTexts(oracle) {
  const treatment = treatmentOf(oracle);
  return treatment ? TEXTS[treatment](oracle) : {};
}

/**
 * List some names, the first ones in full.
 *
 * @param {readonly string[]} names
 */
function listed(names) {
  const rest = names.length - MAX_NAMED;
  return names.slice(0, MAX_NAMED).join(", ") + (rest > 0 ? `, and ${counted(rest, "other")}` : "");
}

/** @type {Record<Treatment, (survey: Survey, description: Parameters) => string>} */
const CONCERNED = {
  sensitive: (survey, { sensitive }) =>
    `Protected: ${listed(sensitive.map((value) => survey.label(value)))}. ` +
    "If yours is one of these, no report says so for certain. Any other answer may be named by its report.",
  budgets: (survey, { budgets }) =>
    `Protected more than the others: ${listed(budgets.map(([value, budget]) => `${survey.label(value)} (epsilon ${sixDigits(budget)})`))}.`,
  distance: (_, { distance }) =>
    `The answers stand in a ${distance}, in the order of the list${distance === "ring" ? ": the first is beside the last" : ""}. ` +
    "The nearer two of them are, the harder they are to tell apart.",
};

/**
 * Say which answers of a survey are treated differently; null where none is.
 *
 * @param {Survey} survey
 */
export function concerned(survey) {
  const treatment = treatmentOf(survey.oracle);
  return treatment ? CONCERNED[treatment](survey, /** @type {UnequalOracle} */ (survey.oracle).description) : null;
}
