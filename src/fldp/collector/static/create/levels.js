// How strongly answers are protected, in plain words: three levels, with what each of them costs.
import { element } from "../shared/dom.js";
import { count, percent } from "../shared/format.js";
import { post } from "../shared/session.js";
import { numberRow } from "./number_plan.js";

/** @import { NumberPlan, Plan, PlanRow } from "../shared/replies.d.ts" */
/** @import { NumberRange } from "./form_to_survey.js" */

/**
 * What is asked: a number of answers to choose from, or a number.
 *
 * @typedef {{ size: number, number: NumberRange | null }} Asked
 */

/**
 * A level: its name, its epsilon, and what the planner recommends for it; of a number also its cells, and half the
 * intervals that the dashboard will show.
 *
 * @typedef {{
 *   name: string,
 *   epsilon: number,
 *   row: PlanRow,
 *   number?: NumberRange,
 *   reaches?: { mean: number, cdf: number },
 * }} Level
 */

export const LEVELS = { strong: 0.5, medium: 1, weak: 2 };
const SIGMAS = 1.96; // of a 95 % interval

/**
 * Ask the planner about every level, for what is asked and the number of people.
 *
 * @param {Asked} asked
 * @param {number} users
 * @returns {Promise<Level[]>}
 */
export async function plannedLevels({ size, number }, users) {
  const levels = Object.entries(LEVELS).map(async ([name, epsilon]) => ({
    name,
    epsilon,
    ...(number ? await plannedNumber(number, users, epsilon) : await plannedAnswers(size, users, epsilon)),
  }));
  return Promise.all(levels);
}

/**
 * @param {number} size
 * @param {number} users
 * @param {number} epsilon
 */
async function plannedAnswers(size, users, epsilon) {
  /** @type {Plan} */
  const { rows } = await post("v1/plan", { domain_size: size, users, epsilon, eta: 1 });
  const row = rows.find(({ recommended }) => recommended);
  if (!row) throw new Error("no oracle can do this");
  return { row };
}

/**
 * Plan a number, in as many cells as suit the number of people.
 *
 * @param {NumberRange} range
 * @param {number} users
 * @param {number} epsilon
 */
async function plannedNumber(range, users, epsilon) {
  /** @type {(number: NumberRange) => Promise<NumberPlan>} */
  const ask = (number) => post("v1/plan", { number, users, epsilon });
  const first = await ask(range);
  const bins = first.best_bins;
  const number = bins === undefined ? range : { ...range, bins };
  const plan = bins === undefined ? first : await ask(number);
  const own = plan.rows.find((row) => row.bins === bins) ?? plan.rows[0];
  return { row: numberRow(plan), number, reaches: { mean: own.mean_reach, cdf: own.cdf_reach } };
}

/**
 * Return how often the best guess of an answer is right without its report, and at most with it: all answers are
 * equally likely before, and no report is more than `e^epsilon` times as likely for one of them as for another.
 *
 * @param {number} epsilon
 * @param {number} size
 */
export function guessOf(epsilon, size) {
  return { before: 1 / size, after: 1 / (1 + (size - 1) * Math.exp(-epsilon)) };
}

/**
 * Return half the interval that the dashboard shows of the share that is known worst: it holds for all values at once
 * and at every look. A collector that does not say it has the 95 % interval of one value at one look.
 *
 * @param {PlanRow} row
 */
export function reachOf({ reach, error_rare: rare, error_mean: mean = 0, error_frequent: frequent = 0 }) {
  return reach ?? SIGMAS * Math.max(rare, mean, frequent);
}

/** @param {number} amount */
const twoDigits = (amount) => String(+amount.toPrecision(2));

/**
 * Say what a level means: for one person, and for everybody together.
 *
 * @param {Level} level
 * @param {Asked} asked
 * @param {number} users
 */
export function levelLines(level, { size, number }, users) {
  const { epsilon, row } = level;
  if (number) return numberLines(level, number, users);
  const { before, after } = guessOf(epsilon, size);
  return [
    `The best guess of one person's answer rises from ${percent(before)} to at most ${percent(after)}.`,
    `With ${count(users)} answers every share is known to ± ${twoDigits(100 * reachOf(row))} points, whenever you look.`,
  ];
}

/**
 * Say the same of a number. What one report tells of two halves is bounded as what it tells of two answers.
 *
 * @param {Level} level
 * @param {NumberRange} range
 * @param {number} users
 */
function numberLines({ epsilon, reaches = { mean: 0, cdf: 0 } }, { low, high, unit, goal }, users) {
  const { before, after } = guessOf(epsilon, 2);
  const mean = `${twoDigits((high - low) * reaches.mean)}${unit ? ` ${unit}` : ""}`;
  const spread =
    goal === "mean"
      ? ""
      : `, and the share of people up to any border of a cell to ± ${twoDigits(100 * reaches.cdf)} points`;
  return [
    `The best guess whether one person's number is in the lower or the upper half rises from ${percent(before)} to at most ${percent(after)}.`,
    `With ${count(users)} answers the mean is known to ± ${mean}${spread}, whenever you look.`,
  ];
}

/**
 * Make the line of a level, to choose it by.
 *
 * @param {Level} level
 * @param {Asked} asked
 * @param {number} users
 * @param {boolean} isChosen
 */
export function levelLine(level, asked, users, isChosen) {
  const [person, everybody] = levelLines(level, asked, users);
  const input = element("input", { type: "radio", name: "level", value: level.name, checked: isChosen });
  const title = element("strong", {}, level.name[0].toUpperCase() + level.name.slice(1));
  const lines = [person, everybody].map((line) => element("span", { class: "line" }, line));
  const numbers = element(
    "span",
    { class: "line small muted" },
    `epsilon ${level.epsilon}, eta 1: a report rules out no ${asked.number ? "number" : "answer"}`,
  );
  return element("label", { class: "choice level" }, input, element("span", {}, title, lines, numbers));
}
