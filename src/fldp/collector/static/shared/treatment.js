// Oracles that do not protect all answers alike: what they say of it, in the words of `fldp card`, and whom it concerns.
import { en } from "../answer/texts/en.js";
import { numberText } from "./format.js";

/** @import { Oracle, Survey } from "../fldp.js" */
/** @import { Words } from "./card.js" */

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

/** @param {number} number */
const sixDigits = (number) => numberText(number, 6);

/** @type {Record<Treatment, (oracle: UnequalOracle, words: Words) => { unprotected: string, promise: string }>} */
const TEXTS = {
  sensitive: ({ epsilon, domainSize, revealed, description: { sensitive } }, words) => ({
    unprotected: words.sensitive(sensitive.length, domainSize, numberText(100 * revealed)),
    promise: words.promiseSensitive(sixDigits(epsilon), sensitive.length),
  }),
  budgets: ({ epsilon, domainSize, description: { budgets } }, words) => {
    const least = sixDigits(Math.min(...budgets.map(([, budget]) => budget)));
    return {
      unprotected: words.budgets(budgets.length, domainSize, least, sixDigits(epsilon)),
      promise: words.promiseBudgets(sixDigits(epsilon), budgets.length),
    };
  },
  distance: ({ epsilon, alpha, description: { distance } }, words) => ({
    unprotected: words.distance(numberText(alpha), sixDigits(epsilon)),
    promise: words.promiseDistance(sixDigits(alpha), distance),
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
 * @param {Words} words
 * @returns {{ unprotected?: string, promise?: string }}
 */
export function unequalTexts(oracle, words) {
  const treatment = treatmentOf(oracle);
  return treatment ? TEXTS[treatment](oracle, words) : {};
}

/**
 * List some names, the first ones in full.
 *
 * @param {readonly string[]} names
 * @param {Words} words
 */
function listed(names, words) {
  const rest = names.length - MAX_NAMED;
  return names.slice(0, MAX_NAMED).join(", ") + (rest > 0 ? words.others(rest) : "");
}

/** @type {Record<Treatment, (survey: Survey, description: Parameters, words: Words) => string>} */
const CONCERNED = {
  sensitive: (survey, { sensitive }, words) => {
    const names = sensitive.map((value) => survey.label(value));
    return words.concernedSensitive(listed(names, words));
  },
  budgets: (survey, { budgets }, words) => {
    const names = budgets.map(([value, budget]) => `${survey.label(value)} (epsilon ${sixDigits(budget)})`);
    return words.concernedBudgets(listed(names, words));
  },
  distance: (_, { distance }, words) => words.concernedDistance(distance),
};

/**
 * Say which answers of a survey are treated differently; null where none is.
 *
 * @param {Survey} survey
 * @param {Words} [words]
 */
export function concerned(survey, words = en.card) {
  const treatment = treatmentOf(survey.oracle);
  const { description } = /** @type {UnequalOracle} */ (survey.oracle);
  return treatment ? CONCERNED[treatment](survey, description, words) : null;
}
