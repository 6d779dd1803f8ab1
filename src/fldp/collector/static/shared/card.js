// The card of an oracle: what any report gives away, in the words of `fldp card`.
import { en } from "../answer/texts/en.js";
import { Sampled } from "../fldp.js";
import { count, numberText, shareText } from "./format.js";
import { unequalTexts } from "./treatment.js";

/** @import { Oracle } from "../fldp.js" */
/** @import { Texts } from "../answer/texts/en.js" */
/** @import { UnequalOracle } from "./treatment.js" */

/**
 * What any report of an oracle gives away: how many values it leaves possible on average, what is promised, what a
 * report says for certain, and what its numbers mean.
 *
 * `first` is what to know before that where several questions are asked.
 *
 * @typedef {{
 *   meanLeft: number,
 *   promised: string,
 *   first: readonly string[],
 *   certain: readonly string[],
 *   numbers: readonly string[],
 * }} Card
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
 * Return how many values a report leaves possible on average, if all values are equally frequent.
 *
 * @param {UnequalOracle} oracle
 */
function meanLeftOf({ eta, domainSize, description, revealed }) {
  const hidden = (description.sensitive?.length ?? 0) / domainSize;
  if (hidden) return 1 + (domainSize - 1) * (1 - revealed * (1 - hidden)); // all of a kind share the same part
  if (eta > 0) return 1 + (domainSize - 1) * eta;
  return description.groups.reduce((sum, size) => sum + size * size, 0) / domainSize;
}

/** @typedef {Texts["card"]} Words */

/**
 * @param {number} mean
 * @param {number} least
 * @param {Words} words
 */
function leftText(mean, least, words) {
  const text = mean >= 100 ? numberText(mean, Math.floor(Math.log10(mean)) + 1) : numberText(mean);
  if (mean === 1) return words.onlyYours;
  if (text === count(least)) return mean === least ? words.left(text) : words.leftAtLeast(text);
  return words.leftInMean(text, least);
}

const MANY = 2 ** 31 - 1; // the number of values where they are texts, which nobody can list

/**
 * @param {number} size
 * @param {Words} words
 */
function nothingText(size, words) {
  if (size >= MANY) return words.nothingText;
  return size === 2 ? words.nothingBoth : words.nothing(size);
}

/**
 * @param {UnequalOracle} oracle
 * @param {number} mean
 * @param {Words} words
 * @param {string} [unprotected]
 */
function certainTexts({ eta, domainSize: size, anonymity: least }, mean, words, unprotected) {
  if (least === size) return [nothingText(size, words)];
  const weakness = eta ? (unprotected ?? words.someNot) : words.group;
  return [weakness, words.leaves(size, leftText(mean, least, words))];
}

/**
 * @param {number} eta
 * @param {boolean} isAtLeast
 * @param {Words} words
 */
function etaText(eta, isAtLeast, words) {
  if (eta === 1) return words.etaOne;
  return eta === 0 ? words.etaZero : words.etaSome(shareText(eta), isAtLeast);
}

/**
 * @param {UnequalOracle} oracle
 * @param {Words} words
 */
function promiseText({ eta, epsilon, description, lastingEpsilon, changeVisible, settings }, words) {
  const text = numberText(epsilon, 6);
  if (lastingEpsilon && changeVisible) {
    const steady = numberText(Number(settings.epsilon_permanent), 6);
    return words.promiseFollowing(text, steady, numberText(lastingEpsilon, 6), changeVisible.toFixed(2));
  }
  if (lastingEpsilon) return words.promiseLasting(text, numberText(lastingEpsilon, 6));
  if (eta === 1) return `${text}-LDP`;
  if (eta > 0) return `(${text}, ${shareText(eta)})-FLDP`;
  return words.promiseGroups(text, description.groups.length);
}

/**
 * Return the card of an oracle.
 *
 * @param {Oracle} any
 * @param {Words} [words]
 * @returns {Card}
 */
export function card(any, words = en.card) {
  if (any instanceof Sampled && any.answers.length > 1) return severalCard(any, words);
  const oracle = /** @type {UnequalOracle} */ (any);
  const { epsilon, eta, domainSize, anonymity } = oracle;
  const { unprotected, promise = promiseText(oracle, words) } = unequalTexts(oracle, words);
  const [meanLeft, promised] = [meanLeftOf(oracle), words.promised(promise)];
  const isCertain = anonymity < domainSize;
  return {
    meanLeft,
    promised,
    first: [],
    certain: certainTexts(oracle, meanLeft, words, unprotected),
    numbers: [
      words.epsilon(numberText(epsilon, 6), ratioText(epsilon), isCertain),
      `eta ${shareText(eta)}. ${etaText(eta, Boolean(unprotected), words)}`,
      promised,
      ...(isCertain || !unprotected ? [] : [unprotected]),
    ],
  };
}

/**
 * Return the card of an oracle of several questions: the card of the view that tells most answers apart, after what all
 * questions have in common.
 *
 * @param {Sampled} oracle
 * @param {Words} words
 * @returns {Card}
 */
function severalCard({ answers, members, settings, epsilon }, words) {
  const weights = /** @type {readonly number[]} */ (settings.weights);
  const weightOf = (/** @type {number} */ view) => weights[view] ?? 1;
  const total = members.reduce((sum, _, view) => sum + weightOf(view), 0);
  const chances = answers.map(
    (_, place) =>
      members.reduce((sum, { questions }, view) => sum + (questions.includes(place) ? weightOf(view) : 0), 0) / total,
  );
  const most = Math.max(...members.map(({ questions }) => questions.length));
  const largest = members.reduce((best, member) => (member.oracle.domainSize > best.oracle.domainSize ? member : best));
  const range = [Math.min(...chances), Math.max(...chances)].map((chance) => String(Math.round(100 * chance)));
  return {
    ...card(largest.oracle, words),
    first: [
      words.severalOne(answers.length, numberText(epsilon, 6), most),
      words.severalChance(range[0], range[1]),
      words.severalAgain,
      words.severalRest(largest.oracle.domainSize),
    ],
  };
}
