// A list with something to enter for each answer: a box to tick, or a number. It can be searched where there are many.
import { element } from "../shared/dom.js";
import { count } from "../shared/format.js";

const FEW = 12;
const AT_ONCE = 100;

/**
 * What was entered, by label: it stays while answers are searched or edited.
 *
 * @template Entry
 * @typedef {Map<string, Entry>} Entries
 */

/**
 * Make such a list. `lineOf(label, entries)` makes the line of an answer. `entered()` are pairs of a label and what was
 * entered, in the order of the labels.
 *
 * @template Entry
 * @param {string} id
 * @param {string} legend
 * @param {(label: string, entries: Entries<Entry>) => HTMLElement} lineOf
 */
export function eachAnswer(id, legend, lineOf) {
  /** @type {Entries<Entry>} */
  const entries = new Map();
  const search = element("input", {
    id: `${id}-search`,
    type: "search",
    autocomplete: "off",
    spellcheck: "false",
    "aria-describedby": `${id}-found`,
  });
  const status = element("p", { id: `${id}-found`, class: "small muted", role: "status" });
  const searchLabel = element("label", { for: search.id, class: "small" }, "Search the answers");
  const searching = element("div", {}, searchLabel, search, status);
  const box = element("div");
  const node = element("fieldset", {}, element("legend", { class: "small" }, legend), searching, box);
  /** @type {readonly string[]} */
  let labels = [];

  function show() {
    const wanted = search.value.trim().toLowerCase();
    const matches = labels.filter((label) => label.toLowerCase().includes(wanted));
    const shown = matches.slice(0, AT_ONCE);
    const others = labels.filter((label) => entries.has(label) && !shown.includes(label)); // these stay in sight
    box.replaceChildren(...[...others, ...shown].map((label) => lineOf(label, entries)));
    const more = matches.length > AT_ONCE ? ` The first ${AT_ONCE} are shown; search for others.` : "";
    status.textContent = `${count(matches.length)} of ${count(labels.length)} answers.${more}`;
  }

  /** @param {readonly string[]} answers */
  function put(answers) {
    const next = [...new Set(answers)];
    if (next.length === labels.length && next.every((label, place) => label === labels[place])) return; // the focus stays
    labels = next;
    searching.hidden = labels.length <= FEW;
    box.className = labels.length > FEW ? "choices many" : "choices";
    if (searching.hidden) search.value = "";
    show();
  }

  /** @returns {[label: string, entry: Entry][]} */
  function entered() {
    return labels.flatMap((label) => {
      const entry = entries.get(label);
      return entry === undefined ? [] : [[label, entry]];
    });
  }
  search.addEventListener("input", show);
  search.addEventListener("keydown", (event) => event.key === "Enter" && event.preventDefault());
  return { node, box, put, entered };
}

/**
 * Keep what was entered for an answer, or nothing.
 *
 * @template Entry
 * @param {Entries<Entry>} entries
 * @param {string} label
 * @param {Entry} entry
 */
const enter = (entries, label, entry) => (entry ? entries.set(label, entry) : entries.delete(label));

/**
 * The line of an answer that may be ticked.
 *
 * @param {string} label
 * @param {Entries<boolean>} entries
 */
export function tickLine(label, entries) {
  const box = element("input", { type: "checkbox" });
  box.addEventListener("input", () => enter(entries, label, box.checked));
  box.checked = entries.has(label);
  return element("label", { class: "choice" }, box, element("span", {}, label));
}

/**
 * The line of an answer that may have a number above zero.
 *
 * @param {string} label
 * @param {Entries<number>} entries
 */
export function numberLine(label, entries) {
  const box = element("input", { type: "number", min: 0.01, step: "any", autocomplete: "off" });
  box.addEventListener("input", () => enter(entries, label, box.valueAsNumber));
  box.value = String(entries.get(label) ?? "");
  return element("label", { class: "choice amount" }, element("span", {}, label), box);
}
