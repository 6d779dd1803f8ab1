// Charts: drawn as SVG by D3, coloured by the style sheet, each with words for those who do not see it.

import { drawn, element } from "../shared/dom.js";
import { interval, percentFixed, short, visible } from "../shared/format.js";
import { axisBottom, axisLeft, format, line, scaleBand, scaleLinear, scaleLog, select } from "../vendor/d3.js";

/** @import { Axis, AxisDomain } from "d3-axis" */
/** @import { ScaleContinuousNumeric } from "d3-scale" */
/** @import { Selection } from "d3-selection" */
/** @import { DayRow, EstimateRow, NumberCellRow, NumberEdge } from "../shared/replies.d.ts" */

/** @typedef {Selection<SVGSVGElement, unknown, null, undefined>} Svg */

const STEP = 28; // from one bar to the next
const MAX_DAY = 72; // the width of a day's bar
const LETTER = 7; // the width of a letter of a name
const CAP = 4; // half the height of a whisker's end
const EDGE = { top: 8, right: 24, bottom: 44 };

/**
 * Whether a value is distinguishable from zero: an interval that reaches down to zero may be of one that nobody has.
 *
 * @param {Pick<EstimateRow, "low">} row
 */
export const isSure = ({ low }) => low > 0;

/**
 * @param {number} width
 * @param {number} height
 * @param {string} label
 */
function canvas(width, height, label) {
  const viewBox = `0 0 ${width} ${height}`;
  return select(drawn("svg", { class: "chart", width, height, viewBox, role: "img", "aria-label": label }));
}

/**
 * Return the element that was drawn.
 *
 * @param {Svg} svg
 */
const drawing = (svg) => /** @type {SVGSVGElement} */ (svg.node());

/**
 * Return how the numbers of a scale are written: long ones with k or M.
 *
 * @param {ScaleContinuousNumeric<number, number>} scale
 */
const numbers = (scale) => format(scale.domain()[1] < 10_000 ? "," : "~s");

/**
 * @param {Svg} svg
 * @param {number} width
 * @param {number} height
 * @param {string} text
 */
function caption(svg, width, height, text) {
  svg
    .append("text")
    .attr("class", "caption")
    .attr("x", width - EDGE.right)
    .attr("y", height - 6)
    .attr("text-anchor", "end")
    .text(text);
}

/**
 * A bar: a share with its interval.
 *
 * @typedef {{ label: string, share: number, low: number, high: number }} Bar
 */

/**
 * Return the bar of an estimate, with the number of reports behind it.
 *
 * @param {number} n
 * @returns {(row: EstimateRow) => Bar}
 */
const barOf =
  (n) =>
  ({ label, frequency, low, high }) => ({ label, share: frequency, low: low / n, high: high / n });

/**
 * Return the scale of the shares: from zero, or from the lowest end of an interval, to the highest.
 *
 * @param {readonly Bar[]} rows
 * @param {[number, number]} range
 */
function shareScale(rows, range) {
  const low = Math.min(0, ...rows.map((row) => Math.min(row.low, row.share)));
  const high = Math.max(0.001, ...rows.map((row) => Math.max(row.high, row.share)));
  return scaleLinear([low, high], range).nice();
}

/** @param {Bar} bar */
const barText = ({ label, share, low, high }) =>
  `${visible(label)} ${percentFixed(share)}, interval ${interval(low, high, percentFixed)}`;

/**
 * Write a share on an axis.
 *
 * @param {number} share
 */
const tickText = (share) => `${+(100 * share).toPrecision(3)} %`;

/**
 * Return how wide the names beside the bars may be: as wide as the longest one, within limits.
 *
 * @param {readonly Bar[]} rows
 * @param {number} width
 */
function roomForNames(rows, width) {
  const longest = Math.max(...rows.map(({ label }) => visible(label).length));
  return Math.min(220, 0.42 * width, Math.max(80, LETTER * longest + 12));
}

/**
 * Draw estimates as bars with whiskers: what may be zero is grey.
 *
 * @param {readonly EstimateRow[]} estimates
 * @param {{ width: number, n: number, level: string }} options
 */
