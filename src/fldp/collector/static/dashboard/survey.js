// One survey: its estimates with their intervals, live, and everything that is known about it.
import { privacyCard } from "../answer/learned.js";
import { load, search } from "../fldp.js";
import { card } from "../shared/card.js";
import { element, notice, panel } from "../shared/dom.js";
import { count, interval, percentFixed } from "../shared/format.js";
import { oraclesOf } from "../shared/oracles.js";
import { collector, download, get, kindOf, messageOf, post, Refused } from "../shared/session.js";
import { concerned } from "../shared/treatment.js";
import { candidates } from "./candidates.js";
import { bars, framed, isSure } from "./chart.js";
import { comparison } from "./comparison.js";
import { controls, levelText } from "./controls.js";
import { integrity } from "./integrity.js";
import { moreReports } from "./more_reports.js";
import { overTime } from "./over_time.js";
import { publishing } from "./publishing.js";
import { valuesTable } from "./values_table.js";

/** @import { Survey } from "../fldp.js" */
/** @import { EstimateRow, Estimates, SurveyRow } from "../shared/replies.d.ts" */
/** @import { Candidates } from "./candidates.js" */
/** @import { Controls } from "./controls.js" */
/** @import { View } from "./dashboard.js" */

const MAX_BARS = 20;
const MAX_ROWS = 10_000; // values that are fetched; the file has all

/**
 * Find a survey among all that the token is good for.
 *
 * @param {string} version
 * @returns {Promise<SurveyRow>}
 */
async function rowOf(version) {
  /** @type {SurveyRow[]} */
  const rows = await get("v1/surveys");
  const row = rows.find((row) => row.version === version);
  if (row) return row;
  throw new Refused(404, { detail: "there is no such survey" });
}

/** @param {Survey} survey */
const isOfTexts = ({ domain, specification }) => domain !== null && !specification.search;

/**
 * Make the view of a survey. `again` asks for everything once more, now.
 *
 * @param {string} name
 * @param {string} version
 * @param {() => unknown} again
 * @returns {Promise<View>}
 */
export async function surveyView(name, version, again) {
  const first = await rowOf(version);
  const survey = await load(collector, name, oraclesOf, { version, search });
  const status = statusLine(survey);
  const asked = controls(first, again);
  const named = isOfTexts(survey) ? candidates(survey, again) : null;
  const results = estimates(survey, asked, named, again);
  const daily = overTime(survey);
  const honesty = integrity(survey);
  let shown = "";

  async function refresh() {
    const row = await rowOf(version);
    status.put(row);
    const isEnough = row.n >= survey.collect.minimum; // of fewer the collector says nothing
    // The tests take their time, and may have to catch up: they are under way while the estimates are fetched.
    const tests = isEnough ? honesty.refresh(windowOf(asked.query()), row.n) : null;
    const now = [row.n, asked.query(), ...(named?.list() ?? [])].join("\n");
    const isSame = now === shown; // reports are only ever added
    const [isShown] = await Promise.all([
      isSame || results.refresh(row, asked.query()),
      isSame || daily.refresh(),
      tests,
    ]);
    if (isShown) shown = now;
  }

  const content = [
    status.node,
    honesty.warning,
    named?.node,
    panel("Estimates", ...asked.content, ...results.content),
    results.table,
    daily.node,
    named ? null : results.more, // of a sketch, a part of the error does not fall
    comparison(survey, asked, askerOf(named)),
    honesty.node,
    privacyCard(card(survey.oracle), concerned(survey)),
    publishing(survey),
  ];
  return { heading: survey.question, content, refresh };
}

/**
 * Return what of a query says which days are meant.
 *
 * @param {URLSearchParams} query
 */
const windowOf = (query) => new URLSearchParams([...query].filter(([name]) => name === "from" || name === "to"));

/**
 * Return how to ask: for all values, or for candidates.
 *
 * @param {Candidates | null} named
 * @returns {<Reply>(path: string) => Promise<Reply>}
 */
const askerOf = (named) => (named ? (path) => post(path, { candidates: named.list() }) : get);

/**
 * Say what the values are.
 *
 * @param {Survey} survey
 */
function domainText({ domain, specification, oracle }) {
  if (specification.search) {
    return `round ${Object(specification.search).round} of a search, ${count(oracle.domainSize)} beginnings`;
  }
  return domain ? "texts" : `${count(oracle.domainSize)} values`;
}

/** @param {Survey} survey */
function statusLine(survey) {
  const state = element("span");
  const n = element("strong", { class: "count" });
  const promised = card(survey.oracle).promised; // an epsilon alone would say too little
  const text = ` ${survey.oracle.name.toUpperCase()}, ${domainText(survey)}. ${promised}`;
  const reports = element("span", {}, n, " reports");
  const node = element("p", { class: "facts" }, state, reports, element("span", { class: "muted" }, text));

  /** @param {SurveyRow} row */
  function put(row) {
    state.textContent = row.state;
    state.className = `state ${row.state}`;
    n.textContent = count(row.n);
  }
  return { node, put };
}

/**
 * Make the part with the chart and the table, which is hidden while there are too few reports.
 *
 * @param {Survey} survey
 * @param {Controls} asked
 * @param {Candidates | null} named
 * @param {() => unknown} again
 */
