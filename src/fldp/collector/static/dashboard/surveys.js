// The list of all surveys, with their states and numbers of reports.
import { element } from "../shared/dom.js";
import { count } from "../shared/format.js";
import { get } from "../shared/session.js";

export const address = ({ name, version }) => `#/survey/${name}/${version}`;

/** Make the view of all surveys. */
export async function surveysView() {
  const body = element("tbody");
  const lines = new Map(); // by version: rows stay the same elements, so that the focus stays where it is
  const none = element("p", { class: "muted" }, "There is no survey yet.");
  const table = element(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": "Surveys" },
    tableOf(body),
  );

  function put(rows) {
    const found = rows.map((row) => {
      if (!lines.has(row.version)) lines.set(row.version, line(row));
      lines.get(row.version).set(row);
      return lines.get(row.version).node;
    });
    if (found.some((node, place) => body.children[place] !== node) || found.length !== body.children.length)
      body.replaceChildren(...found);
    none.hidden = rows.length > 0;
    table.hidden = rows.length === 0;
  }

  const refresh = async () => put(await get("v1/surveys"));
  await refresh();
  return { heading: "Surveys", isHome: true, content: [none, table], refresh };
}

function tableOf(body) {
  const headings = ["Survey", "State", "Reports", "Published"].map((words) => element("th", { scope: "col" }, words));
  return element("table", { class: "surveys" }, element("thead", {}, element("tr", {}, headings)), body);
}

/** Make the line of a survey, and the way to change what changes. */
function line(row) {
  const state = element("span");
  const n = element("td", { class: "number" });
  const node = element(
    "tr",
    {},
    element(
      "td",
      {},
      element("a", { href: address(row) }, row.question),
      element("div", { class: "small muted" }, `${row.name}, version ${row.version.slice(0, 8)}`),
    ),
    element("td", {}, state),
    n,
    element("td", { class: "small" }, row.created.slice(0, 10)),
  );
  return {
    node,
    set: (now) => (
      (state.textContent = now.state), (state.className = `state ${now.state}`), (n.textContent = count(now.n))
    ),
  };
}
