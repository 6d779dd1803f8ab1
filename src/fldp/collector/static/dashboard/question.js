// One question of several: bars of its answers, or the figures of a number, with their intervals.
import { element, panel } from "../shared/dom.js";
import { count, interval, percentFixed, visible } from "../shared/format.js";
import { bars, framed, isSure } from "./chart.js";
import { levelText } from "./controls.js";
import { NUMBER_LOOKS, numberPart } from "./number.js";
import { lineOf, tableOf } from "./over_time.js";

/** @import { AskedQuestion } from "../fldp.js" */
/** @import { EstimateRow, QuestionEstimates } from "../shared/replies.d.ts" */

const ALL_LOOKS = "They hold for all answers to this question and whenever you look.";
export const TABLES_METHOD =
  "Every report is about a few of the questions, which chance chose. Tables are put together from all reports that are " +
  "about any of their questions, so that the margins of all tables agree. Figures are about the people who reported; " +
  "tests and associations are about the population they come from.";
const MAX_BARS = 20;
const MAX_ROWS = 1000; // of the table; the file has all

/**
 * Make the part about a question. `put` gives it what was estimated.
 *
 * @param {AskedQuestion} asked
 */
export function questionPart({ name, question, scale, optional }) {
  const chart = framed();
  const figures = scale ? numberPart(name) : null;
  const body = element("tbody");
  const values = tableOf("All values", ["Value", "Share", "Interval", "People"], body, `All values of ${name}`);
  const among = element("tbody");
  const answered = tableOf(
    "Shares among those who answered",
    ["Value", "Share", "Interval"],
    among,
    `Shares among those who answered ${name}`,
  );
  const notes = element("div", { class: "small" });
  const node = panel(question, chart.box, figures?.node, notes, values, answered);
  node.dataset.question = name;

  /**
   * @param {QuestionEstimates} estimates
   * @param {number} n
   * @param {number} level
   */
  function put(estimates, n, level) {
    const { rows, number, note } = estimates;
    const isShown = !note;
    chart.box.hidden = !isShown || Boolean(number);
    values.hidden = !isShown;
    answered.hidden = !isShown || !optional;
    if (figures) figures.node.hidden = !isShown;
    notes.replaceChildren(...noteLines(estimates, n, level).map((line) => element("p", {}, line)));
    if (!isShown) return;
    if (figures && number) figures.put(number, level);
    else chart.put((width) => bars(shownRows(rows), { width, n, level: levelText(level) }));
    body.replaceChildren(...rows.slice(0, MAX_ROWS).map((row) => valueLine(row, n)));
    const parts = estimates.answered ?? [];
    among.replaceChildren(
      ...parts.map(({ value, share, low, high }) =>
        lineOf([visible(String(value)), percentFixed(share), interval(low, high, percentFixed)]),
      ),
    );
  }
  return { node, put };
}

/**
 * Return the rows to draw: in the order of the survey, of many the largest.
 *
 * @param {readonly EstimateRow[]} rows
 */
const shownRows = (rows) =>
  rows.length <= MAX_BARS
    ? [...rows].sort((a, b) => a.value - b.value)
    : [...rows].sort((a, b) => b.count - a.count).slice(0, MAX_BARS);

/**
 * @param {EstimateRow} row
 * @param {number} n
 */
function valueLine(row, n) {
  const ends = interval(row.low / n, row.high / n, percentFixed);
  const texts = [visible(row.label), percentFixed(row.frequency), ends, count(row.count)];
  return lineOf(texts, isSure(row) ? {} : { class: "unsure", title: "not distinguishable from zero" });
}

/**
 * @param {QuestionEstimates} estimates
 * @param {number} n
 * @param {number} level
 */
function noteLines({ rows, note, number, anytime }, n, level) {
  if (note) return [`Not shown: ${note}.`];
  const grey = number ? 0 : rows.filter((row) => !isSure(row)).length;
  const unsure = `Grey values are not distinguishable from zero: ${count(grey)} of ${count(rows.length)}.`;
  const largest = `The chart shows the ${MAX_BARS} largest of ${count(rows.length)}. The largest of many noisy estimates tend to be too large.`;
  const looks = anytime ? ` ${number ? NUMBER_LOOKS : ALL_LOOKS}` : "";
  return [
    `From ${count(n)} reports. Error bars are ${levelText(level)} intervals.${looks}`,
    ...(grey ? [unsure] : []),
    ...(!number && rows.length > MAX_BARS ? [largest] : []),
  ];
}