function estimates(survey, asked, named, again) {
  const { minimum } = survey.collect;
  const reason = element("p");
  const few = notice("warn", reason);
  const chart = framed();
  const notes = element("div", { class: "small" });
  const table = valuesTable();
  const more = moreReports(survey);
  const path = () => `v1/versions/${survey.version}/estimates?${asked.query()}`;
  const body = () => (named ? { candidates: named.list() } : null);
  const save = () => download(`${path()}&format=csv`, `${survey.name}.csv`, body()).catch(again); // which says what is wrong
  const csv = element("button", { type: "button", click: save }, "Download as CSV");
  const values = panel("All values", ...table.content, element("div", { class: "actions" }, csv));
  let newest = 0;

  /**
   * Show estimates, or the reason why there are none.
   *
   * @param {string | null} text
   */
  function show(text) {
    reason.textContent = text ?? "";
    few.hidden = text === null;
    for (const part of [chart.box, notes, values]) part.hidden = text !== null;
    if (text !== null) more.put(null);
  }

  /**
   * @param {Estimates} reply
   * @param {URLSearchParams} query
   */
  function put(reply, query) {
    const { rows, n, oracle, level } = reply;
    const size = named?.list().length ?? survey.oracle.domainSize;
    show(null);
    chart.put((width) => bars(rows.slice(0, MAX_BARS), { width, oracle: oracle.name, level: levelText(level) }));
    notes.replaceChildren(...noteLines(reply, size, query).map((line) => element("p", {}, line)));
    more.put(reply);
    table.put(rows, n);
  }

  /**
   * Ask for estimates, or find the reason why there are none.
   *
   * @param {SurveyRow} row
   * @returns {Promise<Estimates | string>}
   */
  async function reply({ n }) {
    if (n < minimum) return tooFew(n, minimum);
    if (named?.list().length === 0) return NO_CANDIDATES;
    /** @type {Promise<Estimates>} */
    const asking = askerOf(named)(`${path()}&top=${MAX_ROWS}`);
    return asking.catch((error) => reasonOf(error, minimum));
  }

  /**
   * Show what there is now, unless something newer was asked for meanwhile; return whether it is shown.
   *
   * @param {SurveyRow} row
   * @param {URLSearchParams} query
   */
  async function refresh(row, query) {
    newest += 1;
    const turn = newest;
    const answer = await reply(row);
    if (turn !== newest) return false;
    if (typeof answer === "string") show(answer);
    else put(answer, query);
    return true;
  }
  show(tooFew(0, minimum));
  return { content: [few, chart.box, notes], table: values, more: more.node, refresh };
}

const NO_CANDIDATES = "Name texts above, and how often they were answered is estimated here.";

/**
 * Return why there are no estimates, where that can be changed on this page.
 *
 * @param {unknown} error
 * @param {number} minimum
 */
function reasonOf(error, minimum) {
  const kind = kindOf(error);
  if (kind === "candidates") return `Not counted: ${messageOf(error)}.`;
  if (kind !== "too-few") throw error;
  return `There are fewer than ${count(minimum)} reports in these days, the least of which anything is shown.`;
}

/**
 * Say how many gave none of the texts that were named. An interval reaches as many standard errors as that of a row.
 *
 * @param {Pick<EstimateRow, "count" | "stderr">} rest
 * @param {EstimateRow} row
 * @param {number} n
 */
function restText({ count: people, stderr }, { low, high, stderr: unit }, n) {
  const reach = (stderr * (high - low)) / 2 / unit;
  return `Other texts, none of those in the table: ${count(people)} people (${interval(people - reach, people + reach)}), ${percentFixed(people / n)} of all.`;
}

/**
 * @param {number} n
 * @param {number} minimum
 */
const tooFew = (n, minimum) =>
  n === 0
    ? `There are no reports yet. Estimates are shown from ${count(minimum)} on.`
    : `There are ${count(n)} reports. Estimates are shown from ${count(minimum)} on, since of fewer they are mostly noise.`;

/**
 * @param {number} rows
 * @param {number} size
 */
const largestTexts = (rows, size) => [
  size > MAX_BARS
    ? `The chart shows the ${MAX_BARS} largest of ${count(size)}. The largest of many noisy estimates tend to be too large.`
    : null,
  size > rows ? `The table has the ${count(rows)} largest; the file has all.` : null,
];

/**
 * @param {number} rows
 * @param {number} size
 */
const selectedText = (rows, size) =>
  `Of ${count(size)} texts these ${count(rows)} stood out in about one half of the reports${rows > 1 ? "" : ", or none did and it is the first"}. ` +
  "They are estimated from the other half, which has not chosen them. The others are not estimated to be 0: they are not estimated.";

/**
 * Say what has to be said below estimates, so that they are not read as more certain than they are.
 *
 * @param {Estimates} reply
 * @param {number} size
 * @param {URLSearchParams} query
 */
function noteLines({ n, level, rows, biased, method, options, rest }, size, query) {
  const many = level > 0.99 ? 1000 : 100;
  const grey = rows.filter((row) => !isSure(row)).length;
  const window = query.has("from") || query.has("to") ? "in these days" : "in all";
  const decoder = options.decoder ? `, decoder ${options.decoder}` : "";
  return [
    `From ${count(n)} reports ${window}${decoder}. The whiskers are ${levelText(level)} intervals, each for its value alone: ` +
      `of ${count(many)} of them about ${count(many * (1 - level))} miss the truth. They are about the people who reported; what these say about others is another question.`,
    `Grey values are not distinguishable from zero: their interval reaches down to it. That is so for ${count(grey)} of ${count(rows.length)} values.`,
    rest ? restText(rest, rows[0], n) : null,
    ...(query.get("method") === "select" ? [selectedText(rows.length, size)] : largestTexts(rows.length, size)),
    biased ? `Post-processed by ${method}, which is biased. The intervals are those of the unbiased estimate.` : null,
  ].filter((line) => line !== null);
}