export function bars(estimates, { width, n, level }) {
  const rows = estimates.map(barOf(n));
  const left = Math.round(roomForNames(rows, width));
  const height = rows.length * STEP + EDGE.top + EDGE.bottom;
  const bottom = height - EDGE.bottom;
  const x = shareScale(rows, [left, width - EDGE.right]);
  const places = scaleBand([...rows.keys()], [EDGE.top, bottom]).padding(0.28);
  const y = (/** @type {number} */ place) => places(place) ?? 0;
  const middle = (/** @type {number} */ place) => y(place) + places.bandwidth() / 2;
  const svg = canvas(width, height, barsText(rows, level));
  const ticks = Math.max(2, Math.floor(width / 130));
  grid(
    svg,
    axisBottom(x)
      .ticks(ticks)
      .tickFormat((share) => tickText(Number(share)))
      .tickSize(EDGE.top - bottom),
    0,
    bottom,
  );
  svg
    .selectAll(".bar")
    .data(rows)
    .join("rect")
    .attr("class", (row) => (isSure(row) ? "bar" : "bar unsure"))
    .attr("x", (row) => Math.min(x(0), x(row.share)))
    .attr("width", (row) => Math.abs(x(row.share) - x(0)))
    .attr("y", (_, place) => y(place))
    .attr("height", places.bandwidth())
    .append("title")
    .text(barText);
  svg
    .selectAll(".whisker")
    .data(rows)
    .join("path")
    .attr("class", "whisker")
    .attr("d", ({ low, high }, place) => whisker(x(low), x(high), middle(place)));
  svg
    .append("path")
    .attr("class", "zero")
    .attr("d", `M${x(0)} ${EDGE.top}V${bottom}`);
  svg
    .selectAll(".name")
    .data(rows)
    .join("text")
    .attr("class", (row) => (isSure(row) ? "name" : "name unsure"))
    .attr("x", left - 8)
    .attr("y", (_, place) => middle(place))
    .attr("dy", "0.35em")
    .attr("text-anchor", "end")
    .text(({ label }) => short(visible(label), Math.floor((left - 8) / LETTER)));
  caption(svg, width, height, "share of all who reported, estimated");
  return drawing(svg);
}

/**
 * @param {number} low
 * @param {number} high
 * @param {number} y
 */
const whisker = (low, high, y) => `M${low} ${y - CAP}v${2 * CAP}M${low} ${y}H${high}M${high} ${y - CAP}v${2 * CAP}`;

/**
 * @param {readonly Bar[]} rows
 * @param {string} level
 */
function barsText(rows, level) {
  const largest = [...rows].sort((a, b) => b.share - a.share).slice(0, 5);
  const grey = rows.filter((row) => !isSure(row)).length;
  return (
    `Bars of ${rows.length} estimated shares with ${level} intervals. The largest: ${largest.map(barText).join("; ")}. ` +
    `${grey} of them may be zero and are grey. All are in the table of values.`
  );
}

/**
 * @template {AxisDomain} Domain
 * @param {Svg} svg
 * @param {Axis<Domain>} axis
 * @param {number} x
 * @param {number} y
 */
function grid(svg, axis, x, y) {
  const group = svg.append("g").attr("class", "axis").attr("transform", `translate(${x},${y})`).call(axis);
  group.select(".domain").remove();
}

/**
 * Draw the reports of each day; days of which no number is shown are grey marks at the bottom.
 *
 * @param {readonly DayRow[]} rows
 * @param {{ width: number, label: string }} options
 */
export function days(rows, { width, label }) {
  const [height, left] = [200, 56];
  const bottom = height - EDGE.bottom;
  const names = rows.map(({ day }) => day);
  const x = scaleBand(names, [left, width - EDGE.right]).padding(0.15);
  const thick = Math.min(x.bandwidth(), MAX_DAY);
  const y = scaleLinear([0, Math.max(1, ...rows.map(({ n }) => n ?? 0))], [bottom, EDGE.top]).nice();
  const svg = canvas(width, height, label);
  grid(
    svg,
    axisLeft(y)
      .ticks(4)
      .tickFormat(numbers(y))
      .tickSize(left - width + EDGE.right),
    left,
    0,
  );
  const every = Math.ceil(rows.length / Math.max(1, Math.floor((width - left) / 90)));
  const marked = names.filter((_, place) => place % every === 0);
  grid(svg, axisBottom(x).tickValues(marked).tickSize(0).tickPadding(8), 0, bottom);
  svg
    .selectAll(".bar")
    .data(rows)
    .join("rect")
    .attr("class", ({ n }) => (n === null ? "bar unsure" : "bar"))
    .attr("x", ({ day }) => (x(day) ?? 0) + (x.bandwidth() - thick) / 2)
    .attr("width", thick)
    .attr("y", ({ n }) => (n === null ? y(0) - 3 : y(n)))
    .attr("height", ({ n }) => (n === null ? 3 : y(0) - y(n)));
  caption(svg, width, height, "UTC day");
  return drawing(svg);
}

