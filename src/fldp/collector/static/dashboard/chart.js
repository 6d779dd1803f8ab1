// Charts: drawn as SVG by D3, coloured by the style sheet, each with words for those who do not see it.

import { drawn, element } from "../shared/dom.js";
import { count, interval, short, visible } from "../shared/format.js";
import { axisBottom, axisLeft, format, line, scaleBand, scaleLinear, scaleLog, select } from "../vendor/d3.js";

/** @import { Axis, AxisDomain } from "d3-axis" */
/** @import { ScaleContinuousNumeric } from "d3-scale" */
/** @import { Selection } from "d3-selection" */
/** @import { DayRow, EstimateRow } from "../shared/replies.d.ts" */

/** @typedef {Selection<SVGSVGElement, unknown, null, undefined>} Svg */

/**
 * One colour for each oracle, as in the figures of the reproduction.
 *
 * @type {Record<string, string>}
 */
const COLOURS = {
  cms: "#0f766e",
  exponential: "#3d8f8a",
  fhr: "#2a9d5c",
  fwr: "#d63aa0",
  grouped: "#5a5f8c",
  grr: "#b5545c",
  hcms: "#a855f7",
  hr: "#6b4f3a",
  hrr: "#4fb3bf",
  idue: "#1f4e79",
  olh: "#e07b39",
  oue: "#3b6fb6",
  pgr: "#d4a017",
  rappor: "#be123c",
  rr: "#7a7a7a",
  ss: "#8a9a1f",
  sue: "#8d6cab",
  urappor: "#c9628e",
  urr: "#a3371f",
};
const STEP = 28; // from one bar to the next
const CAP = 4; // half the height of a whisker's end
const EDGE = { top: 8, right: 24, bottom: 44 };

/**
 * Whether a value is distinguishable from zero: an interval that reaches down to zero may be of one that nobody has.
 *
 * @param {Pick<EstimateRow, "low">} row
 */
export const isSure = ({ low }) => low > 0;

/**
 * Return the colour of an oracle: its own, or one by its name, as in the figures.
 *
 * @param {string} oracle
 */
function colourOf(oracle) {
  const hue = [...oracle].reduce((number, letter) => (number * 31 + Number(letter.codePointAt(0))) % 360, 0);
  return COLOURS[oracle] ?? `hsl(${hue} 45% 42%)`;
}

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
 * Return the scale of the counts: from zero, or from the lowest end of an interval, to the highest.
 *
 * @param {readonly EstimateRow[]} rows
 * @param {[number, number]} range
 */
function countScale(rows, range) {
  const low = Math.min(0, ...rows.map((row) => Math.min(row.low, row.count)));
  const high = Math.max(1, ...rows.map((row) => Math.max(row.high, row.count)));
  return scaleLinear([low, high], range).nice();
}

/**
 * Draw estimates as bars with whiskers: what may be zero is grey.
 *
 * @param {readonly EstimateRow[]} rows
 * @param {{ width: number, oracle: string, level: string }} options
 */
export function bars(rows, { width, oracle, level }) {
  const left = Math.min(220, Math.round(0.34 * width));
  const height = rows.length * STEP + EDGE.top + EDGE.bottom;
  const bottom = height - EDGE.bottom;
  const x = countScale(rows, [left, width - EDGE.right]);
  const places = scaleBand([...rows.keys()], [EDGE.top, bottom]).padding(0.28);
  const y = (/** @type {number} */ place) => places(place) ?? 0;
  const middle = (/** @type {number} */ place) => y(place) + places.bandwidth() / 2;
  const svg = canvas(width, height, barsText(rows, level));
  const ticks = Math.max(2, Math.floor(width / 130));
  grid(
    svg,
    axisBottom(x)
      .ticks(ticks)
      .tickFormat(numbers(x))
      .tickSize(EDGE.top - bottom),
    0,
    bottom,
  );
  svg
    .selectAll(".bar")
    .data(rows)
    .join("rect")
    .attr("class", (row) => (isSure(row) ? "bar" : "bar unsure"))
    .attr("fill", colourOf(oracle))
    .attr("x", (row) => Math.min(x(0), x(row.count)))
    .attr("width", (row) => Math.abs(x(row.count) - x(0)))
    .attr("y", (_, place) => y(place))
    .attr("height", places.bandwidth())
    .append("title")
    .text((row) => `${visible(row.label)}: ${count(row.count)}, ${interval(row.low, row.high)}`);
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
    .text(({ label }) => short(visible(label), Math.floor((left - 12) / 7)));
  caption(svg, width, height, "people, estimated");
  return drawing(svg);
}

/**
 * @param {number} low
 * @param {number} high
 * @param {number} y
 */
const whisker = (low, high, y) => `M${low} ${y - CAP}v${2 * CAP}M${low} ${y}H${high}M${high} ${y - CAP}v${2 * CAP}`;

/**
 * @param {readonly EstimateRow[]} rows
 * @param {string} level
 */
function barsText(rows, level) {
  const largest = rows
    .slice(0, 5)
    .map((row) => `${visible(row.label)} ${count(row.count)}, interval ${interval(row.low, row.high)}`);
  const grey = rows.filter((row) => !isSure(row)).length;
  return (
    `Bars of the ${rows.length} largest estimates with ${level} intervals. ${largest.join("; ")}. ` +
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
 * @param {{ width: number, oracle: string, label: string }} options
 */
export function days(rows, { width, oracle, label }) {
  const [height, left] = [200, 56];
  const bottom = height - EDGE.bottom;
  const names = rows.map(({ day }) => day);
  const x = scaleBand(names, [left, width - EDGE.right]).padding(0.15);
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
    .attr("fill", colourOf(oracle))
    .attr("x", ({ day }) => x(day) ?? 0)
    .attr("width", x.bandwidth())
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
 * @param {{ width: number, oracle: string, now: number, label: string }} options
 */
export function errors(points, { width, oracle, now, label }) {
  const [height, left] = [220, 64];
  const bottom = height - EDGE.bottom;
  const [first, last] = [points[0], points[points.length - 1]];
  const x = scaleLog([first.reports, last.reports], [left, width - EDGE.right]);
  const y = scaleLog([last.error, first.error], [bottom, EDGE.top]).nice();
  const svg = canvas(width, height, label);
  const percents = axisLeft(y)
    .tickValues(steps(y, 4))
    .tickFormat((share) => `${format(".2~g")(100 * Number(share))} %`)
    .tickSize(left - width + EDGE.right);
  grid(svg, percents, left, 0);
  const counts = axisBottom(x)
    .tickValues(steps(x, width / 90))
    .tickFormat(format("~s"))
    .tickSize(0)
    .tickPadding(8);
  grid(svg, counts, 0, bottom);
  const curve = line()(points.map(({ reports, error }) => [x(reports), y(error)]));
  svg.append("path").attr("class", "curve").attr("stroke", colourOf(oracle)).attr("d", curve);
  svg
    .selectAll(".point")
    .data(points.filter(({ reports }) => reports >= now))
    .join("circle")
    .attr("class", ({ reports }) => (reports === now ? "point now" : "point"))
    .attr("stroke", colourOf(oracle))
    .attr("cx", ({ reports }) => x(reports))
    .attr("cy", ({ error }) => y(error))
    .attr("r", 4.5);
  caption(svg, width, height, "reports");
  return drawing(svg);
}

/** @typedef {(width: number) => SVGSVGElement} Draw */

/** Keep a chart in a box as wide as the box is, also when the window changes. */
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
