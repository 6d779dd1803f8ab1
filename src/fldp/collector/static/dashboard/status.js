// A survey among all: its state and the number of its reports, live.
import { element } from "../shared/dom.js";
import { count } from "../shared/format.js";
import { get, Refused } from "../shared/session.js";

/** @import { SurveyRow } from "../shared/replies.d.ts" */

/**
 * Find a survey among all that the token is valid for.
 *
 * @param {string} version
 * @returns {Promise<SurveyRow>}
 */
export async function rowOf(version) {
  /** @type {SurveyRow[]} */
  const rows = await get("v1/surveys");
  const row = rows.find((row) => row.version === version);
  if (row) return row;
  throw new Refused(404, { detail: "there is no such survey" });
}

/**
 * Return a text that changes whenever the reports of a survey do: its two numbers only grow.
 *
 * @param {SurveyRow} row
 */
export const amountOf = ({ n, withdrawn = 0 }) => `${n} ${withdrawn}`;

/**
 * Return the part of a query that selects days.
 *
 * @param {URLSearchParams} query
 */
export const windowOf = (query) => new URLSearchParams([...query].filter(([name]) => name === "from" || name === "to"));

/** Make the line with the state and the number of reports. */
export function statusLine() {
  const state = element("span");
  const n = element("strong", { class: "count" });
  const noun = element("span");
  const taken = element("span", { class: "muted", hidden: true });
  const node = element("p", { class: "facts" }, state, element("span", {}, n, " ", noun), taken);

  /** @param {SurveyRow} row */
  function put(row) {
    state.textContent = row.state;
    state.className = `state ${row.state}`;
    n.textContent = count(row.n);
    noun.textContent = row.n === 1 ? "report" : "reports";
    taken.hidden = !row.withdrawn;
    taken.textContent = `${count(row.withdrawn ?? 0)} taken back by their senders, and not counted`;
  }
  return { node, put };
}

/**
 * @param {number} n
 * @param {number} minimum
 */
export const tooFew = (n, minimum) =>
  n === 0
    ? `There are no reports yet. Estimates are shown from ${count(minimum)} on.`
    : `There ${n === 1 ? "is 1 report" : `are ${count(n)} reports`}. Estimates are shown from ${count(minimum)} on, since of fewer they are mostly noise.`;
