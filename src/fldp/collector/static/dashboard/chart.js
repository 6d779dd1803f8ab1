// Charts: drawn as SVG by D3, coloured by the style sheet, each with words for those who do not see it.

import { drawn } from "../shared/dom.js";
import { count, interval, short, visible } from "../shared/format.js";
import { axisBottom, axisLeft, format, line, scaleBand, scaleLinear, scaleLog, select } from "../vendor/d3.js";

/** One colour for each oracle, as in the figures of the reproduction. */
export const COLOURS = {
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

/** An estimate whose interval reaches down to zero may be of a value that nobody has. */
export const isSure = ({ low }) => low > 0;

function canvas(width, height, words) {
  return select(
    drawn("svg", {
      class: "chart",
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": words,
    }),
  );
}

/** Return how the numbers of a scale are written: long ones with k or M. */
const numbers = (scale) => format(scale.domain()[1] < 10_000 ? "," : "~s");

function caption(svg, x, y, words) {
  svg.append("text").attr("class", "caption").attr("x", x).attr("y", y).attr("text-anchor", "end").text(words);
}

/** Draw estimates as bars with whiskers: what may be zero is grey. */
export function bars(rows, { width, oracle, level }) {
  const left = Math.min(220, Math.round(0.34 * width));
  const height = rows.length * STEP + EDGE.top + EDGE.bottom;
  const x = scaleLinear(
    [
      Math.min(0, ...rows.map((row) => Math.min(row.low, row.count))),
      Math.max(1, ...rows.map((row) => Math.max(row.high, row.count))),
    ],
    [left, width - EDGE.right],
  ).nice();
  const y = scaleBand(
    rows.map((_, place) => place),
    [EDGE.top, height - EDGE.bottom],
  ).padding(0.28);
  const svg = canvas(width, height, barWords(rows, level));
  grid(
    svg,
    axisBottom(x)
      .ticks(Math.max(2, Math.floor(width / 130)))
      .tickFormat(numbers(x))
      .tickSize(-(height - EDGE.top - EDGE.bottom)),
    0,
    height - EDGE.bottom,
  );
  svg
    .selectAll(".bar")
    .data(rows)
    .join("rect")
    .attr("class", (row) => (isSure(row) ? "bar" : "bar unsure"))
    .attr("fill", COLOURS[oracle] ?? COLOURS.rr)
    .attr("x", (row) => Math.min(x(0), x(row.count)))
    .attr("width", (row) => Math.abs(x(row.count) - x(0)))
    .attr("y", (_, place) => y(place))
    .attr("height", y.bandwidth())
    .append("title")
    .text(({ label, count: found, low, high }) => `${visible(label)}: ${count(found)}, ${interval(low, high)}`);
  svg
    .selectAll(".whisker")
    .data(rows)
    .join("path")
    .attr("class", "whisker")
    .attr("d", ({ low, high }, place) => whisker(x(low), x(high), y(place) + y.bandwidth() / 2));
  svg
    .append("path")
    .attr("class", "zero")
    .attr("d", `M${x(0)} ${EDGE.top}V${height - EDGE.bottom}`);
  svg
    .selectAll(".name")
    .data(rows)
    .join("text")
    .attr("class", (row) => (isSure(row) ? "name" : "name unsure"))
    .attr("x", left - 8)
    .attr("y", (_, place) => y(place) + y.bandwidth() / 2)
    .attr("dy", "0.35em")
    .attr("text-anchor", "end")
    .text(({ label }) => short(visible(label), Math.floor((left - 12) / 7)));
  caption(svg, width - EDGE.right, height - 6, "people, estimated");
  return svg.node();
}

const whisker = (low, high, y) => `M${low} ${y - CAP}v${2 * CAP}M${low} ${y}H${high}M${high} ${y - CAP}v${2 * CAP}`;

function barWords(rows, level) {
  const said = rows
    .slice(0, 5)
    .map(({ label, count: found, low, high }) => `${visible(label)} ${count(found)}, interval ${interval(low, high)}`);
  const grey = rows.filter((row) => !isSure(row)).length;
  return `Bars of the ${rows.length} largest estimates with ${level} intervals. ${said.join("; ")}. ${grey} of them may be zero and are grey. All are in the table of values.`;
}

function grid(svg, axis, x, y) {
  svg
    .append("g")
    .attr("class", "axis")
    .attr("transform", `translate(${x},${y})`)
    .call(axis)
    .call((g) => g.select(".domain").remove());
}

/** Draw the reports of each day; days of which no number is shown are grey marks at the bottom. */
export function days(rows, { width, oracle, words }) {
  const [height, left] = [200, 56];
  const x = scaleBand(
    rows.map(({ day }) => day),
    [left, width - EDGE.right],
  ).padding(0.15);
  const y = scaleLinear([0, Math.max(1, ...rows.map(({ n }) => n ?? 0))], [height - EDGE.bottom, EDGE.top]).nice();
  const svg = canvas(width, height, words);
  grid(
    svg,
    axisLeft(y)
      .ticks(4)
      .tickFormat(numbers(y))
      .tickSize(-(width - EDGE.right - left)),
    left,
    0,
  );
  const every = Math.ceil(rows.length / Math.max(1, Math.floor((width - left) / 90)));
  grid(
    svg,
    axisBottom(x)
      .tickValues(rows.map(({ day }) => day).filter((_, place) => place % every === 0))
      .tickSize(0)
      .tickPadding(8),
    0,
    height - EDGE.bottom,
  );
  svg
    .selectAll(".bar")
    .data(rows)
    .join("rect")
    .attr("class", ({ n }) => (n === null ? "bar unsure" : "bar"))
    .attr("fill", COLOURS[oracle] ?? COLOURS.rr)
    .attr("x", ({ day }) => x(day))
    .attr("width", x.bandwidth())
    .attr("y", ({ n }) => (n === null ? y(0) - 3 : y(n)))
    .attr("height", ({ n }) => (n === null ? 3 : y(0) - y(n)));
  caption(svg, width - EDGE.right, height - 6, "UTC day");
  return svg.node();
}

/** Return places for at most so many numbers on a logarithmic scale: powers of ten, with 2 and 5 of each if there is room. */
function steps(scale, most) {
  const [low, high] = scale.domain();
  const [first, last] = [low, high].map((end) => Math.floor(Math.log10(end)));
  const powers = Array.from({ length: last - first + 1 }, (_, place) => first + place);
  const values = (digits) => powers.flatMap((power) => digits.map((digit) => Number(`${digit}e${power}`)));
  const found = values([1, 2, 5]).filter((value) => value >= low && value <= high);
  return found.length <= 2 * most ? found : values([1]).filter((value) => value >= low && value <= high);
}

/** Draw how the error falls with the number of reports: now, and what is to be expected. */
export function errors(points, { width, oracle, now, words }) {
  const [height, left] = [220, 64];
  const x = scaleLog([points[0].reports, points.at(-1).reports], [left, width - EDGE.right]);
  const y = scaleLog([points.at(-1).error, points[0].error], [height - EDGE.bottom, EDGE.top]).nice();
  const svg = canvas(width, height, words);
  grid(
    svg,
    axisLeft(y)
      .tickValues(steps(y, 4))
      .tickFormat((share) => `${format(".2~g")(100 * share)} %`)
      .tickSize(-(width - EDGE.right - left)),
    left,
    0,
  );
  grid(
    svg,
    axisBottom(x)
      .tickValues(steps(x, width / 90))
      .tickFormat(format("~s"))
      .tickSize(0)
      .tickPadding(8),
    0,
    height - EDGE.bottom,
  );
  const path = line(
    ({ reports }) => x(reports),
    ({ error }) => y(error),
  );
  svg
    .append("path")
    .attr("class", "curve")
    .attr("stroke", COLOURS[oracle] ?? COLOURS.rr)
    .attr("d", path(points));
  svg
    .selectAll(".point")
    .data(points.filter(({ reports }) => reports >= now))
    .join("circle")
    .attr("class", ({ reports }) => (reports === now ? "point now" : "point"))
    .attr("stroke", COLOURS[oracle] ?? COLOURS.rr)
    .attr("cx", ({ reports }) => x(reports))
    .attr("cy", ({ error }) => y(error))
    .attr("r", 4.5);
  caption(svg, width - EDGE.right, height - 6, "reports");
  return svg.node();
}

/** Keep a chart in a box as wide as the box is, also when the window changes. */
export function framed() {
  const box = drawnBox();
  let draw = null;
  let width = 0;
  new ResizeObserver(() => {
    if (draw && box.clientWidth && box.clientWidth !== width) put(draw);
  }).observe(box);

  function put(made) {
    draw = made;
    width = box.clientWidth || 320;
    box.replaceChildren(made(width));
  }
  return { box, put };
}

function drawnBox() {
  const box = document.createElement("div");
  box.className = "frame";
  return box;
}
