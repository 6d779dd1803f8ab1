// How the shares of a metric moved: for each value a strip of points with their intervals, one for each period.
import { drawn } from "../shared/dom.js";
import { interval, percentFixed, short, visible } from "../shared/format.js";

/** @typedef {{ share: number, low: number, high: number }} Point */
/** @typedef {{ label: string, points: readonly (Point | null)[] }} Strip */

const HEIGHT = 44;
const FOOT = 24;
const CAP = 3;

/**
 * Draw strips under each other, all on one scale.
 *
 * @param {readonly Strip[]} strips
 * @param {readonly string[]} periods
 * @param {number} width
 */
export function trend(strips, periods, width) {
  const left = Math.min(200, Math.round(0.34 * width));
  const step = (width - left - 16) / periods.length;
  const every = strips.flatMap(({ points }) => points.filter((point) => point !== null));
  const top = Math.max(0.01, ...every.map(({ high }) => high));
  const low = Math.min(0, ...every.map((point) => point.low));
  const middle = (/** @type {number} */ place) => left + (place + 0.5) * step;
  const height = strips.length * HEIGHT + FOOT;
  const rows = strips.map((strip, row) => {
    const y = (/** @type {number} */ share) => (row + 1) * HEIGHT - 6 - ((share - low) / (top - low)) * (HEIGHT - 12);
    return [nameOf(strip, left, y(0)), zeroOf(left, width - 16, y(0)), ...strip.points.map(markOf(middle, y))];
  });
  const names = namesOf(periods, middle, step, height);
  const viewBox = `0 0 ${width} ${height}`;
  const label = textOf(strips, periods);
  return drawn("svg", { class: "chart", width, height, viewBox, role: "img", "aria-label": label }, ...rows, names);
}

/**
 * @param {Strip} strip
 * @param {number} left
 * @param {number} y
 */
const nameOf = ({ label }, left, y) =>
  drawn("text", { class: "name", x: left - 8, y, "text-anchor": "end" }, short(visible(label), Math.floor(left / 7.5)));

/**
 * @param {number} left
 * @param {number} right
 * @param {number} y
 */
const zeroOf = (left, right, y) => drawn("path", { class: "zero", d: `M${left} ${y}H${right}` });

/**
 * Make the mark of one period: a point, and its interval.
 *
 * @param {(place: number) => number} middle
 * @param {(share: number) => number} y
 * @returns {(point: Point | null, place: number) => SVGElement | null}
 */
const markOf = (middle, y) => (point, place) => {
  if (point === null) return null;
  const [x, low, high] = [middle(place), y(point.low), y(point.high)];
  const d = `M${x - CAP} ${low}h${2 * CAP}M${x} ${low}V${high}M${x - CAP} ${high}h${2 * CAP}`;
  const title = drawn("title", {}, `${percentFixed(point.share)}, ${interval(point.low, point.high, percentFixed)}`);
  const dot = drawn("circle", { class: "bar", cx: x, cy: y(point.share), r: 3.5 });
  return drawn("g", {}, title, drawn("path", { class: "whisker", d }), dot);
};

/**
 * @param {readonly string[]} periods
 * @param {(place: number) => number} middle
 * @param {number} step
 * @param {number} height
 */
function namesOf(periods, middle, step, height) {
  const every = Math.ceil(64 / step);
  return periods.map((period, place) =>
    place % every
      ? null
      : drawn("text", { class: "caption", x: middle(place), y: height - 6, "text-anchor": "middle" }, period),
  );
}

/**
 * @param {readonly Strip[]} strips
 * @param {readonly string[]} periods
 */
function textOf(strips, periods) {
  const last = strips.map(({ label, points }) => {
    const point = points.at(-1);
    return point ? `${visible(label)} ${percentFixed(point.share)}` : `${visible(label)} not shown`;
  });
  return `Shares of ${strips.length} values in ${periods.length} periods with intervals. In ${periods.at(-1)}: ${last.join("; ")}. All are in the table below.`;
}