/**
 * Return places for numbers on a logarithmic scale: powers of ten, with 2 and 5 of each if there is room.
 *
 * @param {ScaleContinuousNumeric<number, number>} scale
 * @param {number} most
 */
function steps(scale, most) {
  const [low, high] = scale.domain();
  const [first, last] = [low, high].map((end) => Math.floor(Math.log10(end)));
  const powers = Array.from({ length: last - first + 1 }, (_, place) => first + place);
  const values = (/** @type {readonly number[]} */ digits) =>
    powers
      .flatMap((power) => digits.map((digit) => Number(`${digit}e${power}`)))
      .filter((value) => value >= low && value <= high);
  const all = values([1, 2, 5]);
  return all.length <= 2 * most ? all : values([1]);
}

/**
 * Draw how the error falls with the number of reports: now, and what is to be expected.
 *
 * @param {readonly { reports: number, error: number }[]} points
 * @param {{ width: number, now: number, label: string }} options
 */
export function errors(points, { width, now, label }) {
  const [height, left] = [220, 64];
  const bottom = height - EDGE.bottom;
  const [first, last] = [points[0], points[points.length - 1]];
  const x = scaleLog([first.reports, last.reports], [left, width - EDGE.right]);
  const y = scaleLog([last.error, first.error], [bottom, EDGE.top]).nice();
  const svg = canvas(width, height, label);
  const percents = axisLeft(y)
    .tickValues(steps(y, 4))
    .tickFormat((share) => tickText(Number(share)))
    .tickSize(left - width + EDGE.right);
  grid(svg, percents, left, 0);
  const counts = axisBottom(x)
    .tickValues(steps(x, width / 90))
    .tickFormat(format("~s"))
    .tickSize(0)
    .tickPadding(8);
  grid(svg, counts, 0, bottom);
  const curve = line()(points.map(({ reports, error }) => [x(reports), y(error)]));
  svg.append("path").attr("class", "curve").attr("d", curve);
  svg
    .selectAll(".point")
    .data(points.filter(({ reports }) => reports >= now))
    .join("circle")
    .attr("class", ({ reports }) => (reports === now ? "point now" : "point"))
    .attr("cx", ({ reports }) => x(reports))
    .attr("cy", ({ error }) => y(error))
    .attr("r", 4.5);
  caption(svg, width, height, "reports");
  return drawing(svg);
}

const TALL = 240; // the height of a chart of a number
const SPIKE = 5; // the width of the bar of a single value

/**
 * Return the scale of a number over the width of a chart.
 *
 * @param {number} low
 * @param {number} high
 * @param {number} width
 */
const numberScale = (low, high, width) => scaleLinear([low, high], [56, width - EDGE.right]);

/**
 * Draw the axes of a chart of a number: shares to the left, the number below.
 *
 * @param {Svg} svg
 * @param {ScaleContinuousNumeric<number, number>} x
 * @param {ScaleContinuousNumeric<number, number>} y
 * @param {{ width: number, text: string }} options
 */
function numberAxes(svg, x, y, { width, text }) {
  const [left, bottom] = [56, TALL - EDGE.bottom];
  const shares = axisLeft(y)
    .ticks(5)
    .tickFormat((share) => tickText(Number(share)))
    .tickSize(left - width + EDGE.right);
  grid(svg, shares, left, 0);
  const numbered = axisBottom(x)
    .ticks(Math.max(2, Math.floor(width / 110)))
    .tickSize(0)
    .tickPadding(8);
  grid(svg, numbered, 0, bottom);
  caption(svg, width, TALL, text);
}

