// A program with telemetry, in Node: `DAY METRIC VALUE CHANGES` records a value; `view`, `choose`, `ends` and `look` in the
// place of a metric show everything, choose a mode, end at once while something is on its way, or show what was just recorded.
import { readFileSync } from "node:fs";
import { setup } from "../dist/telemetry_node.js";

const [day, what, value, changes = "{}"] = process.argv.slice(2);
const start = performance.now();
const now = () => Math.floor(Date.parse(day) + performance.now() - start);
const RealDate = Date;
globalThis.Date = class extends RealDate {
  constructor(...given) {
    super(...(given.length ? given : [now()]));
  }
  static now() {
    return now();
  }
};

const exported = JSON.parse(readFileSync(new URL("metrics.json", import.meta.url), "utf8"));
const metrics = { ...exported, default: "local", ...JSON.parse(changes) };
const name = "startup"; // the only one, which every lot draws
const telemetry = await setup({ ...metrics, metric: { [name]: metrics.metric[name] } });
if (what === "ends") {
  telemetry.record(name, 250);
} else if (what === "look") {
  telemetry.record(name, Number(value));
  console.log(JSON.stringify(await telemetry.view()));
} else if (what === "view") {
  await telemetry.flush(600);
  console.log(JSON.stringify(await telemetry.view()));
} else if (what === "choose") {
  await telemetry.choose(value);
  await telemetry.flush(600);
  console.log(JSON.stringify({ mode: telemetry.mode, reason: telemetry.reason }));
} else {
  telemetry.record(what, Number(value));
  await telemetry.flush(600);
  console.log(JSON.stringify({ mode: telemetry.mode, reason: telemetry.reason }));
}
