// How strongly answers are protected, in plain words: three levels, with what each of them costs.
import { element } from "../shared/dom.js";
import { count, percent } from "../shared/format.js";
import { post } from "../shared/session.js";

/** @import { Plan, PlanRow } from "../shared/replies.d.ts" */

/**
 * A level: its name, its epsilon, and what the planner recommends for it.
 *
 * @typedef {{ name: string, epsilon: number, row: PlanRow }} Level
 */

export const LEVELS = { strong: 0.5, medium: 1, weak: 2 };
const SIGMAS = 1.96; // of a 95 % interval

/**
 * Ask the planner about every level, for so many answers and people.
 *
 * @param {number} size
 * @param {number} users
 * @returns {Promise<Level[]>}
 */
export async function plannedLevels(size, users) {
  const asked = Object.entries(LEVELS).map(async ([name, epsilon]) => {
    /** @type {Plan} */
    const { rows } = await post("v1/plan", { domain_size: size, users, epsilon, eta: 1 });
    const row = rows.find(({ recommended }) => recommended);
    if (!row) throw new Error("no oracle can do this");
    return { name, epsilon, row };
  });
  return Promise.all(asked);
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

/** @param {number} share */
const twoDigits = (share) => String(+(100 * share).toPrecision(2));

/**
 * Say what a level means: for one person, and for everybody together.
 *
 * @param {Level} level
 * @param {number} size
 * @param {number} users
 */
export function levelLines({ epsilon, row }, size, users) {
  const { before, after } = guessOf(epsilon, size);
  return [
    `The best guess of one person's answer rises from ${percent(before)} to at most ${percent(after)}.`,
    `With ${count(users)} answers every share is known to ± ${twoDigits(reachOf(row))} points, whenever you look.`,
  ];
}

/**
 * Make the line of a level, to choose it by.
 *
 * @param {Level} level
 * @param {number} size
 * @param {number} users
 * @param {boolean} isChosen
 */
export function levelLine(level, size, users, isChosen) {
  const [person, everybody] = levelLines(level, size, users);
  const input = element("input", { type: "radio", name: "level", value: level.name, checked: isChosen });
  const title = element("strong", {}, level.name[0].toUpperCase() + level.name.slice(1));
  const lines = [person, everybody].map((line) => element("span", { class: "line" }, line));
  const numbers = element(
    "span",
    { class: "line small muted" },
    `epsilon ${level.epsilon}, eta 1: a report rules out no answer`,
  );
  return element("label", { class: "choice level" }, input, element("span", {}, title, lines, numbers));
}
