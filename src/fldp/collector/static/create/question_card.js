// One question of several in the form: what it asks, what may be answered, and its place.
import { field, selected } from "../dashboard/controls.js";
import { element } from "../shared/dom.js";
import { linesOf, twiceText } from "./survey_fields.js";

/**
 * A question as the form says it; `name` is made later, since names must differ.
 *
 * @typedef {{
 *   question: string,
 *   labels?: readonly string[],
 *   number?: { low: number, high: number, bins: number, unit?: string, apart?: readonly number[] },
 *   optional?: true,
 * }} Drafted
 */

/**
 * What is done with a question of the list.
 *
 * @typedef {{ up: () => void, down: () => void, remove: () => void }} Moves
 */

const KINDS = [
  ["labels", "one answer from a list"],
  ["number", "a number"],
];
const BINS = 32;

/**
 * Make the part of the form for one question. `read()` is what it says; `place(number, count)` tells it where it
 * stands, among how many.
 *
 * @param {string} id
 * @param {Moves} moves
 */
export function questionCard(id, { up, down, remove }) {
  const text = (/** @type {string} */ key, more = {}) =>
    element("input", { id: `${id}-${key}`, type: "text", autocomplete: "off", ...more });
  const amount = (/** @type {string} */ key, more = {}) =>
    element("input", { id: `${id}-${key}`, type: "number", step: "any", ...more });
  const question = text("question", { maxlength: 2000 });
  const kind = selected(`${id}-kind`, KINDS, "labels");
  const labels = element("textarea", { id: `${id}-labels`, rows: 4, spellcheck: "false" });
  const optional = element("input", { id: `${id}-optional`, type: "checkbox" });
  const [low, high] = [amount("low"), amount("high")];
  const bins = amount("bins", { min: 3, max: 4096, step: 1, value: BINS });
  const unit = text("unit", { maxlength: 20 });
  const apart = text("apart");
  const listed = element(
    "div",
    {},
    field("Answers, one per line", labels),
    element("div", { class: "field ticked" }, optional, element("label", { for: optional.id }, "People may skip it")),
  );
  const measured = element(
    "div",
    { class: "controls", hidden: true },
    field("From", low),
    field("To", high),
    field("Unit, if there is one", unit),
    field("Cells", bins),
    field("Values that many hold exactly, such as 0", apart),
  );
  const legend = element("legend", { tabindex: "-1" });
  const move = (/** @type {string} */ words, /** @type {() => void} */ act) =>
    element("button", { type: "button", class: "quiet", click: act }, words);
  const [earlier, later, gone] = [move("Move up", up), move("Move down", down), move("Remove", remove)];
  const node = element(
    "fieldset",
    { class: "panel drafted" },
    legend,
    field("Question", question),
    field("What people answer", kind),
    listed,
    measured,
    element("div", { class: "actions" }, earlier, later, gone),
  );
  kind.addEventListener("change", () => {
    listed.hidden = kind.value === "number";
    measured.hidden = !listed.hidden;
  });

  /** @returns {Drafted} */
  function read() {
    const asked = question.value.trim();
    if (kind.value === "labels") {
      return { question: asked, labels: linesOf(labels.value), ...(optional.checked ? { optional: true } : {}) };
    }
    const own = unit.value.trim();
    const alone = numbersOf(apart.value);
    const range = { low: low.valueAsNumber, high: high.valueAsNumber, bins: bins.valueAsNumber };
    const more = { ...(own ? { unit: own } : {}), ...(alone.length ? { apart: alone } : {}) };
    return { question: asked, number: { ...range, ...more } };
  }

  /**
   * @param {number} number
   * @param {number} count
   */
  function place(number, count) {
    legend.textContent = `Question ${number + 1}`;
    earlier.disabled = number === 0;
    later.disabled = number === count - 1;
    gone.disabled = count <= 2;
    for (const [button, words] of [
      [earlier, "Move up"],
      [later, "Move down"],
      [gone, "Remove"],
    ]) {
      /** @type {HTMLElement} */ (button).ariaLabel = `${words}: question ${number + 1}`;
    }
  }
  return { node, read, place, focus: () => question.focus() };
}

/**
 * Return the numbers of a text, separated by commas or blanks.
 *
 * @param {string} text
 */
export const numbersOf = (text) =>
  text
    .split(/[\s,;]+/)
    .filter(Boolean)
    .map(Number);

/**
 * Return what is wrong with a question, or nothing. What this does not find, the collector does.
 *
 * @param {Drafted} asked
 * @param {number} number
 */
export function mistakeOf({ question, labels, number: range }, number) {
  const here = `Question ${number + 1}`;
  if (!question) return `${here}: write what is asked.`;
  if (labels && labels.length < 2) return `${here}: write at least two answers, one per line.`;
  const twice = labels && twiceText(labels);
  if (twice) return `${here}: ${twice[0].toLowerCase()}${twice.slice(1)}`;
  if (!range) return null;
  const { low, high, bins, apart = [] } = range;
  if (!(low < high)) return `${here}: write from which number to which, the smaller one first.`;
  if (!Number.isInteger(bins)) return `${here}: the cells must be a whole number; 32 suits most surveys.`;
  if (!apart.every((value) => value >= low && value <= high)) {
    return `${here}: values apart must be numbers of the range, separated by commas.`;
  }
  return null;
}
