// The card of an oracle: what any report gives away, in the words of `fldp card`.
import { count, numberText, shareText } from "./format.js";
import { unequalTexts } from "./treatment.js";

/** @import { Oracle } from "../fldp.js" */
/** @import { UnequalOracle } from "./treatment.js" */

/**
 * What any report of an oracle gives away: how many values it leaves possible in the mean, what is promised, what a
 * report says for certain, and what its numbers mean.
 *
 * @typedef {{ meanLeft: number, promised: string, certain: readonly string[], numbers: readonly string[] }} Card
 */

/**
 * Write `e^epsilon` rounded up, since it is a bound; near 1, with the digits that tell it from 1.
 *
 * @param {number} epsilon
 */
function ratioText(epsilon) {
  if (epsilon >= 0.5) return numberText(Math.exp(epsilon), 3, true);
  return `1${numberText(Math.expm1(epsilon), epsilon >= 0.1 ? 3 : 2, true).slice(1)}`;
}

/**
 * Return how many values a report leaves possible in the mean, if all values are equally frequent.
 *
 * @param {UnequalOracle} oracle
 */
function meanLeftOf({ eta, domainSize, description, revealed }) {
  const hidden = (description.sensitive?.length ?? 0) / domainSize;
  if (hidden) return 1 + (domainSize - 1) * (1 - revealed * (1 - hidden)); // all of a kind share the same part
  if (eta > 0) return 1 + (domainSize - 1) * eta;
  return description.groups.reduce((sum, size) => sum + size * size, 0) / domainSize;
}

/**
 * @param {number} mean
 * @param {number} least
 */
function leftText(mean, least) {
  const text = mean >= 100 ? numberText(mean, Math.floor(Math.log10(mean)) + 1) : numberText(mean);
  if (mean === 1) return "only yours possible";
  if (text === count(least)) return mean === least ? `${text} possible` : `at least ${text} possible`;
  return `${text} possible on average, and ${least > 1 ? `at least ${count(least)}` : "sometimes only yours"}`;
}

const MANY = 2 ** 31 - 1; // the number of values where they are texts, which nobody can list

/** @param {number} size */
const everyText = (size) => (size === 2 ? "Both answers" : `Each of the ${count(size)} answers`);

/**
 * @param {UnequalOracle} oracle
 * @param {number} mean
 * @param {string} [unprotected]
 */
function certainTexts({ eta, domainSize: size, anonymity: least }, mean, unprotected) {
  if (least === size) return [`Nothing. ${size < MANY ? everyText(size) : "Every text"} could have given your report.`];
  const weakness = eta
    ? (unprotected ?? "That some answers are not yours, whatever epsilon is.")
    : "In which group your answer is. This is weak: answers in different groups are not protected at all.";
  return [weakness, `Of ${count(size)} answers it leaves ${leftText(mean, least)}.`];
}

/**
 * @param {number} eta
 * @param {string} least
 */
function etaText(eta, least) {
  if (eta === 1) return "Any two answers can give all the same reports. This is plain local differential privacy.";
  if (eta === 0) {
    return "Some answers have no report in common. This is weak, and much weaker than local differential privacy.";
  }
  return (
    `Any two answers have ${least}${shareText(eta)} of their reports in common; the others tell them apart for certain. ` +
    "1 would be plain local differential privacy; this is weaker."
  );
}

/** @param {UnequalOracle} oracle */
function promiseText({ eta, epsilon, description, lastingEpsilon }) {
  const text = numberText(epsilon, 6);
  if (lastingEpsilon) {
    return `${text}-LDP for one report, ${numberText(lastingEpsilon, 6)}-LDP for all that are made of one answer, however many`;
  }
  if (eta === 1) return `${text}-LDP`;
  if (eta > 0) return `(${text}, ${shareText(eta)})-FLDP`;
  return `${text}-LDP inside ${description.groups.length} groups, nothing between them (weak)`;
}

/**
 * Return the card of an oracle.
 *
 * @param {Oracle} any
 * @returns {Card}
 */
export function card(any) {
  const oracle = /** @type {UnequalOracle} */ (any);
  const { epsilon, eta, domainSize, anonymity } = oracle;
  const { unprotected, promise = promiseText(oracle) } = unequalTexts(oracle);
  const [meanLeft, promised] = [meanLeftOf(oracle), `Promised: ${promise}.`];
  const isCertain = anonymity < domainSize;
  const among = isCertain ? "Among the answers that it does not rule out, a" : "A";
  const ratio = `report is at most ${ratioText(epsilon)} times as likely for one answer as for another.`;
  return {
    meanLeft,
    promised,
    certain: certainTexts(oracle, meanLeft, unprotected),
    numbers: [
      `epsilon ${numberText(epsilon, 6)}. ${among} ${ratio}`,
      `eta ${shareText(eta)}. ${etaText(eta, unprotected ? "at least " : "")}`,
      promised,
      ...(isCertain || !unprotected ? [] : [unprotected]),
    ],
  };
}
