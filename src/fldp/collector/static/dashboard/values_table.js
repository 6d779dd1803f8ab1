// The table of all values: sorted, searched, a page at a time, so that ten thousand are no more work than fifty.

import { element } from "../shared/dom.js";
import { count, interval, percentFixed, visible } from "../shared/format.js";
import { isSure } from "./chart.js";

const AT_ONCE = 50;
const COLUMNS = [
  ["Value", "label"],
  ["People", "count"],
  ["Interval", "low"],
  ["Share", "frequency"],
  ["Interval of the share", null],
  ["Std. error", "stderr"],
];

/** Make the table. `put` gives it new rows, and keeps the order, the search and the page. */
export function rowsTable() {
  const state = { rows: [], n: 0, by: "count", down: true, wanted: "", page: 0 };
  const body = element("tbody");
  const said = element("p", { class: "small muted", role: "status", id: "rows-found" });
  const heads = COLUMNS.map(([words, key]) => head(words, key, order));
  const back = element("button", { type: "button", click: () => turn(-1) }, "Previous");
  const on = element("button", { type: "button", click: () => turn(1) }, "Next");
  const search = element("input", {
    type: "search",
    id: "rows-search",
    autocomplete: "off",
    spellcheck: "false",
    "aria-describedby": "rows-found",
    input: () => (Object.assign(state, { wanted: search.value.trim().toLowerCase(), page: 0 }), show()),
  });
  const table = element(
    "table",
    { class: "values all" },
    element(
      "thead",
      {},
      element(
        "tr",
        {},
        heads.map(({ node }) => node),
      ),
    ),
    body,
  );
  const content = [
    element("label", { for: "rows-search" }, "Search the values"),
    search,
    said,
    element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "All values" }, table),
    element("div", { class: "actions pages" }, back, on),
  ];

  function order(key) {
    Object.assign(state, { by: key, down: state.by === key ? !state.down : key !== "label", page: 0 });
    show();
  }

  function turn(by) {
    state.page += by;
    show();
  }

  function show() {
    const found = sorted(state);
    const pages = Math.max(1, Math.ceil(found.length / AT_ONCE));
    state.page = Math.min(state.page, pages - 1);
    const first = state.page * AT_ONCE;
    const shown = found.slice(first, first + AT_ONCE);
    body.replaceChildren(...shown.map((row) => line(row, state.n)));
    for (const { set } of heads) set(state);
    const words =
      `${count(found.length)} of ${count(state.rows.length)} values` +
      (found.length ? `; ${count(first + 1)} to ${count(first + shown.length)} are shown.` : ".");
    if (said.textContent !== words) said.textContent = words;
    back.disabled = state.page === 0;
    on.disabled = state.page === pages - 1;
    back.parentElement.hidden = pages === 1;
  }

  return { content, put: (rows, n) => (Object.assign(state, { rows, n }), show()) };
}

function sorted({ rows, by, down, wanted }) {
  const found = wanted ? rows.filter(({ label }) => label.toLowerCase().includes(wanted)) : [...rows];
  const compare =
    by === "label" ? (a, b) => (a.label < b.label ? -1 : Number(a.label > b.label)) : (a, b) => a[by] - b[by];
  return found.sort((a, b) => (down ? -1 : 1) * compare(a, b) || a.value - b.value);
}

/** Make the head of a column; those that can be sorted by are buttons. */
function head(words, key, order) {
  const button = key ? element("button", { type: "button", class: "sort", click: () => order(key) }, words) : words;
  const node = element("th", { scope: "col" }, button);
  const set = ({ by, down }) => {
    if (by === key) node.setAttribute("aria-sort", down ? "descending" : "ascending");
    else node.removeAttribute("aria-sort");
  };
  return { node, set };
}

function line(row, n) {
  const { label, count: found, low, high, frequency, stderr } = row;
  const number = (words) => element("td", { class: "number" }, words);
  return element(
    "tr",
    isSure(row) ? {} : { class: "unsure", title: "not distinguishable from zero" },
    element(
      "th",
      { scope: "row" },
      visible(label),
      isSure(row) ? null : element("span", { class: "visually-hidden" }, " (may be zero)"),
    ),
    number(count(found)),
    number(interval(low, high)),
    number(percentFixed(frequency)),
    number(interval(low / n, high / n, percentFixed)),
    number(count(stderr)),
  );
}
