// What must be protected: every answer alike, or some of them in another way than the rest, which are named here.
import { field, selected } from "../dashboard/controls.js";
import { element } from "../shared/dom.js";
import { threeDigits } from "../shared/format.js";
import { eachAnswer, numberLine, tickLine } from "./each_answer.js";

/** @import { Treatment } from "../shared/treatment.js" */

/**
 * What is declared of some answers: the sensitive ones, budgets by label, or how all of them lie.
 *
 * @typedef {{ sensitive?: string[], budgets?: Record<string, number>, distance?: string }} Declared
 */

/**
 * A way to treat answers differently: what is entered, given the labels and the epsilon of a report.
 *
 * @typedef {{
 *   node: HTMLElement,
 *   put: (labels: readonly string[], epsilon: number) => void,
 *   wanted: string,
 *   declared: () => string[] | Record<string, number> | string,
 * }} Way
 */

export const TREATMENTS = {
  alike: "every answer alike",
  sensitive: "only some answers",
  budgets: "some answers more than others",
  distance: "near answers more than far ones",
};
const DISTANCES = [
  ["line", "in a row, as they are listed"],
  ["ring", "in a ring: the last is beside the first"],
];
/** @type {Record<string, string>} */
const HINTS = {
  sensitive:
    "No report says for certain that somebody gave a sensitive answer. The others are not hidden: with the oracles made for this, some reports name one for certain, and so say that it is no sensitive one. This is weaker than local differential privacy (ULDP).",
  budgets:
    "Two answers are hidden from each other by the smaller of their epsilons. An answer without its own epsilon has the epsilon of a report. So some answers are hidden less than others (ID-LDP).",
  distance:
    "The further apart two answers are, the better reports may tell them apart: anybody can guess roughly where an answer lies (CLDP). EXPONENTIAL, which is made for this, is good at sums over neighbouring answers. The errors in the table are of single ones.",
};

/**
 * Answers of which some are ticked.
 *
 * @returns {Way}
 */
function sensitive() {
  const { node, put, entered } = eachAnswer("sensitive", "Sensitive answers", tickLine);
  return { node, put, wanted: "Tick the sensitive answers.", declared: () => entered().map(([label]) => label) };
}

/**
 * Answers of which some have an epsilon of their own, below the common one.
 *
 * @returns {Way}
 */
function budgets() {
  const { node, box, put, entered } = eachAnswer(
    "budgets",
    "Epsilon of single answers, smaller than the epsilon of a report",
    numberLine,
  );

  /**
   * @param {readonly string[]} labels
   * @param {number} epsilon
   */
  function check(labels, epsilon) {
    put(labels);
    for (const input of box.querySelectorAll("input")) {
      input.placeholder = String(epsilon);
      input.setCustomValidity(input.valueAsNumber >= epsilon ? `Less than the epsilon of a report, ${epsilon}.` : "");
    }
  }
  return {
    node,
    put: check,
    wanted: "Enter an epsilon of its own for some answer.",
    declared: () => Object.fromEntries(entered()),
  };
}

/**
 * Answers in a row or a ring.
 *
 * @returns {Way}
 */
function distance() {
  const input = selected("distance", DISTANCES, "line");
  const status = element("p", { class: "small", role: "status" });

  /**
   * @param {readonly string[]} labels
   * @param {number} epsilon
   */
  function put({ length: size }, epsilon) {
    const near = epsilon / (input.value === "ring" ? Math.floor(size / 2) : size - 1);
    status.textContent =
      size > 1 && epsilon > 0
        ? `Epsilon of the two answers farthest apart: ${epsilon}. Of neighbours: ${threeDigits(near)}.`
        : "";
  }
  const node = element("div", {}, field("How the answers lie", input), status);
  return { node, put, wanted: "", declared: () => input.value };
}

/**
 * Make the part in which answers are named. `put` tells it how they differ, the labels, and the epsilon of a report.
 * `declared()` is what a survey says about it; `wanted()` what is to be done first, if anything.
 */
export function protection() {
  /** @type {Record<Treatment, Way>} */
  const ways = { sensitive: sensitive(), budgets: budgets(), distance: distance() };
  const hint = element("p", { class: "small" });
  const node = element(
    "div",
    { class: "stack" },
    hint,
    Object.values(ways).map((way) => way.node),
  );
  let chosen = "alike";

  /** Return the way that is chosen; none where all answers are treated alike. */
  const way = () => Object.entries(ways).find(([name]) => name === chosen)?.[1];

  /**
   * @param {string} treatment
   * @param {readonly string[]} labels
   * @param {number} epsilon
   */
  function put(treatment, labels, epsilon) {
    chosen = treatment;
    node.hidden = !way();
    hint.textContent = HINTS[treatment] ?? "";
    for (const [name, way] of Object.entries(ways)) {
      way.node.hidden = name !== treatment;
      way.put(name === treatment ? labels : [], epsilon);
    }
  }

  /** @returns {Declared} */
  const declared = () => (way() ? { [chosen]: way()?.declared() } : {});
  const isEmpty = () => Object.keys(way()?.declared() ?? {}).length === 0;
  const wanted = () => (isEmpty() ? (way()?.wanted ?? "") : "");
  return { node, put, declared, wanted };
}
