// What more reports would bring. The variance of a share is as one over their number, for every oracle here.
import { element, panel } from "../shared/dom.js";
import { count, percent } from "../shared/format.js";
import { errors, framed } from "./chart.js";
import { levelText } from "./controls.js";
import { lineOf, tableOf } from "./over_time.js";

/** @import { Estimates } from "../shared/replies.d.ts" */

const TIMES = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];

/**
 * Return half the length of the interval of a share, of the value in the middle.
 *
 * @param {Estimates} estimates
 */
function reachOf({ rows, n }) {
  const reaches = rows.map(({ low, high }) => (high - low) / 2 / n).sort((a, b) => a - b);
  return reaches[Math.floor(reaches.length / 2)];
}

/** Make the part about the error to expect. */
export function moreReports() {
  const chart = framed();
  const summary = element("p");
  const body = element("tbody");
  const table = tableOf("As a table", ["Reports", "Error of a share, plus or minus"], body, "Error against reports");
  const note = element(
    "p",
    { class: "small" },
    "Half the interval of the value in the middle; an estimated share below it is not distinguishable from zero. It falls roughly with the square root of the number of reports.",
  );
  const node = panel("With more reports", summary, chart.box, note, table);

  /** @param {Estimates | null} estimates */
  function put(estimates) {
    node.hidden = estimates === null;
    if (estimates === null) return;
    const [now, reach] = [estimates.n, reachOf(estimates)];
    const points = TIMES.map((times) => ({ reports: now * times, error: reach / Math.sqrt(times) }));
    const text =
      `A share is known to plus or minus ${percent(reach)} at ${levelText(estimates.level)}, ` +
      `from ${count(now)} reports. At 10 times the reports it would be ${percent(reach / Math.sqrt(10))}.`;
    const label = `A falling line: error against reports. ${text}`;
    summary.textContent = text;
    chart.put((width) => errors(points, { width, now, label }));
    body.replaceChildren(
      ...points
        .filter(({ reports }) => reports >= now)
        .map(({ reports, error }) => lineOf([count(reports), percent(error)])),
    );
  }
  put(null);
  return { node, put };
}
