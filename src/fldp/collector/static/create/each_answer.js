// A list with something to enter for each answer: a box to tick, or a number. It can be searched where there are many.
import { element } from "../shared/dom.js";
import { count } from "../shared/format.js";

const FEW = 12;
const AT_ONCE = 100;

/**
 * Make such a list. `line(label, kept)` makes the line of an answer, and keeps what is entered in a map by label: it stays
 * while answers are searched or edited. `entered()` are pairs of a label and what was entered, in the order of the labels.
 */
export function eachAnswer(id, legend, line) {
  const kept = new Map();
  const search = element("input", {
    id: `${id}-search`,
    type: "search",
    autocomplete: "off",
    spellcheck: "false",
    "aria-describedby": `${id}-found`,
  });
  const said = element("p", { id: `${id}-found`, class: "small muted", role: "status" });
  const finding = element(
    "div",
    {},
    element("label", { for: search.id, class: "small" }, "Search the answers"),
    search,
    said,
  );
  const box = element("div");
  const node = element("fieldset", {}, element("legend", { class: "small" }, legend), finding, box);
  let labels = [];

  function show() {
    const wanted = search.value.trim().toLowerCase();
    const found = labels.filter((label) => label.toLowerCase().includes(wanted));
    const shown = found.slice(0, AT_ONCE);
    const others = labels.filter((label) => kept.has(label) && !shown.includes(label)); // what was entered stays in sight
    box.replaceChildren(...[...others, ...shown].map((label) => line(label, kept)));
    said.textContent = `${count(found.length)} of ${count(labels.length)} answers.${found.length > AT_ONCE ? ` The first ${AT_ONCE} are shown; search for others.` : ""}`;
  }

  function put(given) {
    const found = [...new Set(given)];
    if (found.length === labels.length && found.every((label, place) => label === labels[place])) return; // the focus stays
    labels = found;
    finding.hidden = labels.length <= FEW;
    box.className = labels.length > FEW ? "choices many" : "choices";
    if (finding.hidden) search.value = "";
    show();
  }

  search.addEventListener("input", show);
  search.addEventListener("keydown", (event) => event.key === "Enter" && event.preventDefault());
  return {
    node,
    box,
    put,
    entered: () => labels.filter((label) => kept.has(label)).map((label) => [label, kept.get(label)]),
  };
}

/** Keep what was entered for an answer, or nothing. */
const note = (kept, label, value) => (value ? kept.set(label, value) : kept.delete(label));

/** The line of an answer that may be ticked. */
export function tickLine(label, kept) {
  const box = element("input", { type: "checkbox", input: () => note(kept, label, box.checked) });
  box.checked = kept.has(label);
  return element("label", { class: "choice" }, box, element("span", {}, label));
}

/** The line of an answer that may have a number above zero. */
export function numberLine(label, kept) {
  const box = element("input", {
    type: "number",
    min: 0.01,
    step: "any",
    autocomplete: "off",
    input: () => note(kept, label, box.valueAsNumber),
  });
  box.value = kept.get(label) ?? "";
  return element("label", { class: "choice amount" }, element("span", {}, label), box);
}
