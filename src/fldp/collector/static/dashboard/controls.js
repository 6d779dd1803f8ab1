// How estimates are to be made: of which days, and by which decoder, method, post-processing and level.
import { element } from "../shared/dom.js";

/** @import { Content } from "../shared/dom.js" */
/** @import { SurveyRow } from "../shared/replies.d.ts" */

/**
 * The controls of the period and of the methods, and their values as the collector reads them.
 *
 * @typedef {{ period: Content[], methods: Content, query: () => URLSearchParams }} Controls
 */

const DAY = 86_400_000; // milliseconds
const PERIODS = [
  ["", "All days"],
  ["7", "Last 7 days"],
  ["30", "Last 30 days"],
  ["custom", "From … to …"],
];

const LEVELS = [0.5, 0.8, 0.9, 0.95, 0.99, 0.999];
const DEFAULT_LEVEL = "0.95";
const POST = [
  ["", "none: unbiased"],
  ["clip", "clip (biased)"],
  ["norm-sub", "norm-sub (biased)"],
  ["simplex", "simplex (biased)"],
  ["bayes", "empirical Bayes (biased)"],
];

const LOOKS = [
  ["", "Whenever you look"],
  ["once", "One look, decided beforehand (narrower)"],
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
export const dayInput = (id) => element("input", { type: "date", id, max: "9999-12-31" }); // else years of six digits

/**
 * Return the UTC day some days ago.
 *
 * @param {number} ago
 */
const dayBefore = (ago) => new Date(Date.now() - ago * DAY).toISOString().slice(0, 10);

/**
 * Make the fields that say which days are meant; `changed` is called when that differs.
 *
 * @param {() => unknown} changed
 */
function period(changed) {
  const which = selected("period", PERIODS, "");
  const [from, to] = [dayInput("from"), dayInput("to")];
  const custom = [field("From day (UTC)", from), field("To day (UTC)", to)];
  const problem = element("p", { class: "small bad", role: "alert" });
  let inOrder = { from: "", to: "" }; // the days entered last of which the first is not after the last

  function days() {
    if (which.value === "custom") return inOrder;
    return which.value ? { from: dayBefore(Number(which.value) - 1), to: dayBefore(0) } : {};
  }

  function check() {
    for (const part of custom) part.hidden = which.value !== "custom";
    const isReversed = which.value === "custom" && from.value && to.value && from.value > to.value;
    problem.textContent = isReversed ? "The first day must not be after the last." : "";
    if (isReversed) return; // the page asks again all the time: it goes on with the days before
    inOrder = { from: from.value, to: to.value };
    changed();
  }
  for (const part of custom) part.hidden = true;
  const node = element("div", { class: "controls", change: check }, field("Period", which), custom);
  return { content: [node, problem], days };
}

const REPAIR = [
  ["", "none: unbiased"],
  ["consistent", "consistent: no cell below zero (biased)"],
];

/**
 * Make the controls of several questions.
 *
 * @param {() => unknown} changed
 * @returns {Controls}
 */
export function tableControls(changed) {
  const post = selected("post", REPAIR, "");
  const level = levelList();
  const looks = selected("looks", LOOKS, "");
  const time = period(changed);
  const fields = [field("Post-processing", post), field("Interval level", level), field("Intervals hold", looks)];
  const query = () => {
    const anytime = post.value || looks.value ? "" : "true"; // biased tables have intervals for one look alone
    const settings = Object.entries({ level: level.value, post: post.value, anytime, ...time.days() });
    return new URLSearchParams(settings.filter(([, value]) => value));
  };
  return { period: time.content, methods: element("div", { class: "controls", change: changed }, fields), query };
}

const levelList = () => {
  const pairs = LEVELS.map((share) => [String(share), levelText(share)]);
  return selected("level", pairs, DEFAULT_LEVEL);
};

/**
 * Make the controls; `changed` is called when their query differs.
 *
 * @param {SurveyRow} row
 * @param {() => unknown} changed
 * @param {boolean} [isNumber] the cells of a number, which no empirical Bayes shrinks
 * @returns {Controls}
 */
export function controls({ decoders, methods }, changed, isNumber = false) {
  const decoderPairs = decoders.map((name, place) => [name, place ? name : `${name} (the default)`]);
  const decoder = selected("decoder", decoderPairs, decoders[0]);
  const methodPairs = methods.map((name) => [name, METHODS[name] ?? name]);
  const method = selected("method", methodPairs, methods[0]);
  const repairs = isNumber ? POST.filter(([name]) => name !== "bayes") : POST;
  const post = selected("post", repairs, "");
  const level = levelList();
  const looks = selected("looks", LOOKS, "");
  const time = period(changed);
  const fields = [
    decoders.length > 1 ? field("Decoder", decoder) : null,
    methods.length > 1 ? field("What is estimated", method) : null,
    field("Post-processing", post),
    field("Interval level", level),
    field("Intervals hold", looks),
  ];
  const isUnbiased = () => !post.value && (methods.length < 2 || method.value === methods[0]);

  function query() {
    const parameters = new URLSearchParams({ level: level.value });
    if (decoders.length > 1) parameters.set("decoder", decoder.value);
    if (methods.length > 1) parameters.set("method", method.value);
    const anytime = isUnbiased() && !looks.value ? "true" : ""; // the others have intervals for one look alone
    const others = { post: post.value, anytime, ...time.days() };
    for (const [name, value] of Object.entries(others)) if (value) parameters.set(name, value);
    return parameters;
  }
  return { period: time.content, methods: element("div", { class: "controls", change: changed }, fields), query };
}