/**
 * Draw the shares of the cells of a number as bars with whiskers. Cells of unequal widths are as tall as their share
 * for each unit, so that areas are shares; single values are narrow bars as tall as their share.
 *
 * @param {readonly NumberCellRow[]} cells
 * @param {{ width: number, unit: string | null, level: string }} options
 */
export function histogram(cells, { width, unit, level }) {
  const wide = cells.filter(({ start, end }) => start < end);
  const usual = Math.min(...wide.map(({ start, end }) => end - start));
  const rows = cells.map(({ start, end, share, low, high }) => {
    const times = start < end ? usual / (end - start) : 1;
    return { start, end, share: share * times, low: low * times, high: high * times };
  });
  const bottom = TALL - EDGE.bottom;
  const x = numberScale(cells[0].start, cells[cells.length - 1].end, width);
  const y = shareScale(
    rows.map((row) => ({ ...row, label: "" })),
    [bottom, EDGE.top],
  );
  const top = [...cells].sort((a, b) => b.share - a.share).slice(0, 3);
  const told = top.map(({ start, end, share }) => `${start} to ${end}: ${percentFixed(share)}`).join("; ");
  const svg = canvas(width, TALL, `Histogram of ${cells.length} cells with ${level} intervals. The largest: ${told}.`);
  numberAxes(svg, x, y, { width, text: unit ?? "" });
  const thick = (/** @type {{ start: number, end: number }} */ { start, end }) =>
    Math.max(SPIKE, x(end) - x(start) - 1);
  const left = (/** @type {{ start: number, end: number }} */ row) =>
    row.start < row.end ? x(row.start) : x(row.start) - SPIKE / 2;
  const middle = (/** @type {{ start: number, end: number }} */ row) => left(row) + thick(row) / 2;
  svg
    .selectAll(".bar")
    .data(rows)
    .join("rect")
    .attr("class", (row) => (isSure(row) ? "bar" : "bar unsure"))
    .attr("x", left)
    .attr("width", thick)
    .attr("y", ({ share }) => Math.min(y(0), y(share)))
    .attr("height", ({ share }) => Math.abs(y(share) - y(0)));
  svg
    .selectAll(".whisker")
    .data(rows)
    .join("path")
    .attr("class", "whisker")
    .attr("d", (row) => `M${middle(row)} ${y(row.low)}V${y(row.high)}`);
  return drawing(svg);
}

/**
 * Draw the share of people up to every edge, in a band.
 *
 * @param {readonly NumberEdge[]} edges
 * @param {{ width: number, unit: string | null, level: string }} options
 */
export function cdf(edges, { width, unit, level }) {
  const bottom = TALL - EDGE.bottom;
  const x = numberScale(edges[0].edge, edges[edges.length - 1].edge, width);
  const y = scaleLinear([0, 1], [bottom, EDGE.top]);
  const half = edges.find((row) => row.cdf >= 0.5) ?? edges[0];
  const svg = canvas(
    width,
    TALL,
    `A rising line: the share of people up to a number, in a band of ${level} for all edges. ${percentFixed(half.cdf)} are up to ${half.edge}${unit ? ` ${unit}` : ""}.`,
  );
  numberAxes(svg, x, y, { width, text: unit ?? "" });
  const place = (/** @type {number} */ share) => y(Math.min(1, Math.max(0, share)));
  const along = (/** @type {"low" | "high"} */ end) => edges.map((row) => `${x(row.edge)} ${place(row[end])}`);
  svg
    .append("path")
    .attr("class", "band")
    .attr("d", `M${along("low").join("L")}L${along("high").reverse().join("L")}Z`);
  svg
    .append("path")
    .attr("class", "curve")
    .attr("d", line()(edges.map((row) => [x(row.edge), place(row.cdf)])));
  return drawing(svg);
}

/** @typedef {(width: number) => SVGSVGElement} Draw */

/** Keep a chart as wide as its box, even when the window changes. */
export function framed() {
  const box = element("div", { class: "frame" });
  /** @type {Draw | null} */
  let current = null;
  let width = 0;
  new ResizeObserver(() => {
    if (current && box.clientWidth && box.clientWidth !== width) put(current);
  }).observe(box);

  /** @param {Draw} draw */
  function put(draw) {
    current = draw;
    width = box.clientWidth || 320;
    box.replaceChildren(draw(width));
  }
  return { box, put };
}
