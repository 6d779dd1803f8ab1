// The answers: a list to choose from, with a search where there are many; a number where they have no names; a text.
import { element } from "../shared/dom.js";
import { bringIntoView, guard } from "./frame.js";

const FEW = 12;
const AT_ONCE = 100;
const MAX_BYTES = 1024;

/** Make the field in which an answer is chosen. `value()` is the label, or null while there is none. */
export function choices(survey) {
  if (survey.domain) return written();
  return survey.labels ? listed(survey.labels) : numbered(survey.oracle.domainSize);
}

/** A text, as it is: what is typed with other capitals or accents is another answer. Keyboards add blanks at its end. */
function written() {
  const input = element("input", {
    type: "text",
    id: "text",
    required: true,
    autocomplete: "off",
    autocapitalize: "none",
    spellcheck: "false",
    "aria-describedby": "text-rule",
    input: () => input.setCustomValidity(mistake(input.value.trim())),
  });
  const rule = element(
    "p",
    { class: "small muted", id: "text-rule" },
    "Any text. It counts as you write it, so other capitals or accents make it another answer. Blanks around it are left out.",
  );
  const field = element(
    "fieldset",
    {},
    element("legend", {}, element("label", { for: "text" }, "Your answer")),
    input,
    guard(input),
    rule,
  );
  return { field, value: () => (mistake(input.value.trim()) ? null : input.value.trim()) };
}

/** Return what is wrong with a text, or nothing. */
function mistake(text) {
  if (!text) return "Write a text.";
  const size = new TextEncoder().encode(text).length;
  return size > MAX_BYTES ? `Write a shorter text: this one takes ${size} bytes, and ${MAX_BYTES} is the most.` : "";
}

function numbered(size) {
  const input = element("input", {
    type: "number",
    id: "number",
    min: 0,
    max: size - 1,
    step: 1,
    required: true,
    inputmode: "numeric",
  });
  const label = element("label", { for: "number" }, `A whole number from 0 to ${(size - 1).toLocaleString("en-US")}`);
  const field = element("fieldset", {}, element("legend", {}, "Your answer"), label, input, guard(input));
  return { field, value: () => (input.value !== "" && input.validity.valid ? String(input.valueAsNumber) : null) };
}

function listed(labels) {
  let chosen = null;
  const box = element("div", {
    class: labels.length > FEW ? "choices many" : "choices",
    change: ({ target }) => (chosen = target.value),
    focusin: ({ target }) => bringIntoView(target.closest(".choice")),
  });
  const said = element("p", { class: "small muted", role: "status", id: "found" });
  const field = element("fieldset", {}, element("legend", {}, "Your answer"));

  function show(wanted) {
    const found = labels.filter((label) => label.toLowerCase().includes(wanted));
    const shown = found.slice(0, AT_ONCE);
    if (chosen !== null && !shown.includes(chosen)) shown.unshift(chosen); // what is chosen never goes out of sight
    box.replaceChildren(...shown.map((label) => choice(label, label === chosen)));
    const more = found.length > AT_ONCE ? ` The first ${AT_ONCE} are shown; search for others.` : "";
    said.textContent = `${found.length.toLocaleString("en-US")} of ${labels.length.toLocaleString("en-US")} answers.${more}`;
  }

  if (labels.length > FEW) {
    const search = element("input", {
      type: "search",
      id: "search",
      autocomplete: "off",
      spellcheck: "false",
      "aria-describedby": "found",
      input: () => show(search.value.trim().toLowerCase()),
      keydown: (event) => event.key === "Enter" && event.preventDefault(),
    });
    field.append(
      element("div", {}, element("label", { for: "search" }, "Search the answers"), search, guard(search), said),
    );
  }
  field.append(box);
  show("");
  return { field, value: () => chosen };
}

function choice(label, checked) {
  const input = element("input", { type: "radio", name: "answer", value: label, required: true });
  input.checked = checked;
  return element("label", { class: "choice" }, input, element("span", {}, label));
}
