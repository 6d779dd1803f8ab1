// One survey: its estimates with their intervals, live, and everything that is known about it.
import { privacyCard } from "../answer/learned.js";
import { load, number, search } from "../fldp.js";
import { analystWords } from "../shared/analyst_words.js";
import { card } from "../shared/card.js";
import { columns, element, folded, notice, panel, present } from "../shared/dom.js";
import { count, interval, percentFixed } from "../shared/format.js";
import { oraclesOf } from "../shared/oracles.js";
import { collector, download, get, isAdmin, kindOf, messageOf, post } from "../shared/session.js";
import { concerned } from "../shared/treatment.js";
import { candidates } from "./candidates.js";
import { bars, framed, isSure } from "./chart.js";
import { comparison } from "./comparison.js";
import { controls, field, levelText, selected } from "./controls.js";
import { headline } from "./headline.js";
import { integrity } from "./integrity.js";
import { manage } from "./manage.js";
import { moreReports } from "./more_reports.js";
import { NUMBER_LOOKS, numberPart } from "./number.js";
import { overTime } from "./over_time.js";
import { questionView } from "./question_view.js";
import { questionsView } from "./questions.js";
import { share } from "./share.js";
import { amountOf, rowOf, statusLine, tooFew, windowOf } from "./status.js";
import { valuesTable } from "./values_table.js";

/** @import { Survey } from "../fldp.js" */
/** @import { EstimateRow, Estimates, SurveyRow } from "../shared/replies.d.ts" */
/** @import { Candidates } from "./candidates.js" */
/** @import { Controls } from "./controls.js" */
/** @import { View } from "./dashboard.js" */

const MAX_BARS = 20;
const ORDERS = [
  ["survey", "As in the survey"],
  ["size", "The largest first"],
];
const MAX_ROWS = 10_000; // values that are fetched; the file has all

/** @param {Survey} survey */
const isOfTexts = ({ domain, specification }) => domain !== null && !specification.search;

/**
 * Make the view of a survey, or of one of its questions. `again` asks for everything once more, now.
 *
 * @param {string} name
 * @param {string} version
 * @param {() => unknown} again
 * @param {string} [question]
 * @returns {Promise<View>}
 */
export async function surveyView(name, version, again, question) {
  const first = await rowOf(version);
  const survey = await load(collector, name, oraclesOf, { version, search, number });
  const chosen = survey.questions?.find((each) => each.name === question);
  if (chosen) return questionView(survey, chosen, again);
  if (survey.questions) return questionsView(survey, first, again);
  const status = statusLine();
  const asked = controls(first, again, Boolean(survey.scale));
  const named = isOfTexts(survey) ? candidates(survey, again) : null;
  const isMean = survey.scale?.goal === "mean"; // which has nothing but that: no values to list or to compare
  const results = estimates(survey, asked, named, again);
  const isStepped = survey.collect.release !== undefined && !isAdmin(); // then all results together are shown, no parts
  const daily = isStepped ? null : overTime(survey);
  const compare = isMean || isStepped ? null : comparison(survey, asked, askerOf(named));
  const tools = element("div", { class: "tools" }, results.ordering, ...(isStepped ? [] : asked.period));
  const honesty = integrity(survey);
  let shown = "";

  async function refresh() {
    const row = await rowOf(version);
    status.put(row);
    const isEnough = row.n >= survey.collect.minimum; // of fewer the collector says nothing
    tools.hidden = !isEnough;
    // The tests take their time, and may have to catch up: they are under way while the estimates are fetched.
    const tests = isEnough ? honesty.refresh(windowOf(asked.query()), row.n) : null;
    const now = [amountOf(row), asked.query(), ...(named?.list() ?? [])].join("\n");
    const isSame = now === shown;
    const [isShown] = await Promise.all([
      isSame || results.refresh(row, asked.query()),
      isSame || daily?.refresh().then(compare?.offer),
      tests,
    ]);
    if (isShown) shown = now;
  }

  const content = present([
    status.node,
    honesty.warning,
    columns(
      [
        named?.node,
        element(
          "section",
          { class: "panel results" },
          element("div", { class: "head" }, element("h2", {}, "Results"), tools),
          results.headline,
          ...results.content,
        ),
      ],
      share(survey),
      [
        isMean ? null : results.table,
        daily?.node,
        compare?.node,
        folded(
          "How this was computed",
          asked.methods,
          element("p", {}, methodText(survey)),
          results.methods,
          named || survey.scale ? null : results.more, // of a sketch, a part of the error does not fall
          honesty.node,
          privacyCard(card(survey.oracle, analystWords), concerned(survey, analystWords)),
        ),
        isAdmin() ? manage(survey, first.state, again) : null,
      ],
    ),
  ]);
  return { heading: survey.question, content, refresh };
}

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
  if (specification.number) return `a number in ${count(oracle.domainSize)} cells`;
  return domain ? "texts" : `${count(oracle.domainSize)} values`;
}

