// The candidates of a survey whose answers are texts: nobody can list those, so whoever looks names what is counted.
import { element } from "../shared/dom.js";
import { count } from "../shared/format.js";
import { field } from "./controls.js";

/** @import { Survey } from "../fldp.js" */

/**
 * The part in which candidates are named, and those that are.
 *
 * @typedef {{ node: HTMLElement, list: () => readonly string[] }} Candidates
 */

const MAX_KEPT = 1 << 20; // characters that a tab keeps

/** @param {Survey} survey */
const keyOf = ({ version }) => `fldp-candidates-${version}`;

/**
 * Return the lines of a text, each once; blank ones are left out.
 *
 * @param {string} text
 */
const linesOf = (text) => [...new Set(text.split(/\r?\n/).filter((line) => line.trim()))];

/** @param {number} number */
const howMany = (number) => (number ? `${count(number)} ${number === 1 ? "text" : "texts"}.` : "No text is named yet.");

/**
 * Make the part in which candidates are named. They are kept until the tab is closed; `changed` is called with new ones.
 *
 * @param {Survey} survey
 * @param {() => unknown} changed
 * @returns {Candidates}
 */
export function candidates(survey, changed) {
  const input = element("textarea", {
    id: "candidates",
    rows: 8,
    spellcheck: "false",
    autocapitalize: "none",
    "aria-describedby": "candidates-said",
  });
  const file = element("input", { id: "candidates-file", type: "file", accept: ".txt,.csv,text/plain" });
  const status = element("p", { class: "small muted", role: "status", id: "candidates-said" });
  const button = element("button", { type: "submit", class: "primary" }, "Count these");
  const form = element(
    "form",
    {
      class: "stack",
      submit: (event) => {
        event.preventDefault();
        take();
      },
    },
    element(
      "p",
      {},
      "The answers are texts, which nobody can list. Name those that you want counted, as they were written: how often others were given is not estimated.",
    ),
    field("Texts, one per line", input),
    field("Or a file with one per line", file),
    status,
    element("div", { class: "actions" }, button),
  );
  /** @type {readonly string[]} */
  let lines = [];

  function read() {
    lines = linesOf(input.value);
    status.textContent = howMany(lines.length);
  }

  function take() {
    read();
    if (input.value.length <= MAX_KEPT) sessionStorage.setItem(keyOf(survey), input.value);
    changed();
  }

  file.addEventListener("change", async () => {
    input.value = (await file.files?.[0]?.text()) ?? "";
    take();
  });
  input.value = sessionStorage.getItem(keyOf(survey)) ?? "";
  read();
  const heading = element("h2", { id: "candidates-title" }, "Which texts");
  const node = element("section", { class: "panel", "aria-labelledby": "candidates-title" }, heading, form);
  return { node, list: () => lines };
}
