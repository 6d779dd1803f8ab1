// All metrics of a program on one page: how each share moved from period to period.
import { element, panel } from "../shared/dom.js";
import { count, interval, percentFixed, visible } from "../shared/format.js";
import { get, kindOf } from "../shared/session.js";
import { framed } from "./chart.js";
import { lineOf, tableOf } from "./over_time.js";
import { trend } from "./trend.js";

/** @import { DayRow, Estimates, SurveyRow } from "../shared/replies.d.ts" */
/** @import { View } from "./dashboard.js" */
/** @import { Strip } from "./trend.js" */

/** @typedef {{ app: string, metric: string, period: string }} Metric */

const MAX_PERIODS = 12;
const EVERY = 60_000; // milliseconds: a period takes weeks
const QUESTION = /^([a-z0-9_-]+): ([a-z0-9_-]+), by (month|week)$/; // as fldp telemetry publish writes it

/**
 * Return the program and the metric of a survey, or null where it is no metric.
 *
 * @param {Pick<SurveyRow, "name" | "question">} row
 * @returns {Metric | null}
 */
export function metricOf({ name, question }) {
  const [, app, metric, period] = QUESTION.exec(question) ?? [];
  return app && metric && period && name === `${app}-${metric}` ? { app, metric, period } : null;
}

/**
 * Make the view of a program.
 *
 * @param {string} app
 * @returns {Promise<View>}
 */
export async function appView(app) {
  /** @type {readonly SurveyRow[]} */
  const surveys = await get("v1/surveys");
  const rows = surveys.filter((row) => metricOf(row)?.app === app && row.state !== "closed");
  const parts = rows.map(metricPart);
  let asked = Number.NEGATIVE_INFINITY;

  async function refresh() {
    if (performance.now() - asked < EVERY) return;
    for (const part of parts) await part.refresh();
    asked = performance.now();
  }
  const words = element("p", {}, PURPOSE);
  const none = element("p", { class: "muted" }, "This program has no open metric.");
  return {
    heading: `Telemetry of ${app}`,
    content: [words, rows.length ? null : none, parts.map(({ node }) => node)],
    refresh,
  };
}

const PURPOSE =
  "Each install reports one metric a period, by lot. Points are estimated shares of those who reported in a period; the intervals of a metric hold for all its values and all periods shown at once, for one look.";

/** @param {SurveyRow} row */
function metricPart(row) {
  const { metric = row.name, period = "month" } = metricOf(row) ?? {};
  const chart = framed();
  const body = element("tbody");
  const note = element("p", { class: "small muted" });
  const table = tableOf(
    "As a table",
    ["Period and value", "Share", "Interval", "Reports"],
    body,
    `Shares of ${metric}`,
  );
  const link = element("p", {}, element("a", { href: `#/survey/${row.name}/${row.version}` }, "All about this metric"));
  const node = panel(metric, chart.box, note, table, link);

  async function refresh() {
    const shown = await estimated(row, period);
    const some = shown.filter(({ estimates }) => estimates !== null);
    note.textContent = shown.length ? noteOf(shown.length - some.length) : "There are no reports yet.";
    for (const part of [chart.box, table]) part.hidden = some.length === 0;
    if (!some.length) return;
    chart.put((width) =>
      trend(
        stripsOf(shown),
        shown.map(({ name }) => name),
        width,
      ),
    );
    body.replaceChildren(...some.flatMap(linesOf));
  }
  return { node, refresh };
}

/** @param {number} hidden */
const noteOf = (hidden) => (hidden ? `${count(hidden)} of the periods have too few reports to be shown.` : "");

/** @typedef {{ name: string, estimates: Estimates | null }} Shown */

/**
 * Fetch the estimates of the last periods; null where there are too few reports to show any.
 *
 * @param {SurveyRow} row
 * @param {string} period
 */
async function estimated({ name, version }, period) {
  /** @type {readonly DayRow[]} */
  const days = await get(`v1/versions/${version}/days`);
  const spans = spansOf(days, period);
  /** @type {{ survey: { labels: readonly string[] } }} */
  const { survey } = await get(`v1/surveys/${name}?version=${version}`);
  const level = 1 - 0.05 / (survey.labels.length * Math.max(1, spans.length));
  /** @type {Shown[]} */
  const shown = [];
  for (const span of spans) {
    const path = `v1/versions/${version}/estimates?from=${span.from}&to=${span.to}&level=${level}`;
    shown.push({ name: span.name, estimates: await get(path).catch(nothing) });
  }
  return shown;
}

/** @param {unknown} error */
function nothing(error) {
  if (kindOf(error) === "too-few") return null;
  throw error;
}

/**
 * Return the last periods that have reports, each with the first and the last of its days that have some.
 *
 * @param {readonly DayRow[]} days
 * @param {string} period
 */
function spansOf(days, period) {
  /** @type {Map<string, { name: string, from: string, to: string }>} */
  const spans = new Map();
  for (const { day } of days) {
    const name = period === "month" ? day.slice(0, 7) : mondayOf(day);
    spans.set(name, { name, from: spans.get(name)?.from ?? day, to: day });
  }
  return [...spans.values()].slice(-MAX_PERIODS);
}

/** @param {string} day */
function mondayOf(day) {
  const date = new Date(`${day}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7));
  return date.toISOString().slice(0, 10);
}

/**
 * @param {readonly Shown[]} shown
 * @returns {Strip[]}
 */
function stripsOf(shown) {
  const rows = shown.find(({ estimates }) => estimates)?.estimates?.rows ?? [];
  const inOrder = [...rows].sort((a, b) => a.value - b.value);
  return inOrder.map(({ label }) => ({ label, points: shown.map(({ estimates }) => pointOf(estimates, label)) }));
}

/**
 * @param {Estimates | null} estimates
 * @param {string} label
 */
function pointOf(estimates, label) {
  const row = estimates?.rows.find((each) => each.label === label);
  return estimates && row ? { share: row.frequency, low: row.low / estimates.n, high: row.high / estimates.n } : null;
}

/** @param {Shown} shown */
function linesOf({ name, estimates }) {
  return (estimates?.rows ?? []).map((row) => {
    const n = estimates?.n ?? 1;
    const ends = interval(row.low / n, row.high / n, percentFixed);
    return lineOf([`${name}, ${visible(row.label)}`, percentFixed(row.frequency), ends, count(n)]);
  });
}
