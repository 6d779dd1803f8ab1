// The table of all values: sorted, searched, a page at a time, so that ten thousand are no more work than fifty.
import { element } from "../shared/dom.js";
import { count, interval, rounded, visible } from "../shared/format.js";
import { isSure } from "./chart.js";

/** @import { EstimateRow } from "../shared/replies.d.ts" */

/** @typedef {"label" | "count" | "low" | "frequency" | "stderr"} Column */

/**
 * What is shown of which rows: by which column, in which direction, with which text, and which page.
 *
 * @typedef {{ rows: readonly EstimateRow[], n: number, by: Column, down: boolean, wanted: string, page: number }} State
 */

const AT_ONCE = 50;
const MAX_UNSEARCHED = 10; // values that are seen at a glance

/** @type {readonly (readonly [string, Column | null])[]} */
const COLUMNS = [
  ["Value", "label"],
  ["Share", "frequency"],
  ["Interval of the share", null],
  ["People", "count"],
  ["Interval", "low"],
  ["Std. error", "stderr"],
];
const FIRST_MINOR = 3; // columns from here on are left out on a phone

/**
 * Make the table. `put` gives it new rows, and keeps the order, the search and the page.
 *
 * @param {boolean} isOrdered whether values have an order of their own, as the cells of a number have
 */
export function valuesTable(isOrdered) {
  /** @type {State} */
  const state = { rows: [], n: 0, by: isOrdered ? "label" : "count", down: !isOrdered, wanted: "", page: 0 };
  const body = element("tbody");
  const status = element("p", { class: "small muted", role: "status", id: "rows-found" });
  const heads = COLUMNS.map(([title, column]) => headOf(title, column, order));
  heads.slice(FIRST_MINOR).forEach(({ node }) => {
    node.classList.add("minor");
  });
  const back = element("button", { type: "button", click: () => show({ page: state.page - 1 }) }, "Previous");
  const on = element("button", { type: "button", click: () => show({ page: state.page + 1 }) }, "Next");
  const pages = element("div", { class: "actions pages" }, back, on);
  const search = element("input", {
    type: "search",
    id: "rows-search",
    autocomplete: "off",
    spellcheck: "false",
    "aria-describedby": "rows-found",
  });
  search.addEventListener("input", () => show({ wanted: search.value.trim().toLowerCase(), page: 0 }));
  const cells = heads.map(({ node }) => node);
  const table = element("table", { class: "values all" }, element("thead", {}, element("tr", {}, cells)), body);
  const finding = element("div", {}, element("label", { for: "rows-search" }, "Search the values"), search, status);
  const content = [
    finding,
    element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "All values" }, table),
    pages,
    element(
      "p",
      { class: "small muted narrow-only" },
      "A wider screen also shows numbers of people, and so does the file.",
    ),
  ];

  /** @param {Column} by */
  function order(by) {
    show({ by, down: state.by === by ? !state.down : by !== "label", page: 0 });
  }

  /** @param {Partial<State>} changes */
  function show(changes) {
    Object.assign(state, changes);
    const matches = sorted(state, isOrdered);
    const last = Math.max(0, Math.ceil(matches.length / AT_ONCE) - 1);
    state.page = Math.min(state.page, last);
    const first = state.page * AT_ONCE;
    const shown = matches.slice(first, first + AT_ONCE);
    body.replaceChildren(...shown.map((row) => lineOf(row, state.n)));
    for (const head of heads) head.put(state);
    const range = shown.length ? `; ${count(first + 1)} to ${count(first + shown.length)} are shown.` : ".";
    const text = `${count(matches.length)} of ${count(state.rows.length)} values${range}`;
    if (status.textContent !== text) status.textContent = text;
    back.disabled = state.page === 0;
    on.disabled = state.page === last;
    pages.hidden = last === 0;
    finding.hidden = state.rows.length <= MAX_UNSEARCHED;
  }

  /**
   * @param {readonly EstimateRow[]} rows
   * @param {number} n
   */
  const put = (rows, n) => show({ rows, n });
  return { content, put };
}

/**
 * @param {State} state
 * @param {boolean} isOrdered
 */
function sorted({ rows, by, down, wanted }, isOrdered) {
  const matches = rows.filter(({ label }) => label.toLowerCase().includes(wanted));
  const compare = (/** @type {EstimateRow} */ a, /** @type {EstimateRow} */ b) =>
    by !== "label"
      ? a[by] - b[by]
      : isOrdered
        ? a.value - b.value
        : Number(a.label > b.label) - Number(a.label < b.label);
  return matches.sort((a, b) => (down ? -1 : 1) * compare(a, b) || a.value - b.value);
}

/**
 * Make the head of a column; those that can be sorted by are buttons.
 *
 * @param {string} title
 * @param {Column | null} column
 * @param {(column: Column) => void} order
 */
function headOf(title, column, order) {
  const button = column
    ? element("button", { type: "button", class: "sort", click: () => order(column) }, title)
    : title;
  const node = element("th", { scope: "col" }, button);
  const put = (/** @type {State} */ { by, down }) => {
    if (by === column) node.setAttribute("aria-sort", down ? "descending" : "ascending");
    else node.removeAttribute("aria-sort");
  };
  return { node, put };
}

/**
 * @param {EstimateRow} row
 * @param {number} n
 */
function lineOf(row, n) {
  const { label, low, high } = row;
  const write = rounded((high - low) / 2 / n);
  const percent = (/** @type {number} */ share) => `${write(share)}\u00a0%`;
  const doubt = isSure(row) ? null : element("span", { class: "visually-hidden" }, " (may be zero)");
  const numbers = [
    percent(row.frequency),
    interval(low / n, high / n, percent),
    count(row.count),
    interval(low, high),
    count(row.stderr),
  ];
  return element(
    "tr",
    doubt ? { class: "unsure", title: "not distinguishable from zero" } : {},
    element("th", { scope: "row" }, visible(label), doubt),
    numbers.map((text, place) => element("td", { class: place + 1 < FIRST_MINOR ? "number" : "number minor" }, text)),
  );
}
