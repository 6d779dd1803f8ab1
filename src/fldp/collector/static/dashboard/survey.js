// One survey: its estimates with their intervals, live, and everything that is known about it.

import { privacyCard } from "../answer/learned.js";
import { load, search } from "../fldp.js";
import { card } from "../shared/card.js";
import { element, notice } from "../shared/dom.js";
import { count, interval, percentFixed } from "../shared/format.js";
import { known } from "../shared/oracles.js";
import { collector, download, get, post, Refused } from "../shared/session.js";
import { concerned } from "../shared/treatment.js";
import { candidates } from "./candidates.js";
import { bars, framed, isSure } from "./chart.js";
import { comparison } from "./comparison.js";
import { controls, levelWords } from "./controls.js";
import { honesty } from "./integrity.js";
import { moreReports } from "./more_reports.js";
import { overTime } from "./over_time.js";
import { publishing } from "./publishing.js";
import { rowsTable } from "./values_table.js";

const TOP = 20;
const MOST = 10_000; // values that are fetched; the file has all

export const panel = (title, ...content) =>
  element("section", { class: "panel" }, element("h2", {}, title), ...content);

/** Find a survey among all that the token is good for. */
async function rowOf(version) {
  const found = (await get("v1/surveys")).find((row) => row.version === version);
  if (found) return found;
  throw new Refused(404, { detail: "there is no such survey" });
}

/** Make the view of a survey. `again` asks for everything once more, now. */
export async function surveyView(name, version, again) {
  const first = await rowOf(version);
  const survey = await load(collector, name, known, { version, search });
  const facts = statusLine(survey);
  const asked = controls(first, again);
  const chosen = survey.domain && !survey.specification.search ? candidates(survey, again) : null;
  const results = estimates(survey, asked, chosen, again);
  const daily = overTime(survey);
  const honest = honesty(survey);
  let seen = null;

  async function refresh() {
    const row = await rowOf(version);
    facts.put(row);
    const enough = row.n >= survey.collect.minimum; // of fewer the collector says nothing
    const doubts = enough && honest.refresh(windowOf(asked.query()), row.n); // it takes its time, and may have to catch up
    const now = [row.n, asked.query(), ...(chosen?.list() ?? [])].join("\n");
    const shown = now === seen ? [] : [results.refresh(row, asked.query()), daily.refresh()]; // reports are only ever added
    await Promise.all([doubts, ...shown]);
    seen = now;
  }

  const content = [
    facts.node,
    honest.warning,
    chosen?.node,
    panel("Estimates", ...asked.content, ...results.content),
    results.table,
    daily.node,
    chosen ? null : results.more, // of a sketch, a part of the error does not fall
    comparison(survey, asked, askerOf(chosen)),
    honest.node,
    privacyCard(card(survey.oracle), concerned(survey)),
    publishing(survey),
  ];
  return { heading: survey.question, content, refresh };
}

/** Return what of a query says which days are meant. */
const windowOf = (query) => new URLSearchParams([...query].filter(([name]) => name === "from" || name === "to"));

/** Return how to ask: for all values, or for candidates. */
const askerOf = (chosen) => (chosen ? (path) => post(path, { candidates: chosen.list() }) : get);

/** Say what the values are. */
function about({ domain, specification: { search: round }, oracle }) {
  if (round) return `round ${round.round} of a search, ${count(oracle.domainSize)} beginnings`;
  return domain ? "texts" : `${count(oracle.domainSize)} values`;
}

function statusLine(survey) {
  const state = element("span");
  const n = element("strong", { class: "count" });
  const promised = card(survey.oracle).promised; // an epsilon alone would say too little
  const words = ` ${survey.oracle.description.name.toUpperCase()}, ${about(survey)}. ${promised}`;
  const node = element(
    "p",
    { class: "facts" },
    state,
    element("span", {}, n, " reports"),
    element("span", { class: "muted" }, words),
  );
  const put = (row) => (
    (state.textContent = row.state), (state.className = `state ${row.state}`), (n.textContent = count(row.n))
  );
  return { node, put };
}

