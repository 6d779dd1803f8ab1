// How many reports came on each day.
import { element, panel } from "../shared/dom.js";
import { count } from "../shared/format.js";
import { get } from "../shared/session.js";
import { days, framed } from "./chart.js";

/** @import { Survey } from "../fldp.js" */
/** @import { Attributes } from "../shared/dom.js" */
/** @import { DayRow } from "../shared/replies.d.ts" */

const MAX_DRAWN = 400; // days
const MAX_DAYS = 40_000; // more than a century

/**
 * Make the part with the reports of each day.
 *
 * @param {Survey} survey
 */
export function overTime(survey) {
  const { minimum } = survey.collect;
  const chart = framed();
  const body = element("tbody");
  const note = element("p", { class: "small" });
  const table = tableOf("As a table", ["UTC day", "Reports", "Taken back"], body, "Reports of each day");
  const node = panel("Reports over time", chart.box, note, table);
  node.hidden = true;

  /** Show every day, and return those that have reports. */
  async function refresh() {
    /** @type {readonly DayRow[]} */
    const reported = await get(`v1/versions/${survey.version}/days`);
    const rows = everyDay(reported).slice(-MAX_DRAWN);
    node.hidden = rows.length === 0;
    if (!rows.length) return [];
    const hidden = rows.filter(({ n }) => n === null).length;
    note.textContent = hidden
      ? `The number of a day is shown from ${count(minimum)} reports on. Days below that are grey: there are ${count(hidden)}.`
      : "";
    chart.put((width) => days(rows, { width, label: chartText(rows) }));
    body.replaceChildren(
      ...rows.map(({ day, n, withdrawn = 0 }) =>
        n === null
          ? lineOf([day, `0 to ${count(minimum - 1)}`, "not shown"])
          : lineOf([day, count(n), count(withdrawn)]),
      ),
    );
    return reported.map(({ day }) => day);
  }
  return { node, refresh };
}

/** @param {readonly DayRow[]} rows */
function chartText(rows) {
  const [first, last] = [rows[0], rows[rows.length - 1]];
  return (
    `Bars of the reports of ${count(rows.length)} days, from ${first.day} to ${last.day}. ` +
    `The last day has ${last.n === null ? "fewer than are shown" : count(last.n)}. The numbers are in the table below.`
  );
}

/**
 * Put the days without reports between those that have some.
 *
 * @param {readonly DayRow[]} rows
 */
function everyDay(rows) {
  /** @type {DayRow[]} */
  const filled = [];
  for (const row of rows) {
    for (let day = after(filled.at(-1)?.day ?? row.day); day < row.day && filled.length < MAX_DAYS; day = after(day)) {
      filled.push({ day, n: 0 });
    }
    filled.push(row);
  }
  return filled;
}

/** @param {string} day */
function after(day) {
  const date = new Date(`${day}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() + 1);
  return date.toISOString().slice(0, 10);
}

/**
 * Make a table that is opened when it is wanted.
 *
 * @param {string} summary
 * @param {readonly string[]} headings
 * @param {HTMLElement} body
 * @param {string} label
 */
export function tableOf(summary, headings, body, label) {
  const heads = headings.map((heading) => element("th", { scope: "col" }, heading));
  const table = element("table", { class: "values" }, element("thead", {}, element("tr", {}, heads)), body);
  const box = element("div", { class: "scroll tall", tabindex: "0", role: "region", "aria-label": label }, table);
  return element("details", {}, element("summary", {}, summary), box);
}

/**
 * Make a line of a table: its name, then numbers.
 *
 * @param {readonly string[]} texts
 * @param {Attributes} [attributes]
 */
export function lineOf([name, ...numbers], attributes = {}) {
  const cells = numbers.map((text) => element("td", { class: "number" }, text));
  return element("tr", attributes, element("th", { scope: "row" }, name), cells);
}
