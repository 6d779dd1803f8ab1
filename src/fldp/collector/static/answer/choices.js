// The answers: a list to choose from, with a search where there are many; a number where they have no names; a text.
import { element } from "../shared/dom.js";
import { bringIntoView, guard } from "./frame.js";

/** @import { AskedQuestion, Scale, Survey } from "../fldp.js" */
/** @import { Texts } from "./texts/en.js" */

/**
 * The field in which an answer is chosen. `value()` is the label, or null while there is none; `isWrong()` whether
 * something was entered that is none.
 *
 * @typedef {{ field: HTMLFieldSetElement, value: () => string | null, isWrong?: () => boolean }} Choice
 */

/**
 * What stands above a field, and what the identifiers of its parts begin with: of several, each has its own.
 *
 * @typedef {{ legend: string, id: string }} Place
 */

const FEW = 12;
const AT_ONCE = 100;
const MAX_BYTES = 1024;

/**
 * Make the field in which an answer is chosen.
 *
 * @param {Survey} survey
 * @param {Texts} words
 * @returns {Choice}
 */
export function choices(survey, words) {
  const place = { legend: words.answer, id: "" };
  if (survey.domain) return textField(words);
  if (survey.scale) return scaleField(survey.scale, words, place);
  return survey.labels ? labelField(survey.labels, words, place) : numberField(survey.oracle.domainSize, words, place);
}

/**
 * Make the field of one question of several. Where it need not be answered, `value()` is empty while it is not.
 *
 * @param {AskedQuestion} asked
 * @param {Texts} words
 * @param {Place} place
 * @returns {Choice}
 */
export function choicesOf({ labels, scale, size, optional }, words, place) {
  if (scale) return scaleField(/** @type {Scale} */ (scale), words, place);
  const field = labels
    ? labelField(labels, words, place, optional)
    : numberField(size - Number(optional), words, place, optional);
  return { ...field, value: () => field.value() ?? (optional && !field.isWrong?.() ? "" : null) };
}

/**
 * Guard a field, and say so in the person's language.
 *
 * @param {HTMLInputElement} input
 * @param {Texts} words
 */
function guarded(input, words) {
  const note = guard(input);
  if (note) note.textContent = words.scroll;
  return note;
}

/**
 * A text, taken literally: other capitals or accents make another answer. Keyboards add blanks at its end.
 *
 * @param {Texts} words
 * @returns {Choice}
 */
function textField(words) {
  const mistake = (/** @type {string} */ text) => mistakeOf(text, words);
  const input = element("input", {
    type: "text",
    id: "text",
    required: true,
    autocomplete: "off",
    autocapitalize: "none",
    spellcheck: "false",
    "aria-describedby": "text-rule",
  });
  input.addEventListener("input", () => input.setCustomValidity(mistake(input.value.trim())));
  const rule = element("p", { class: "small muted", id: "text-rule" }, words.textRule);
  const legend = element("legend", {}, element("label", { for: "text" }, words.answer));
  const field = element("fieldset", {}, legend, input, guarded(input, words), rule);
  return { field, value: () => (mistake(input.value.trim()) ? null : input.value.trim()) };
}

/**
 * Return what is wrong with a text, or nothing.
 *
 * @param {string} text
 * @param {Texts} words
 */
function mistakeOf(text, words) {
  if (!text) return words.textMissing;
  const size = new TextEncoder().encode(text).length;
  return size > MAX_BYTES ? words.textLong(size, MAX_BYTES) : "";
}

/**
 * A number of a scale, with its unit. One outside the range counts as its nearest end and is not refused: the range
 * is the collector's, who could learn from silence.
 *
 * @param {Scale} scale
 * @param {Texts} words
 * @param {Place} place
 * @returns {Choice}
 */