/** Make the part with the chart and the table, which is hidden while there are too few reports. */
function estimates(survey, asked, chosen, again) {
  const { minimum } = survey.collect;
  const few = notice("warn", element("p"));
  const chart = framed();
  const notes = element("div", { class: "small" });
  const table = rowsTable();
  const more = moreReports(survey);
  const path = () => `v1/versions/${survey.version}/estimates?${asked.query()}`;
  const body = () => (chosen ? { candidates: chosen.list() } : null);
  const save = () => download(`${path()}&format=csv`, `${survey.name}.csv`, body()).catch(again); // which finds what is wrong, and says it
  const csv = element("button", { type: "button", click: save }, "Download as CSV");
  const values = panel("All values", ...table.content, element("div", { class: "actions" }, csv));
  let newest = 0;

  function show(words) {
    few.firstChild.textContent = words ?? "";
    few.hidden = words === null;
    for (const part of [chart.box, notes, values]) part.hidden = words !== null;
    if (words !== null) more.put(null);
  }

  async function refresh(row, query) {
    const turn = ++newest;
    if (row.n < minimum) return show(tooFew(row.n, minimum));
    if (chosen && !chosen.list().length)
      return show("Name texts above, and how often they were answered is estimated here.");
    const found = await askerOf(chosen)(`${path()}&top=${MOST}`).catch(windowTooSmall);
    if (turn !== newest) return null;
    if (typeof found === "string") return show(found);
    if (found === null)
      return show(
        `There are fewer than ${count(minimum)} reports in these days, the least of which anything is shown.`,
      );
    show(null);
    chart.put((width) =>
      bars(found.rows.slice(0, TOP), { width, oracle: found.oracle.name, level: levelWords(found.level) }),
    );
    notes.replaceChildren(
      ...noteLines(found, chosen?.list().length ?? survey.oracle.domainSize, query).map((line) =>
        element("p", {}, line),
      ),
    );
    more.put(found);
    return table.put(found.rows, found.n);
  }
  show(tooFew(0, minimum));
  return { content: [few, chart.box, notes], table: values, more: more.node, refresh };
}

function windowTooSmall(error) {
  if (error.kind === "too-few") return null;
  if (error.kind === "candidates") return `Not counted: ${error.message}.`;
  throw error;
}

/** Say how many gave none of the texts that were named. An interval reaches as many standard errors as that of a row. */
function restWords({ count: found, stderr }, { low, high, stderr: one }, n) {
  const reach = (stderr * (high - low)) / 2 / one;
  return `Other texts, none of those in the table: ${count(found)} people (${interval(found - reach, found + reach)}), ${percentFixed(found / n)} of all.`;
}

const tooFew = (n, minimum) =>
  n === 0
    ? `There are no reports yet. Estimates are shown from ${count(minimum)} on.`
    : `There are ${count(n)} reports. Estimates are shown from ${count(minimum)} on, since of fewer they are mostly noise.`;

const largestWords = (rows, size) => [
  size > TOP
    ? `The chart shows the ${TOP} largest of ${count(size)}. The largest of many noisy estimates tend to be too large.`
    : null,
  size > rows ? `The table has the ${count(rows)} largest; the file has all.` : null,
];

const selectedWords = (rows, size) =>
  `Of ${count(size)} texts these ${count(rows)} stood out in about one half of the reports${rows > 1 ? "" : ", or none did and it is the first"}. They are estimated from the other half, which has not chosen them. The others are not estimated to be 0: they are not estimated.`;

/** Say what has to be said below estimates, so that they are not read as more certain than they are. */
function noteLines({ n, level, rows, biased, method, options, rest }, size, query) {
  const many = level > 0.99 ? 1000 : 100;
  const grey = rows.filter((row) => !isSure(row)).length;
  const window = query.has("from") || query.has("to") ? "in these days" : "in all";
  const decoder = options.decoder ? `, decoder ${options.decoder}` : "";
  return [
    `From ${count(n)} reports ${window}${decoder}. The whiskers are ${levelWords(level)} intervals, each for its value alone: of ${count(many)} of them about ${count(many * (1 - level))} miss the truth. They are about the people who reported; what these say about others is another question.`,
    `Grey values are not distinguishable from zero: their interval reaches down to it. That is so for ${count(grey)} of ${count(rows.length)} values.`,
    rest ? restWords(rest, rows[0], n) : null,
    ...(query.get("method") === "select" ? [selectedWords(rows.length, size)] : largestWords(rows.length, size)),
    biased ? `Post-processed by ${method}, which is biased. The intervals are those of the unbiased estimate.` : null,
  ].filter(Boolean);
}
