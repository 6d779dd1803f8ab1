// Two questions together: shares within rows with their intervals, marked cells, and the test in words.
import { element, panel } from "../shared/dom.js";
import { count, threeDigits, visible } from "../shared/format.js";
import { get, kindOf, messageOf } from "../shared/session.js";
import { field, levelText, selected } from "./controls.js";

/** @import { Sampled, Survey } from "../fldp.js" */
/** @import { CrossTable, RowShare } from "../shared/replies.d.ts" */

const MARKS = new Map([
  [1, ["↑", "more than independence would give", "more"]],
  [-1, ["↓", "fewer than independence would give", "fewer"]],
]);

/**
 * Return the pairs of questions that some view has together, by their places.
 *
 * @param {Survey} survey
 * @returns {[number, number][]}
 */
export function crossesOf({ oracle, questions }) {
  const { members } = /** @type {Sampled} */ (oracle);
  const blocks = members.filter(({ entry }) => typeof entry[0] === "number").map((member) => new Set(member.questions));
  const places = [...(questions ?? []).keys()];
  return places.flatMap((a) =>
    places
      .filter((b) => b > a && blocks.some((block) => block.has(a) && block.has(b)))
      .map((b) => /** @type {[number, number]} */ ([a, b])),
  );
}

/**
 * Make the part with a cross-table, of the pair that is chosen; of one question, with each that it is crossed with.
 *
 * @param {Survey} survey
 * @param {(more: string) => string} path
 * @param {string} [only]
 */
export function crossTable(survey, path, only) {
  const names = (survey.questions ?? []).map(({ name }) => name);
  const pairs = crossesOf(survey)
    .map(([a, b]) => [names[a], names[b]])
    .map((both) => (only === both[1] ? both.reverse() : both))
    .filter(([first]) => only === undefined || only === first);
  const options = pairs.map(([a, b]) => [`${a},${b}`, `${a} × ${b}`]);
  const pair = selected("cross", options, options[0]?.[0] ?? "");
  const swap = element("button", { type: "button" }, "Swap rows and columns");
  const result = element("div", { "aria-live": "polite" });
  const tools = [
    element("div", { class: "controls" }, field("Questions", pair)),
    element("div", { class: "actions" }, swap),
  ];
  const none = element("p", {}, "This survey crosses no questions: name pairs under tables.cross in its file.");
  const node = panel("Two questions together", ...(pairs.length ? tools : [none]), result);
  let isSwapped = false;
  let newest = 0;

  async function refresh() {
    if (!pairs.length) return;
    newest += 1;
    const turn = newest;
    const chosen = pair.value.split(",");
    const asked = (isSwapped ? chosen.reverse() : chosen).join(",");
    /** @type {CrossTable | string} */
    const reply = await get(path(`&cross=${encodeURIComponent(asked)}`)).catch(tooFew);
    if (turn !== newest) return;
    result.replaceChildren(
      ...(typeof reply === "string" ? [element("p", { class: "muted" }, reply)] : tableParts(reply)),
    );
  }
  pair.addEventListener("change", () => refresh());
  swap.addEventListener("click", () => {
    isSwapped = !isSwapped;
    refresh();
  });
  return { node, refresh };
}

/** @param {unknown} error */
function tooFew(error) {
  if (kindOf(error) !== "too-few") throw error;
  return `Not shown: ${messageOf(error)}.`;
}

/** @param {CrossTable} reply */
function tableParts(reply) {
  const { cross, cells, row_shares: shares, marks } = reply;
  const [first, second] = cross;
  const columns = [...new Set(shares.map(({ column }) => column))];
  const rows = [...new Set(shares.map(({ row }) => row))];
  const heads = [first, ...columns.map((column) => visible(String(column))), "People"];
  const head = element(
    "tr",
    {},
    heads.map((text) => element("th", { scope: "col" }, text)),
  );
  const lines = rows.map((row, at) => {
    const own = shares.slice(at * columns.length, (at + 1) * columns.length);
    const people = cells
      .slice(at * columns.length, (at + 1) * columns.length)
      .reduce((sum, cell) => sum + cell.count, 0);
    return element(
      "tr",
      {},
      element("th", { scope: "row" }, visible(String(row))),
      own.map((share, column) => cellOf(share, marks[at][column])),
      element("td", { class: "number" }, count(people)),
    );
  });
  const caption = element("caption", {}, `Shares of ${second} within each ${first}`);
  const table = element(
    "table",
    { class: "values cross" },
    caption,
    element("thead", {}, head),
    element("tbody", {}, lines),
  );
  const label = `${first} by ${second}`;
  return [
    element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, table),
    ...testLines(reply).map((line) => element("p", {}, line)),
    element("p", { class: "small" }, markText(reply)),
  ];
}

/**
 * @param {RowShare} share
 * @param {number} mark
 */
function cellOf({ share, low, high }, mark) {
  const [sign, words, kind] = MARKS.get(mark) ?? [];
  return element(
    "td",
    { class: kind ? `number marked ${kind}` : "number", title: words ?? null },
    element("span", { class: "share" }, percent(share), sign ? ` ${sign}` : ""),
    words ? element("span", { class: "visually-hidden" }, ` (${words})`) : null,
    element("span", { class: "line small muted" }, `${percent(low)} to ${percent(high)}`),
  );
}

/** @param {number} share */
const percent = (share) => `${Math.round(100 * share)} %`;

/**
 * Say whether two questions go together, and how strongly.
 *
 * @param {CrossTable} reply
 */
function testLines({ cross: [first, second], level, independence, association }) {
  const { statistic, df, p_value: p } = independence;
  const is = p <= 1 - level ? "go together" : "may be independent of each other";
  const test = `chi-square ${threeDigits(statistic)} with ${df} degree${df === 1 ? "" : "s"} of freedom, p ${small(p)}`;
  const { v, low, high, approximate } = association;
  const ends = `${approximate ? "about " : ""}${v2(low)} to ${v2(high)}`;
  return [
    `${first} and ${second} ${is}: ${test}, corrected for the noise of the reports.`,
    `Strength: Cramér's V ${v2(v)} (${ends}, ${levelText(level)}); 0 is no association, 1 the strongest possible.`,
  ];
}

/** @param {number} v */
export const v2 = (v) => v.toFixed(2);

/**
 * Write a small probability.
 *
 * @param {number} p
 */
export const small = (p) =>
  p < 0.0001 ? "below 0.0001" : `= ${p.toLocaleString("en-US", { maximumSignificantDigits: 2 })}`;

/** @param {CrossTable} reply */
function markText({ level, biased }) {
  const marked = `↑ and ↓ mark cells with more and fewer people than independence would give them; with ${levelText(level)} certainty none of them is marked by chance.`;
  const rest = "Below each share is its interval; 0 % to 100 % says that the reports tell nothing about it.";
  return `${marked} ${rest}${biased ? " Post-processed, which is biased: the intervals belong to the unbiased table." : ""}`;
}
