// Which questions go together: a matrix of associations, and the pairs that are sure in words.
import { element, panel } from "../shared/dom.js";
import { get, kindOf, messageOf } from "../shared/session.js";
import { levelText } from "./controls.js";
import { crossesOf, small, v2 } from "./cross_table.js";

/** @import { Survey } from "../fldp.js" */
/** @import { AssociationRow } from "../shared/replies.d.ts" */

/**
 * Make the part with the associations of all pairs; it is hidden where no questions are crossed.
 *
 * @param {Survey} survey
 * @param {(more: string) => string} path
 */
export function associations(survey, path) {
  const names = (survey.questions ?? []).map(({ name }) => name);
  const isCrossed = crossesOf(survey).length > 0;
  const result = element("div");
  const none = element("p", {}, "No two questions are asked together, so this cannot be told.");
  const node = panel("Which questions go together", isCrossed ? result : none);

  async function refresh() {
    if (!isCrossed) return;
    try {
      /** @type {{ level: number, associations: AssociationRow[] }} */
      const reply = await get(path("&associations=true"));
      result.replaceChildren(...matrixParts(names, reply.associations, reply.level));
    } catch (error) {
      if (kindOf(error) !== "too-few") throw error;
      result.replaceChildren(element("p", { class: "muted" }, `Not shown: ${messageOf(error)}.`));
    }
  }
  return { node, refresh };
}

/**
 * @param {readonly string[]} names
 * @param {readonly AssociationRow[]} rows
 * @param {number} level
 */
function matrixParts(names, rows, level) {
  const isSure = (/** @type {AssociationRow} */ { adjusted }) => adjusted <= 1 - level;
  const sure = rows.filter(isSure).sort((a, b) => b.v - a.v);
  const sentences = sure.map(
    ({ first, second, v, low, high, adjusted }) =>
      `${first} and ${second}: Cramér's V ${v2(v)} (${v2(low)} to ${v2(high)}), p ${small(adjusted)} for all pairs at once.`,
  );
  const lead = sentences.length
    ? `These go together; with ${levelText(level)} certainty, none of them by chance:`
    : "No two questions clearly go together.";
  return [
    element("p", {}, lead),
    element(
      "ul",
      {},
      sentences.map((line) => element("li", {}, line)),
    ),
    matrix(names, rows, isSure),
    element(
      "p",
      { class: "small" },
      "Cramér's V of each pair of questions, corrected for the noise: 0 is no association, 1 the strongest possible. Marked pairs are statistically clear; a dot marks two questions that are not asked together.",
    ),
  ];
}

/**
 * @param {readonly string[]} names
 * @param {readonly AssociationRow[]} rows
 * @param {(row: AssociationRow) => boolean} isSure
 */
function matrix(names, rows, isSure) {
  const of = new Map(
    rows.flatMap((row) => [`${row.first} ${row.second}`, `${row.second} ${row.first}`].map((key) => [key, row])),
  );
  const head = ["", ...names].map((name) => (name ? element("th", { scope: "col" }, name) : element("td")));
  const lines = names.map((name) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, name),
      names.map((other) => {
        const row = of.get(`${name} ${other}`);
        if (!row) return element("td", { class: "number muted" }, name === other ? "" : "·");
        return element(
          "td",
          { class: isSure(row) ? "number marked more" : "number" },
          v2(row.v),
          isSure(row) ? " ✓" : "",
        );
      }),
    ),
  );
  const table = element(
    "table",
    { class: "values matrix" },
    element("thead", {}, element("tr", {}, head)),
    element("tbody", {}, lines),
  );
  return element(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": "Matrix of associations" },
    table,
  );
}
