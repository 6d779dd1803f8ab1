// How many reports came on each day.

import { element } from "../shared/dom.js";
import { count } from "../shared/format.js";
import { get } from "../shared/session.js";
import { days, framed } from "./chart.js";

const MOST = 400; // days that are drawn

/** Make the part with the reports of each day. */
export function overTime(survey) {
  const { minimum } = survey.collect;
  const chart = framed();
  const body = element("tbody");
  const none = element("p", { class: "muted" }, "There are no reports yet.");
  const note = element("p", { class: "small" });
  const table = tableOf("As a table", ["UTC day", "Reports"], body, "Reports of each day");
  const node = element(
    "section",
    { class: "panel" },
    element("h2", {}, "Reports over time"),
    none,
    chart.box,
    note,
    table,
  );

  async function refresh() {
    const rows = everyDay(await get(`v1/versions/${survey.version}/days`)).slice(-MOST);
    none.hidden = rows.length > 0;
    for (const part of [chart.box, note, table]) part.hidden = rows.length === 0;
    if (!rows.length) return;
    const hidden = rows.filter(({ n }) => n === null).length;
    note.textContent = hidden
      ? `The number of a day is shown from ${count(minimum)} reports on. Days below that are grey: there are ${count(hidden)}.`
      : "";
    chart.put((width) => days(rows, { width, oracle: survey.oracle.description.name, words: words(rows) }));
    body.replaceChildren(
      ...rows.map(({ day, n }) => lineOf([day, n === null ? `1 to ${count(minimum - 1)}` : count(n)])),
    );
  }
  return { node, refresh };
}

const words = (rows) =>
  `Bars of the reports of ${count(rows.length)} days, from ${rows[0].day} to ${rows.at(-1).day}. The last day has ${rows.at(-1).n === null ? "fewer than are shown" : count(rows.at(-1).n)}. The numbers are in the table below.`;

/** Put the days without reports between those that have some. */
function everyDay(rows) {
  const found = [];
  for (const row of rows) {
    while (found.length && after(found.at(-1).day) < row.day && found.length < 40_000)
      found.push({ day: after(found.at(-1).day), n: 0 });
    found.push(row);
  }
  return found;
}

function after(day) {
  const date = new Date(`${day}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() + 1);
  return date.toISOString().slice(0, 10);
}

/** Make a table that is opened when it is wanted. */
export function tableOf(summary, headings, body, words) {
  const heads = headings.map((heading) => element("th", { scope: "col" }, heading));
  const table = element("table", { class: "values" }, element("thead", {}, element("tr", {}, heads)), body);
  const box = element("div", { class: "scroll tall", tabindex: "0", role: "region", "aria-label": words }, table);
  return element("details", {}, element("summary", {}, summary), box);
}

/** Make a line of a table: its name, then numbers. */
export function lineOf([name, ...numbers], attributes = {}) {
  const cells = numbers.map((words) => element("td", { class: "number" }, words));
  return element("tr", attributes, element("th", { scope: "row" }, name), cells);
}
