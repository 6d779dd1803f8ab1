// What changed between two windows of days, and what may be chance.

import { element, notice } from "../shared/dom.js";
import { count, interval, percentFixed, visible } from "../shared/format.js";
import { dayInput, field, levelWords } from "./controls.js";

const MOST = 50;
const HEADS = ["Value", "First share", "Second share", "Change", "Interval of the change", "Changed"];
const signed = (share) => (share > 0 ? "+" : "") + percentFixed(share);

/** Make the part that compares. `asked` are the controls of the estimates, whose level and decoder hold here too. */
export function comparison(survey, asked, ask) {
  const inputs = ["first-from", "first-to", "second-from", "second-to"].map(dayInput);
  const words = ["First window, from", "First window, to", "Second window, from", "Second window, to"];
  for (const input of inputs) input.required = true;
  const fields = inputs.map((input, place) => field(words[place], input));
  const result = element("div", { "aria-live": "polite" });
  const button = element("div", { class: "actions" }, element("button", { type: "submit" }, "Compare"));
  const form = element("form", {}, element("div", { class: "controls" }, fields), button);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    result.replaceChildren(...(await compared(ask, survey, query(inputs, asked.query())).catch(refused)));
  });
  return element("section", { class: "panel" }, element("h2", {}, "Compare two windows of days"), form, result);
}

function query([from, to, otherFrom, otherTo], asked) {
  const found = new URLSearchParams({
    from: from.value,
    to: to.value,
    other_from: otherFrom.value,
    other_to: otherTo.value,
    top: MOST,
  });
  for (const name of ["level", "decoder"]) if (asked.has(name)) found.set(name, asked.get(name));
  return found;
}

function refused(error) {
  return [notice("warn", element("p", {}, `Not compared: ${error.message}.`))];
}

async function compared(ask, survey, asked) {
  const found = await ask(`v1/versions/${survey.version}/compare?${asked}`);
  const heads = HEADS.map((words) => element("th", { scope: "col" }, words));
  const table = element(
    "table",
    { class: "values" },
    element("thead", {}, element("tr", {}, heads)),
    element("tbody", {}, found.rows.map(line)),
  );
  const named = element("strong", {}, `${count(found.changed)} of ${count(found.values)} values changed significantly`);
  return [
    element(
      "p",
      {},
      named,
      `, from ${count(found.n)} reports in the first window and ${count(found.other_n)} in the second.`,
    ),
    element("p", { class: "small" }, certainty(found)),
    element("div", { class: "scroll tall", tabindex: "0", role: "region", "aria-label": "Changes" }, table),
  ];
}

const certainty = ({ level, values, rows }) =>
  `The intervals hold for all ${count(values)} values at once at ${levelWords(level)} (Bonferroni): with a probability of at most ${levelWords(1 - level)} is any value named that did not change. ` +
  "They allow for the noise, and for chance in who answered when. One that is not named may have changed by less than can be seen. The shares are unbiased, whatever post-processing is chosen above." +
  (rows.length < values ? ` The ${count(rows.length)} clearest changes are shown.` : "");

function line({ label, share, other_share: other, difference, low, high, changed }) {
  const cells = [
    percentFixed(share),
    percentFixed(other),
    signed(difference),
    interval(low, high, signed),
    changed ? "yes" : "may be chance",
  ];
  return element(
    "tr",
    changed ? {} : { class: "unsure" },
    element("th", { scope: "row" }, visible(label)),
    cells.map((words) => element("td", { class: "number" }, words)),
  );
}
