// What more reports would bring. The variance of a share is as one over their number, for every oracle here.

import { element } from "../shared/dom.js";
import { count, percent } from "../shared/format.js";
import { errors, framed } from "./chart.js";
import { levelWords } from "./controls.js";
import { lineOf, tableOf } from "./over_time.js";

const TIMES = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];

/** Return half the length of the interval of a share, of the value in the middle. */
function reachOf({ rows, n }) {
  const reaches = rows.map(({ low, high }) => (high - low) / 2 / n).sort((a, b) => a - b);
  return reaches[Math.floor(reaches.length / 2)];
}

/** Make the part about the error to expect. */
export function moreReports(survey) {
  const chart = framed();
  const said = element("p");
  const body = element("tbody");
  const table = tableOf("As a table", ["Reports", "Error of a share, plus or minus"], body, "Error against reports");
  const note = element(
    "p",
    { class: "small" },
    "Half the interval of the value in the middle; an estimated share below it is not distinguishable from zero. It falls with the square root of the number of reports.",
  );
  const node = element(
    "section",
    { class: "panel" },
    element("h2", {}, "With more reports"),
    said,
    chart.box,
    note,
    table,
  );

  function put(found) {
    node.hidden = found === null;
    if (found === null) return;
    const [now, reach] = [found.n, reachOf(found)];
    const points = TIMES.map((times) => ({ reports: now * times, error: reach / Math.sqrt(times) }));
    const words = `A share is known to plus or minus ${percent(reach)} at ${levelWords(found.level)}, from ${count(now)} reports. At 10 times the reports it would be ${percent(reach / Math.sqrt(10))}.`;
    said.textContent = words;
    chart.put((width) =>
      errors(points, {
        width,
        oracle: survey.oracle.description.name,
        now,
        words: `A falling line: error against reports. ${words}`,
      }),
    );
    body.replaceChildren(
      ...points
        .filter(({ reports }) => reports >= now)
        .map(({ reports, error }) => lineOf([count(reports), percent(error)])),
    );
  }
  put(null);
  return { node, put };
}
