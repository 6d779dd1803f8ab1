// The candidates of a survey whose answers are texts: nobody can list those, so who looks names what is counted.

import { element } from "../shared/dom.js";
import { count } from "../shared/format.js";
import { field } from "./controls.js";

const MAX_KEPT = 1 << 20; // characters that a tab keeps

const keyOf = ({ version }) => `fldp-candidates-${version}`;

/** Return the lines of a text, each once; blank ones are left out. */
export const linesOf = (text) => [...new Set(text.split(/\r?\n/).filter((line) => line.trim()))];

const howMany = (number) => (number ? `${count(number)} ${number === 1 ? "text" : "texts"}.` : "No text is named yet.");

/** Make the part in which candidates are named. They are kept until the tab is closed; `changed` is called with new ones. */
export function candidates(survey, changed) {
  const before = sessionStorage.getItem(keyOf(survey)) ?? "";
  const input = element("textarea", {
    id: "candidates",
    rows: 8,
    spellcheck: "false",
    autocapitalize: "none",
    "aria-describedby": "candidates-said",
  });
  const file = element("input", { id: "candidates-file", type: "file", accept: ".txt,.csv,text/plain" });
  const said = element("p", { class: "small muted", role: "status", id: "candidates-said" });
  const button = element("button", { type: "submit", class: "primary" }, "Count these");
  const form = element(
    "form",
    { class: "stack", submit: (event) => (event.preventDefault(), take()) },
    element(
      "p",
      {},
      "The answers are texts, which nobody can list. Name those that you want counted, as they were written: how often others were given is not estimated.",
    ),
    field("Texts, one on a line", input),
    field("Or a file with one on each line", file),
    said,
    element("div", { class: "actions" }, button),
  );
  let found = [];

  function take() {
    found = linesOf(input.value);
    if (input.value.length <= MAX_KEPT) sessionStorage.setItem(keyOf(survey), input.value);
    said.textContent = howMany(found.length);
    changed();
  }

  file.addEventListener("change", async () => {
    input.value = (await file.files[0]?.text()) ?? "";
    take();
  });
  input.value = before;
  found = linesOf(before);
  said.textContent = howMany(found.length);
  const node = element(
    "section",
    { class: "panel", "aria-labelledby": "candidates-title" },
    element("h2", { id: "candidates-title" }, "Which texts"),
    form,
  );
  return { node, list: () => found };
}
