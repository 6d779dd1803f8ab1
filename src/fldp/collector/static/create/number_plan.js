// What the planner says of a number: how well its mean and its spread will be known, by how many cells it has.
import { element } from "../shared/dom.js";
import { count, threeDigits } from "../shared/format.js";

/** @import { NumberPlan, PlanRow } from "../shared/replies.d.ts" */
/** @import { Values } from "./survey_fields.js" */

/**
 * Return the row of the oracle that the planner makes for a number: there is one.
 *
 * @param {NumberPlan} plan
 * @returns {PlanRow}
 */
export const numberRow = ({ oracle, eta, bits, gives_away: exposure }) => ({
  oracle,
  eta,
  bits,
  exposure,
  eligible: true,
  recommended: true,
  shortest: true,
  derives: false,
  detectable: null,
  error_rare: 0,
});

/** @param {number} reach */
const pointsOf = (reach) => `± ${threeDigits(100 * reach)} points`;

/**
 * Make the panel with what to expect.
 *
 * @param {NumberPlan} plan
 * @param {Values} values
 */
export function numberAdvice({ rows, users, bits, eta, gives_away: told }, { goal, low, high, unit, bins, epsilon }) {
  const meanOf = (/** @type {number} */ reach) => `± ${threeDigits((high - low) * reach)}${unit ? ` ${unit}` : ""}`;
  const own = rows.find((row) => row.bins === bins) ?? rows[0];
  const spread =
    goal === "mean" ? "" : ` The share of people below any border of a cell is known to ${pointsOf(own.cdf_reach)}.`;
  const heads = ["Cells", "Width", "Share below a border", "Mean"];
  const lines = rows.map((row) => {
    const cells = [`${threeDigits((high - low) * row.cell)}`, pointsOf(row.cdf_reach), meanOf(row.mean_reach)];
    return element(
      "tr",
      row === own ? { class: "best" } : {},
      element("th", { scope: "row" }, count(row.bins)),
      cells.map((text) => element("td", { class: "number" }, text)),
    );
  });
  const head = element(
    "thead",
    {},
    element(
      "tr",
      {},
      heads.map((text) => element("th", { scope: "col" }, text)),
    ),
  );
  const table = element("table", { class: "values" }, head, element("tbody", {}, lines));
  const box = element("div", { class: "scroll tall", tabindex: "0", role: "region", "aria-label": "Cells" }, table);
  return [
    element("h2", { id: "advice" }, "What to expect"),
    element(
      "p",
      { role: "status" },
      `With ${count(users)} people the mean is known to ${meanOf(own.mean_reach)}, whenever you look.${spread}`,
    ),
    ...(goal === "mean" ? [] : [box]),
    element(
      "p",
      { class: "small" },
      `± is half of the 95 % interval that the dashboard shows, if the numbers are spread evenly. The interval of the mean stands alone; the intervals of the shares hold for all borders at once. Epsilon ${epsilon}, eta ${eta}, ${count(bits)} bits a report. ${told}`,
    ),
  ];
}
