// A number: its mean and quartiles with their intervals, its histogram, and its CDF in a band.
import { element } from "../shared/dom.js";
import { percentFixed, threeDigits } from "../shared/format.js";
import { cdf, framed, histogram } from "./chart.js";
import { levelText } from "./controls.js";

/** @import { NumberFigures, NumberValue } from "../shared/replies.d.ts" */

const NAMES = new Map([
  [0.25, "First quartile"],
  [0.5, "Median"],
  [0.75, "Third quartile"],
]);

/** What the intervals of a number hold for, where they hold at every look. */
export const NUMBER_LOOKS =
  "Every interval is for its figure alone, the band for all edges at once, and all of them hold whenever you look.";

/**
 * Write a figure with its unit.
 *
 * @param {number} value
 * @param {string | null} unit
 */
export const measured = (value, unit) => (unit ? `${threeDigits(value)} ${unit}` : threeDigits(value));

/**
 * @param {NumberValue} value
 * @param {string} name
 */
function line({ value, low, high, unit }, name) {
  const cells = [measured(value, unit), `${threeDigits(low)} to ${measured(high, unit)}`];
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, name),
    cells.map((text) => element("td", { class: "number" }, text)),
  );
}

/**
 * Make the part with the figures of a number. `put` gives it new ones.
 *
 * @param {string} name
 */
export function numberPart(name) {
  const body = element("tbody");
  const head = element("tr");
  const table = element("table", {}, element("thead", {}, head), body);
  const cells = framed();
  const steps = framed();
  const shares = element("div", {}, element("h3", {}, "Histogram"), cells.box);
  const below = element("div", {}, element("h3", {}, "Share of people up to a number"), steps.box);
  const notes = element("div", { class: "small" });
  const region = { class: "scroll", tabindex: "0", role: "region", "aria-label": `Figures of ${name}` };
  const node = element("div", { hidden: true }, element("div", region, table), shares, below, notes);

  /**
   * @param {NumberFigures} number
   * @param {number} level
   */
  function put(number, level) {
    const { mean, quantiles = [], unit } = number;
    const titles = ["Figure", "Estimate", `${levelText(level)} interval`];
    head.replaceChildren(
      ...titles.map((text, place) => element("th", { scope: "col", class: place ? "number" : null }, text)),
    );
    const named = quantiles.map((value) => line(value, NAMES.get(value.q ?? 0) ?? value.what));
    body.replaceChildren(line(mean, "Mean"), ...named);
    for (const part of [shares, below]) part.hidden = !number.cells;
    if (number.cells) {
      const parts = { cells: number.cells, steps: number.cdf ?? [] };
      cells.put((width) => histogram(parts.cells, { width, unit, level: levelText(level) }));
      steps.put((width) => cdf(parts.steps, { width, unit, level: levelText(level) }));
    }
    notes.replaceChildren(...noteLines(number).map((text) => element("p", {}, text)));
    node.hidden = false;
  }
  return { node, put };
}

/** @param {NumberFigures} number */
function noteLines({ mean, quantiles, cells }) {
  const told = mean.note ? [`The mean is ${mean.note}.`] : [];
  if (quantiles)
    told.push("The intervals of quartiles end at edges of cells: they hold wherever in their cells the numbers lie.");
  if (cells) {
    const most = Math.max(...cells.map(({ stderr }) => stderr));
    told.push(
      `Neighbouring cells have errors of opposite signs: a single share has a standard error of up to ${percentFixed(most)}, and ranges of many cells are known better.`,
      "The band around the share up to a number holds for all edges at once.",
    );
  }
  return told;
}
