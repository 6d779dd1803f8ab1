// The list of all surveys, with their states and numbers of reports.
import { element } from "../shared/dom.js";
import { count } from "../shared/format.js";
import { get, isAdmin } from "../shared/session.js";
import { metricOf } from "./app.js";

/** @import { SurveyRow } from "../shared/replies.d.ts" */
/** @import { View } from "./dashboard.js" */

/** @param {SurveyRow} row */
const address = ({ name, version }) => `#/survey/${name}/${version}`;

/**
 * Make the view of all surveys.
 *
 * @returns {Promise<View>}
 */
export async function surveysView() {
  const body = element("tbody");
  /** @type {Map<string, ReturnType<typeof lineOf>>} */
  const lines = new Map(); // by version: rows stay the same elements, so that the focus stays where it is
  const none = element(
    "div",
    { class: "panel blank" },
    element("p", {}, "There are no surveys yet."),
    isAdmin() ? first() : null,
  );
  const table = element(
    "div",
    { class: "scroll sheet", tabindex: "0", role: "region", "aria-label": "Surveys" },
    tableOf(body),
  );

  /**
   * @param {SurveyRow} row
   * @param {boolean} isOneOfSeveral versions of its name
   */
  function nodeOf(row, isOneOfSeveral) {
    const line = lines.get(row.version) ?? lineOf(row);
    lines.set(row.version, line);
    line.put(row, isOneOfSeveral);
    return line.node;
  }

  const programs = element("p");
  let apps = "";

  /** @param {readonly SurveyRow[]} rows */
  function putPrograms(rows) {
    const now = appsOf(rows);
    if (now.join() !== apps) programs.replaceChildren(...programLinks(now)); // else who clicks just now would miss
    apps = now.join();
    programs.hidden = !now.length;
  }

  /** @param {readonly SurveyRow[]} rows */
  function put(rows) {
    putPrograms(rows);
    const names = rows.map(({ name }) => name);
    const nodes = rows.map((row) => nodeOf(row, names.filter((name) => name === row.name).length > 1));
    const isSame = nodes.length === body.children.length && nodes.every((node, place) => body.children[place] === node);
    if (!isSame) body.replaceChildren(...nodes);
    none.hidden = rows.length > 0;
    table.hidden = rows.length === 0;
  }

  const refresh = async () => put(await get("v1/surveys"));
  await refresh();
  return { heading: "Surveys", content: [none, programs, table], refresh };
}

/**
 * Return the programs whose metrics are among the surveys, in order.
 *
 * @param {readonly SurveyRow[]} rows
 */
const appsOf = (rows) => [...new Set(rows.flatMap((row) => metricOf(row)?.app ?? []))].sort();

/**
 * Make links to the pages of programs.
 *
 * @param {readonly string[]} apps
 */
const programLinks = (apps) =>
  apps.flatMap((app, place) => [place ? ", " : "Telemetry of programs: ", element("a", { href: `#/app/${app}` }, app)]);

const first = () => element("a", { class: "button primary", href: "#/new" }, "Make the first one");

/** @type {Record<string, string>} */
const CLASSES = { Reports: "number", Published: "minor" };

/** @param {HTMLElement} body */
function tableOf(body) {
  const headings = ["Survey", "State", "Reports", "Published"].map((text) =>
    element("th", { scope: "col", class: CLASSES[text] ?? null }, text),
  );
  return element("table", { class: "surveys" }, element("thead", {}, element("tr", {}, headings)), body);
}

/**
 * Make the line of a survey. `put` changes what changes.
 *
 * @param {SurveyRow} row
 */
function lineOf(row) {
  const state = element("span");
  const n = element("td", { class: "number" });
  const named = element("div", { class: "small muted" });
  const node = element(
    "tr",
    {},
    element("td", {}, element("a", { href: address(row) }, row.question), named),
    element("td", {}, state),
    n,
    element("td", { class: "small minor" }, row.created.slice(0, 10)),
  );

  /**
   * @param {SurveyRow} now
   * @param {boolean} isOneOfSeveral versions of its name
   */
  function put(now, isOneOfSeveral) {
    named.textContent = isOneOfSeveral ? `${row.name}, version ${row.version.slice(0, 8)}` : row.name;
    state.textContent = now.state;
    state.className = `state ${now.state}`;
    n.textContent = count(now.n);
  }
  return { node, put };
}
