// How estimates are to be made: decoder, method, post-processing, level, and days.
import { element } from "../shared/dom.js";

/** @import { Content } from "../shared/dom.js" */
/** @import { SurveyRow } from "../shared/replies.d.ts" */

/**
 * The controls, and what they say as the collector reads it.
 *
 * @typedef {{ content: Content[], query: () => URLSearchParams }} Controls
 */

const LEVELS = [0.5, 0.8, 0.9, 0.95, 0.99, 0.999];
const DEFAULT_LEVEL = "0.95";
const POST = [
  ["", "none: unbiased"],
  ["clip", "clip (biased)"],
  ["norm-sub", "norm-sub (biased)"],
  ["simplex", "simplex (biased)"],
];

/** @type {Record<string, string>} */
const METHODS = { linear: "all texts", select: "those that stand out" };

/** @param {number} level */
export const levelText = (level) => `${+(100 * level).toFixed(4)} %`;

/**
 * Make a field: a label, and what is chosen or entered below it.
 *
 * @param {string} label
 * @param {HTMLElement} input
 */
export function field(label, input) {
  return element("div", { class: "field" }, element("label", { for: input.id }, label), input);
}

/**
 * Make a list to choose one from: pairs of a value and its text.
 *
 * @param {string} id
 * @param {readonly (readonly string[])[]} pairs
 * @param {string} chosen
 */
export function selected(id, pairs, chosen) {
  return element(
    "select",
    { id },
    pairs.map(([value, text]) => element("option", { value, selected: value === chosen }, text)),
  );
}

/**
 * Make a field for a UTC day.
 *
 * @param {string} id
 */
export const dayInput = (id) => element("input", { type: "date", id });

/**
 * Make the controls; `changed` is called when their query differs.
 *
 * @param {SurveyRow} row
 * @param {() => unknown} changed
 * @returns {Controls}
 */
export function controls({ decoders, methods }, changed) {
  const decoderPairs = decoders.map((name, place) => [name, place ? name : `${name} (the default)`]);
  const decoder = selected("decoder", decoderPairs, decoders[0]);
  const methodPairs = methods.map((name) => [name, METHODS[name] ?? name]);
  const method = selected("method", methodPairs, methods[0]);
  const post = selected("post", POST, "");
  const levelPairs = LEVELS.map((share) => [String(share), levelText(share)]);
  const level = selected("level", levelPairs, DEFAULT_LEVEL);
  const [from, to] = [dayInput("from"), dayInput("to")];
  const fields = [
    decoders.length > 1 ? field("Decoder", decoder) : null,
    methods.length > 1 ? field("What is estimated", method) : null,
    field("Post-processing", post),
    field("Interval level", level),
    field("From day (UTC)", from),
    field("To day (UTC)", to),
  ];
  const problem = element("p", { class: "small bad", role: "alert" });

  function query() {
    const parameters = new URLSearchParams({ level: level.value });
    if (decoders.length > 1) parameters.set("decoder", decoder.value);
    if (methods.length > 1) parameters.set("method", method.value);
    for (const [name, { value }] of Object.entries({ post, from, to })) if (value) parameters.set(name, value);
    return parameters;
  }

  function check() {
    const isReversed = from.value && to.value && from.value > to.value;
    problem.textContent = isReversed ? "The first day must not be after the last." : "";
    if (!isReversed) changed();
  }
  return { content: [element("div", { class: "controls", change: check }, fields), problem], query };
}
