// The answers: a list to choose from, with a search where there are many; a number where they have no names; a text.
import { element } from "../shared/dom.js";
import { count } from "../shared/format.js";
import { bringIntoView, guard } from "./frame.js";

/** @import { Survey } from "../fldp.js" */

/**
 * The field in which an answer is chosen. `value()` is the label, or null while there is none.
 *
 * @typedef {{ field: HTMLFieldSetElement, value: () => string | null }} Choice
 */

const FEW = 12;
const AT_ONCE = 100;
const MAX_BYTES = 1024;

/**
 * Make the field in which an answer is chosen.
 *
 * @param {Survey} survey
 * @returns {Choice}
 */
export function choices(survey) {
  if (survey.domain) return textField();
  return survey.labels ? labelField(survey.labels) : numberField(survey.oracle.domainSize);
}

/**
 * A text, taken literally: other capitals or accents make another answer. Keyboards add blanks at its end.
 *
 * @returns {Choice}
 */
function textField() {
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
  const rule = element(
    "p",
    { class: "small muted", id: "text-rule" },
    "Any text. It counts as you write it, so other capitals or accents make it another answer. Blanks around it are left out.",
  );
  const legend = element("legend", {}, element("label", { for: "text" }, "Your answer"));
  const field = element("fieldset", {}, legend, input, guard(input), rule);
  return { field, value: () => (mistake(input.value.trim()) ? null : input.value.trim()) };
}

/**
 * Return what is wrong with a text, or nothing.
 *
 * @param {string} text
 */
function mistake(text) {
  if (!text) return "Write a text.";
  const size = new TextEncoder().encode(text).length;
  return size > MAX_BYTES ? `Write a shorter text: this one takes ${size} bytes, and ${MAX_BYTES} is the most.` : "";
}

/**
 * @param {number} size
 * @returns {Choice}
 */
function numberField(size) {
  const input = element("input", {
    type: "number",
    id: "number",
    min: 0,
    max: size - 1,
    step: 1,
    required: true,
    inputmode: "numeric",
  });
  const label = element("label", { for: "number" }, `A whole number from 0 to ${count(size - 1)}`);
  const field = element("fieldset", {}, element("legend", {}, "Your answer"), label, input, guard(input));
  return { field, value: () => (input.value !== "" && input.validity.valid ? String(input.valueAsNumber) : null) };
}

/**
 * @param {readonly string[]} labels
 * @returns {Choice}
 */
function labelField(labels) {
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
  const status = element("p", { class: "small muted", role: "status", id: "found" });
  const field = element("fieldset", {}, element("legend", {}, "Your answer"));

  /** @param {string} wanted */
  function show(wanted) {
    const matches = labels.filter((label) => label.toLowerCase().includes(wanted));
    const shown = matches.slice(0, AT_ONCE);
    if (chosen !== null && !shown.includes(chosen)) shown.unshift(chosen); // what is chosen never goes out of sight
    box.replaceChildren(...shown.map((label) => radioLine(label, label === chosen)));
    const more = matches.length > AT_ONCE ? ` The first ${AT_ONCE} are shown; search for others.` : "";
    status.textContent = `${count(matches.length)} of ${count(labels.length)} answers.${more}`;
  }

  if (labels.length > FEW) {
    const search = element("input", {
      type: "search",
      id: "search",
      autocomplete: "off",
      spellcheck: "false",
      "aria-describedby": "found",
      keydown: (event) => event.key === "Enter" && event.preventDefault(),
    });
    const label = element("label", { for: "search" }, "Search the answers");
    search.addEventListener("input", () => show(search.value.trim().toLowerCase()));
    field.append(element("div", {}, label, search, guard(search), status));
  }
  field.append(box);
  show("");
  return { field, value: () => chosen };
}

/**
 * @param {string} label
 * @param {boolean} checked
 */
function radioLine(label, checked) {
  const input = element("input", { type: "radio", name: "answer", value: label, required: true });
  input.checked = checked;
  return element("label", { class: "choice" }, input, element("span", {}, label));
}