function scaleField(scale, words, { legend, id }) {
  const { low, high, unit = "" } = scale;
  const input = element("input", {
    type: "number",
    id: `${id}number`,
    step: "any",
    required: true,
    inputmode: low < 0 ? null : "decimal", // a keyboard of digits may have no minus
    "aria-describedby": `${id}counts-as`,
  });
  const status = element("p", { class: "small muted counts", id: `${id}counts-as`, role: "status" }, words.outside);
  input.addEventListener("input", () => {
    status.textContent = countsAs(scale, input, words);
  });
  const label = element("label", { for: input.id }, words.range(low, high, unit));
  const line = element("div", { class: "measure" }, input, unit ? element("span", {}, unit) : null);
  const field = element("fieldset", {}, element("legend", {}, legend), label, line, guarded(input, words), status);
  return { field, value: () => (input.value !== "" && input.validity.valid ? String(input.valueAsNumber) : null) };
}

/**
 * Say what a number counts as.
 *
 * @param {Scale} scale
 * @param {HTMLInputElement} input
 * @param {Texts} words
 */
function countsAs({ low, high, goal, cells, read, label, unit }, input, words) {
  if (input.value === "" || !input.validity.valid) return words.outside;
  const number = input.valueAsNumber;
  const written = (/** @type {number} */ end) => (unit ? `${end} ${unit}` : String(end));
  if (number < low || number > high) return words.countsAs(written(number < low ? low : high));
  if (goal === "mean") return words.outside;
  const cell = Number(read(String(number)));
  return cells[cell] ? words.countsAs(label(cell)) : words.outside;
}

/**
 * @param {number} size
 * @param {Texts} words
 * @param {Place} place
 * @returns {Choice}
 */
function numberField(size, words, { legend, id }, optional = false) {
  const input = element("input", {
    type: "number",
    id: `${id}number`,
    min: 0,
    max: size - 1,
    step: 1,
    required: !optional,
    inputmode: "numeric",
  });
  const label = element("label", { for: input.id }, words.number(size - 1));
  const field = element("fieldset", {}, element("legend", {}, legend), label, input, guarded(input, words));
  const value = () => (input.value !== "" && input.validity.valid ? String(input.valueAsNumber) : null);
  return { field, value, isWrong: () => !input.validity.valid };
}

/**
 * @param {readonly string[]} labels
 * @param {Texts} words
 * @param {Place} place
 * @returns {Choice}
 */
function labelField(labels, words, { legend, id }, optional = false) {
  /** @type {string | null} */
  let chosen = null;
  const box = element("div", {
    class: labels.length > FEW ? "choices many" : "choices",
    change: ({ target }) => {
      chosen = /** @type {HTMLInputElement} */ (target).value;
    },
    focusin: ({ target }) => {
      const choice = target instanceof Element && target.closest(".choice");
      if (choice) bringIntoView(choice);
    },
  });
  const status = element("p", { class: "small muted found", role: "status", id: `${id}found` });
  const field = element("fieldset", {}, element("legend", {}, legend));

  /** @param {string} wanted */
  function show(wanted) {
    const matches = labels.filter((label) => label.toLowerCase().includes(wanted));
    const shown = matches.slice(0, AT_ONCE);
    if (chosen && !shown.includes(chosen)) shown.unshift(chosen); // what is chosen never goes out of sight
    const group = { name: `${id}answer`, required: !optional };
    const lines = shown.map((label) => radioLine(label, label === chosen, group));
    const none = optional ? [radioLine("", chosen === "", group, words.noAnswer)] : [];
    box.replaceChildren(...lines, ...none);
    const more = matches.length > AT_ONCE ? words.firstShown(AT_ONCE) : "";
    status.textContent = words.found(matches.length, labels.length) + more;
  }

  if (labels.length > FEW) {
    const search = element("input", {
      type: "search",
      id: `${id}search`,
      autocomplete: "off",
      spellcheck: "false",
      "aria-describedby": `${id}found`,
      keydown: (event) => event.key === "Enter" && event.preventDefault(),
    });
    const label = element("label", { for: search.id }, words.search);
    search.addEventListener("input", () => show(search.value.trim().toLowerCase()));
    field.append(element("div", {}, label, search, guarded(search, words), status));
  }
  field.append(box);
  show("");
  return { field, value: () => chosen };
}

/**
 * @param {string} label
 * @param {boolean} checked
 * @param {{ name: string, required: boolean }} group
 */
function radioLine(label, checked, group, shown = label) {
  const input = element("input", { type: "radio", ...group, value: label });
  input.checked = checked;
  return element("label", { class: "choice" }, input, element("span", {}, shown));
}
