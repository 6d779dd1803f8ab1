// What the planner says: which oracles there are, what error to expect of each, and which one to take.
import { element, list, present } from "../shared/dom.js";
import { count, percent, threeDigits } from "../shared/format.js";

/** @import { Plan, PlanRow } from "../shared/replies.d.ts" */
/** @import { Values } from "./survey_fields.js" */

/** @param {PlanRow} row */
const title = ({ oracle }) => `${oracle.name.toUpperCase()}${oracle.eta === undefined ? "" : `, eta ${oracle.eta}`}`;

/**
 * Return the rows of a plan, the first of each oracle; one that is eligible where there is any.
 *
 * @param {Plan} plan
 */
const firstRows = ({ rows }) =>
  rows.filter((row) => {
    const alike = rows.filter(({ oracle }) => oracle.name === row.oracle.name);
    return row === (alike.find(({ eligible }) => eligible) ?? alike[0]);
  });

/**
 * Return the rows that can be published, one for each oracle: eligible ones, whose public part tickets can decide if
 * they are to.
 *
 * @param {Plan} plan
 * @param {Values} values
 */
const offered = (plan, { derive }) => firstRows(plan).filter((row) => row.eligible && (!derive || row.derives));

/**
 * Say which oracles are left out, and why.
 *
 * @param {Plan} plan
 * @param {Values} values
 */
function leftOut(plan, values) {
  const rows = offered(plan, values);
  const others = firstRows(plan).filter((row) => !rows.includes(row));
  const why = (/** @type {PlanRow} */ { eligible, eta }) =>
    eligible
      ? "tickets cannot decide what is public in its reports"
      : `its eta is ${threeDigits(eta)}, less than what was asked for`;
  return [...others.map((row) => `${title(row)}: ${why(row)}`), ...Object.values(plan.skipped ?? {})];
}

/**
 * Return the best row for a survey: the one that the planner recommends, unless it is a search or tickets decide.
 *
 * @param {Plan} plan
 * @param {Values} values
 * @returns {PlanRow | undefined}
 */
function bestRow(plan, values) {
  const rows = offered(plan, values);
  return rows.find((row) => (values.kind === "search" ? row.shortest : row.recommended)) ?? rows[0];
}

/**
 * Return the row of the oracle that was chosen, or else the best; null if there is none.
 *
 * @param {Plan} plan
 * @param {Values} values
 */
export function chosenRow(plan, values) {
  const chosen = offered(plan, values).find((row) => row.oracle.name === values.oracle);
  return (values.oracle ? chosen : bestRow(plan, values)) ?? null;
}

/**
 * Return what can be chosen, as pairs of a value and its text.
 *
 * @param {Plan} plan
 * @param {Values} values
 */
export function choicesOf(plan, values) {
  const best = bestRow(plan, values);
  return [
    ["", best ? `the recommended one: ${title(best)}` : "none can do this"],
    ...offered(plan, values).map((row) => [row.oracle.name, title(row)]),
  ];
}

/**
 * Say why this row is the best.
 *
 * @param {Plan} plan
 * @param {Values} values
 */
function reason(plan, values) {
  const best = bestRow(plan, values);
  if (!best || best.recommended) return plan.reason;
  if (values.kind === "search") {
    return (
      `The first round asks for ${count(plan.domain_size)} beginnings of texts. For it, ${title(best)} has the shortest ` +
      `reports of all whose error is within 5 % of the least. Later rounds have their own. ${best.exposure}`
    );
  }
  return `${title(best)} has the least error of the oracles whose public random words tickets can decide. ${best.exposure}`;
}

const heading = () => element("h2", { id: "advice" }, "Which oracle");

/**
 * Make the panel that says what to do first.
 *
 * @param {string} text
 */
export const unplanned = (text) => [heading(), element("p", {}, text)];

/**
 * Make the panel with the advice of a plan.
 *
 * @param {Plan} plan
 * @param {Values} values
 */
export function advice(plan, values) {
  const others = leftOut(plan, values);
  const summary = element("summary", {}, "Oracles that are left out, and why");
  return present([
    heading(),
    element("p", { role: "status" }, reason(plan, values)),
    element(
      "div",
      { class: "scroll tall", tabindex: "0", role: "region", "aria-label": "Oracles" },
      tableOf(plan, values),
    ),
    element(
      "p",
      { class: "small" },
      "Errors are standard errors, as shares of all who report. Seen from: the least share that is told from zero.",
    ),
    others.length ? element("details", { class: "small" }, summary, list(others)) : null,
  ]);
}

/**
 * @param {Plan} plan
 * @param {Values} values
 */
function tableOf(plan, values) {
  const best = bestRow(plan, values);
  const heads = ["Oracle", plan.domain ? "Error" : "Mean error", "Seen from", "Epsilon", "Eta", "Bits"];
  const lines = offered(plan, values).map((row) => lineOf(row, row === best));
  const cells = heads.map((text) => element("th", { scope: "col" }, text));
  const head = element("thead", {}, element("tr", {}, cells));
  return element("table", { class: "values" }, head, element("tbody", {}, lines));
}

/**
 * @param {PlanRow} row
 * @param {boolean} isBest
 */
function lineOf(row, isBest) {
  const cells = [
    percent(row.error_mean ?? row.error_rare),
    row.detectable === null ? "never" : percent(row.detectable),
    threeDigits(row.oracle.epsilon),
    threeDigits(row.eta),
    count(row.bits),
  ];
  const mark = isBest ? element("span", { class: "visually-hidden" }, " (recommended)") : null;
  return element(
    "tr",
    isBest ? { class: "best" } : {},
    element("th", { scope: "row" }, title(row), mark),
    cells.map((text) => element("td", { class: "number" }, text)),
  );
}