/**
 * Say how people report. An epsilon alone would say too little.
 *
 * @param {Survey} survey
 */
const methodText = (survey) =>
  `Reports are made by ${survey.oracle.name.toUpperCase()}, of ${domainText(survey)}. ${card(survey.oracle).promised}`;

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
  const few = notice("", reason);
  const told = element("p");
  const warning = notice("warn", told); // what the collector says of these estimates
  const chart = framed();
  const figures = survey.scale ? numberPart(survey.name) : null;
  const notes = element("div", { class: "small" });
  const methods = element("div");
  const table = valuesTable(Boolean(survey.scale));
  const more = moreReports();
  const top = headline();
  const isOrdered = !named && survey.labels !== null && survey.oracle.domainSize <= MAX_BARS;
  const order = selected("order", ORDERS, isOrdered ? "survey" : "size");
  const ordering = element("div", { class: "controls" }, field("Order of the answers", order));
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
    for (const part of [chart.box, notes, methods, values]) part.hidden = text !== null;
    if (figures) [chart.box.hidden, figures.node.hidden] = [true, text !== null];
    ordering.hidden = text !== null || !isOrdered;
    if (text === null) return;
    warning.hidden = true;
    top.put(null);
    more.put(null);
  }

  /** @param {Estimates} reply */
  function draw({ rows, n, level }) {
    const compare = order.value === "survey" ? byValue : byCount;
    const shown = [...rows].sort(compare).slice(0, MAX_BARS);
    chart.put((width) => bars(shown, { width, n, level: levelText(level) }));
  }

  /**
   * @param {Estimates} reply
   * @param {URLSearchParams} query
   */
  function put(reply, query) {
    const { rows, n, note } = reply;
    const size = named?.list().length ?? survey.oracle.domainSize;
    show(null);
    if (figures && reply.number) figures.put(reply.number, reply.level);
    else draw(reply);
    order.onchange = () => draw(reply);
    told.textContent = note ?? "";
    warning.hidden = !note;
    top.put(reply);
    const lines = reply.number ? numberLines(reply, query) : noteLines(reply, size, query);
    notes.replaceChildren(...lines.map((line) => element("p", {}, line)));
    methods.replaceChildren(element("p", {}, methodNote(reply)));
    more.put(reply.number ? null : reply);
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
    return asking.catch((error) => reasonOf(error, minimum, survey.collect.release));
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
  const content = present([few, warning, chart.box, figures?.node, notes]);
  return { content, ordering, headline: top.node, table: values, methods, more: more.node, refresh };
}

/**
 * @param {EstimateRow} a
 * @param {EstimateRow} b
 */
const byValue = (a, b) => a.value - b.value;

/**
 * @param {EstimateRow} a
 * @param {EstimateRow} b
 */
const byCount = (a, b) => b.count - a.count || byValue(a, b);

const NO_CANDIDATES = "Name texts above; estimates of how often they were answered appear here.";

