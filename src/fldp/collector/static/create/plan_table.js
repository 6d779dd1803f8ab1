// What the planner says: which oracles there are, what error to expect of each, and which one to take.
import { element, list } from "../shared/dom.js";
import { count, percent } from "../shared/format.js";

const title = ({ oracle }) => `${oracle.name.toUpperCase()}${oracle.eta === undefined ? "" : `, eta ${oracle.eta}`}`;

const three = (number) => number.toLocaleString("en-US", { maximumSignificantDigits: 3 });
const isFirst = ({ oracle }, place, rows) => rows.findIndex((row) => row.oracle.name === oracle.name) === place;

/** Return the rows that can be published, one for each oracle: those that keep what was asked for, and of which tickets can decide, if they are to. */
const offered = ({ rows }, { derive }) =>
  rows.filter((row, place) => row.eligible && isFirst(row, place, rows) && (!derive || row.derives));

/** Say which oracles are left out, and why. */
function leftOut({ rows, skipped = {} }, { derive }) {
  const other = rows.filter(isFirst).filter(({ eligible, derives }) => !eligible || (derive && !derives));
  const why = ({ eligible, eta }) =>
    eligible
      ? "tickets cannot decide what is public in its reports"
      : `its eta is ${three(eta)}, less than what was asked for`;
  return [...other.map((row) => `${title(row)}: ${why(row)}`), ...Object.values(skipped)];
}

/** Return the best row for a survey: that which the planner recommends, unless it is a search or tickets decide. */
function bestRow(plan, values) {
  const rows = offered(plan, values);
  return rows.find((row) => (values.kind === "search" ? row.shortest : row.recommended)) ?? rows[0];
}

/** Return the row of the oracle that was chosen, or else the best; null if there is none. */
export function chosenRow(plan, values) {
  const named = (row) => row.oracle.name === values.oracle;
  return (plan && (values.oracle ? offered(plan, values).find(named) : bestRow(plan, values))) ?? null;
}

/** Return what can be chosen, as pairs of a value and its words. */
export function choicesOf(plan, values) {
  const best = bestRow(plan, values);
  return [
    ["", best ? `the recommended one: ${title(best)}` : "none can do this"],
    ...offered(plan, values).map((row) => [row.oracle.name, title(row)]),
  ];
}

/** Say why this row is the best. */
function reason(plan, values) {
  const best = bestRow(plan, values);
  if (!best || best.recommended) return plan.reason;
  if (values.kind === "search") {
    return `The first round asks for ${count(plan.domain_size)} beginnings of texts. For it, ${title(best)} has the shortest reports of all whose error is within 5 % of the least. Later rounds have their own. ${best.exposure}`;
  }
  return `${title(best)} has the least error of the oracles whose public random words tickets can decide. ${best.exposure}`;
}

/** Make the panel with the advice: what to do first, or a plan. */
export function advice(words, plan, values) {
  const heading = element("h2", { id: "advice" }, "Which oracle");
  if (!plan) return [heading, element("p", {}, words)];
  const others = leftOut(plan, values);
  return [
    heading,
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
    others.length
      ? element(
          "details",
          { class: "small" },
          element("summary", {}, "Oracles that are left out, and why"),
          list(others),
        )
      : null,
  ].filter(Boolean);
}

function tableOf(plan, values) {
  const best = bestRow(plan, values);
  const heads = ["Oracle", plan.domain ? "Error" : "Mean error", "Seen from", "Epsilon", "Eta", "Bits"];
  const lines = offered(plan, values).map((row) => lineOf(row, row === best));
  const head = element(
    "tr",
    {},
    heads.map((words) => element("th", { scope: "col" }, words)),
  );
  return element("table", { class: "values" }, element("thead", {}, head), element("tbody", {}, lines));
}

function lineOf(row, isBest) {
  const seen = row.detectable === null ? "never" : percent(row.detectable);
  const cells = [
    percent(row.error_mean ?? row.error_rare),
    seen,
    three(row.oracle.epsilon),
    three(row.eta),
    count(row.bits),
  ];
  const marked = isBest ? element("span", { class: "visually-hidden" }, " (recommended)") : null;
  return element(
    "tr",
    isBest ? { class: "best" } : {},
    element("th", { scope: "row" }, title(row), marked),
    cells.map((words) => element("td", { class: "number" }, words)),
  );
}
