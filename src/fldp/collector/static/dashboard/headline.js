// The result in one sentence, no more certain than it is.
import { element } from "../shared/dom.js";
import { count, points, threeDigits, visible } from "../shared/format.js";
import { levelText } from "./controls.js";

/** @import { EstimateRow, Estimates, NumberFigures } from "../shared/replies.d.ts" */

const MAX_NAMED = 60; // characters of an answer

/** @param {string} label */
const quoted = (label) =>
  `“${visible(label).length > MAX_NAMED ? `${visible(label).slice(0, MAX_NAMED)}…` : visible(label)}”`;

/**
 * Write the share of a row with half its interval, in points of a percent.
 *
 * @param {EstimateRow} row
 * @param {number} n
 */
const known = ({ frequency, low, high }, n) => points(frequency, (high - low) / 2 / n);

/** @param {number} level */
const reachText = (level) => `± is half of a ${levelText(level)} interval.`;

/**
 * Say what is to be known about the largest share: what it is, and whether it is the largest for sure.
 *
 * @param {Pick<Estimates, "rows" | "n" | "level" | "number">} estimates
 * @returns {[headline: string, more: string]}
 */
export function headlineText({ rows, n, level, number }) {
  if (number) return numberText(number, level);
  const [first, second] = [...rows].sort((a, b) => b.count - a.count);
  const reach = reachText(level);
  if (!first || first.low <= 0) return ["No answer can be told from zero yet", ""];
  const headline = `${known(first, n)} answered ${quoted(first.label)}`;
  if (!second) return [headline, reach];
  const isClear = second.high < first.low;
  const place = isClear
    ? `It is the most frequent of ${count(rows.length)} answers, ahead of ${quoted(second.label)} (${known(second, n)}).`
    : `${quoted(second.label)} (${known(second, n)}) is too close to call.`;
  return [headline, `${place} ${reach}`];
}

/**
 * Say what the mean of a number is.
 *
 * @param {NumberFigures} number
 * @param {number} level
 * @returns {[headline: string, more: string]}
 */
function numberText({ mean, unit }, level) {
  const reach = Number(((mean.high - mean.low) / 2).toPrecision(2));
  return [`The mean is ${threeDigits(mean.value)} ± ${reach}${unit ? ` ${unit}` : ""}`, reachText(level)];
}

/** Make the sentence. `put` gives it estimates, or takes it away. */
export function headline() {
  const words = element("p", { class: "headline" });
  const more = element("p", { class: "about muted" });
  const node = element("div", { hidden: true }, words, more);

  /** @param {Estimates | null} estimates */
  function put(estimates) {
    node.hidden = estimates === null;
    if (estimates) [words.textContent, more.textContent] = headlineText(estimates);
  }
  return { node, put };
}
