// Who sees what of a report, on the way that it takes from here.
import { element } from "../shared/dom.js";
import { isRelayed } from "./place.js";

/** @import { Survey } from "../fldp.js" */
/** @import { Texts } from "./texts/en.js" */

/**
 * Make the table, and what it does not show: a panel, or a part of one.
 *
 * @param {Survey} survey
 * @param {Texts["parties"]} words
 * @param {boolean} [isPart]
 */
export function parties({ collect }, { title, columns, relayed, direct, passes }, isPart = false) {
  const way = isRelayed ? relayed : direct;
  const isPass = collect.submit === "pass";
  const rows = isPass && collect.issuer ? [...way.rows, passes.issuer] : way.rows;
  const issued = collect.issuer ? passes.apart : isRelayed ? passes.relayed : passes.direct;
  const notes = isPass ? [passes.blind, issued, ...way.notes] : way.notes;
  const head = element(
    "tr",
    {},
    columns.map((column) => element("th", { scope: "col" }, column)),
  );
  const lines = rows.map(([who, ...cells]) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, who),
      cells.map((cell) => element("td", {}, cell)),
    ),
  );
  return element(
    "section",
    { class: isPart ? null : "panel", "aria-labelledby": "parties" },
    element(isPart ? "h3" : "h2", { id: "parties" }, title),
    element(
      "table",
      { class: "parties", "aria-labelledby": "parties" },
      element("thead", {}, head),
      element("tbody", {}, lines),
    ),
    notes.map((note) => element("p", { class: "small" }, note)),
  );
}