/**
 * Return why there are no estimates, where that can be changed on this page.
 *
 * @param {unknown} error
 * @param {number} minimum
 * @param {number | undefined} release
 */
function reasonOf(error, minimum, release) {
  const kind = kindOf(error);
  if (kind === "too-few" && release) return `Nothing is released yet: ${messageOf(error)}.`;
  if (kind === "candidates") return `Not counted: ${messageOf(error)}.`;
  if (kind !== "too-few") throw error;
  if (minimum === 1) return "There are no reports in these days.";
  return `There are fewer than ${count(minimum)} reports in these days, too few to be shown.`;
}

/**
 * Say how many gave none of the texts that were named. Its interval reaches as many standard errors as the interval of a row.
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
  "They are estimated from the other half, which played no part in choosing them. The others are not estimated at all.";

const ALL_LOOKS = "These intervals hold for all values and whenever you look.";
const ONE_LOOK = "This holds for one look. Anybody who looks every day is misled in more than a quarter of cases.";
const CHOSEN_DAYS =
  "This holds for days that begin at the start of the survey or were fixed beforehand, not for days that were chosen after looking.";
const UNBIASED = "The intervals belong to the unbiased estimate.";
const SHRUNK =
  "Rare values are drawn towards each other, and a value that is not clearly seen is shrunk: for one value, the top or a sum take the unbiased estimate. " +
  "The intervals are credible ones, for all values on average.";

/**
 * Say from how many reports of which days estimates are, and what their intervals are.
 *
 * @param {Estimates} reply
 * @param {URLSearchParams} query
 */
function fromText({ n, level, anytime, number }, query) {
  const looks = anytime
    ? number
      ? NUMBER_LOOKS
      : ALL_LOOKS
    : `About 1 in ${count(1 / (1 - level))} misses the true value. ${ONE_LOOK}`;
  return `From ${count(n)} report${n === 1 ? "" : "s"} ${hasDays(query) ? "in these days" : "in all"}. Error bars are ${levelText(level)} intervals. ${looks}`;
}

/**
 * Say what has to be said below the figures of a number.
 *
 * @param {Estimates} reply
 * @param {URLSearchParams} query
 */
const numberLines = (reply, query) =>
  present([
    fromText(reply, query),
    reply.anytime && hasDays(query) ? CHOSEN_DAYS : null,
    reply.biased ? `Post-processed by ${reply.method}, which is biased. ${UNBIASED}` : null,
  ]);

/** @param {URLSearchParams} query */
const hasDays = (query) => query.has("from") || query.has("to");

/**
 * Say what has to be said below estimates, so that they are not read as more certain than they are.
 *
 * @param {Estimates} reply
 * @param {number} size
 * @param {URLSearchParams} query
 */
function noteLines(reply, size, query) {
  const { n, rows, biased, method, remark, rest } = reply;
  const grey = rows.filter((row) => !isSure(row)).length;
  return present([
    fromText(reply, query),
    reply.anytime && hasDays(query) ? CHOSEN_DAYS : null,
    grey
      ? `Grey values (${count(grey)} of ${count(rows.length)}) cannot be told from zero: their intervals reach down to it.`
      : null,
    rest ? restText(rest, rows[0], n) : null,
    ...(query.get("method") === "select" ? [selectedText(rows.length, size)] : largestTexts(rows.length, size)),
    biased ? `Post-processed by ${method}, which is biased. ${method === "bayes" ? SHRUNK : UNBIASED}` : null,
    remark ?? null,
  ]);
}

/**
 * Say how estimates are made, and about whom they are.
 *
 * @param {Estimates} reply
 */
const methodNote = ({ options, anytime, number: figures }) =>
  `${options.decoder ? `Decoded by ${options.decoder}. ` : ""}` +
  (anytime && !figures
    ? "All intervals hold together and at every look. "
    : "Every interval is for its value alone. ") +
  "They are about the people who reported; what these say about others is another question.";
