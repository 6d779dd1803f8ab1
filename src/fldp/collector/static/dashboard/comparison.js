// What changed between two periods, and what may be chance.
import { element, notice, panel } from "../shared/dom.js";
import { count, interval, percentFixed, visible } from "../shared/format.js";
import { messageOf } from "../shared/session.js";
import { dayInput, field, levelText, selected } from "./controls.js";

/** @import { Survey } from "../fldp.js" */
/** @import { ChangeRow, Comparison } from "../shared/replies.d.ts" */
/** @import { Controls } from "./controls.js" */

/**
 * Asks the collector: for all values, or for candidates.
 *
 * @typedef {(path: string) => Promise<Comparison>} Asker
 */

const MAX_ROWS = 50;
const HEADS = ["Value", "First share", "Second share", "Change", "Interval of the change", "Changed"];
const DAYS = {
  from: ["first-from", "First period, from"],
  to: ["first-to", "First period, to"],
  other_from: ["second-from", "Second period, from"],
  other_to: ["second-to", "Second period, to"],
};

/** @param {number} share */
const signed = (share) => (share > 0 ? "+" : "") + percentFixed(share);

/**
 * Make the part that compares. The estimates have the same level and decoder.
 *
 * @param {Survey} survey
 * @param {Controls} controls
 * @param {Asker} ask
 */
export function comparison(survey, controls, ask) {
  const asked = survey.questions?.map(({ name, question }) => [name, question]) ?? [];
  const which = selected("compared", asked, asked[0]?.[0] ?? "");
  const days = Object.entries(DAYS).map(([name, [id, label]]) => ({ name, label, input: dayInput(id) }));
  for (const { input } of days) input.required = true;
  const fields = days.map(({ label, input }) => field(label, input));
  const result = element("div", { "aria-live": "polite" });
  const button = element("div", { class: "actions" }, element("button", { type: "submit" }, "Compare"));
  const chosen = asked.length ? field("Question to compare", which) : null;
  const form = element("form", {}, chosen, element("div", { class: "controls" }, fields), button);

  function query() {
    const parameters = new URLSearchParams(days.map(({ name, input }) => [name, input.value]));
    parameters.set("top", String(MAX_ROWS));
    if (asked.length) parameters.set("question", which.value);
    for (const [name, value] of controls.query()) {
      if (name === "level" || name === "decoder" || name === "anytime") parameters.set(name, value);
    }
    return parameters;
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const path = `v1/versions/${survey.version}/compare?${query()}`;
    result.replaceChildren(...(await ask(path).then(compared, refused)));
  });
  const node = panel("Compare two periods", form, result);
  node.hidden = true;

  /**
   * Offer to compare, once there are two days: at first the earlier half of them with the later one.
   *
   * @param {readonly string[]} reported the days that have reports
   */
  function offer(reported) {
    node.hidden = reported.length < 2;
    if (node.hidden || days.some(({ input }) => input.value)) return;
    const half = Math.floor(reported.length / 2);
    const ends = [reported[0], reported[half - 1], reported[half], reported[reported.length - 1]];
    for (const [place, { input }] of days.entries()) input.value = ends[place];
  }
  return { node, offer };
}

/** @param {unknown} error */
function refused(error) {
  return [notice("warn", element("p", {}, `Not compared: ${messageOf(error)}.`))];
}

/** @param {Comparison} comparison */
function compared(comparison) {
  const { n, other_n, values, changed, rows } = comparison;
  const heads = HEADS.map((text) => element("th", { scope: "col" }, text));
  const head = element("thead", {}, element("tr", {}, heads));
  const table = element("table", { class: "values" }, head, element("tbody", {}, rows.map(line)));
  const summary = element("strong", {}, `${count(changed)} of ${count(values)} values changed significantly`);
  return [
    element(
      "p",
      {},
      summary,
      `, from ${count(n)} reports${comparison.question ? " about this question" : ""} in the first period and ${count(other_n)} in the second.`,
    ),
    element("p", { class: "small" }, certainty(comparison)),
    element("div", { class: "scroll tall", tabindex: "0", role: "region", "aria-label": "Changes" }, table),
  ];
}

/** @param {Comparison} comparison */
const certainty = ({ level, values, rows, anytime }) =>
  (anytime
    ? "These intervals hold for all values and whenever you look, for periods that were chosen before looking. "
    : "") +
  `The intervals hold for all ${count(values)} values at once at ${levelText(level)} (Bonferroni): ` +
  `with a probability of at most ${levelText(1 - level)} is any value named that did not change. ` +
  "They allow for the noise, and for chance in who answered when. One that is not named may have changed by less than " +
  "can be seen. The shares are unbiased, whatever post-processing is chosen above." +
  (rows.length < values ? ` The ${count(rows.length)} clearest changes are shown.` : "");

/** @param {ChangeRow} row */
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
    cells.map((text) => element("td", { class: "number" }, text)),
  );
}
