// Many installs in one process: `EXPORTED MONTHS`, and on the standard input what each records every month, a label by metric.
// They send for real. It says what each has stored.
import { readFileSync } from "node:fs";
import { memoryStore } from "../../src/fldp/collector/static/fldp.js";
import { setup } from "../../src/fldp/collector/static/fldp_telemetry.js";

const [exported, months] = process.argv.slice(2).map((text) => JSON.parse(text));
let now = 0;
globalThis.Date = class extends Date {
  constructor(...parts) {
    super(...(parts.length ? parts : [now]));
  }
  static now() {
    return now;
  }
};

/** Return a value that a program would record for a label. */
function recorded(name, label) {
  const { kind, edges } = exported.metric[name];
  if (kind === "flag") return label === "yes";
  const place = exported.surveys[name].labels.indexOf(label);
  return edges ? (place ? edges[place - 1] : edges[0] - 1) : label;
}

async function run({ labels, places }, records) {
  const telemetry = await setup(exported, { places });
  await telemetry.flush(600);
  for (const [name, label] of records ? Object.entries(labels) : [])
    if (label !== "unset") telemetry.record(name, recorded(name, label));
  await telemetry.end();
}

const AT_ONCE = 8;
const installs = JSON.parse(readFileSync(0, "utf8")).map((labels) => ({
  labels,
  places: { state: memoryStore(), ledger: memoryStore() },
}));
// A report is sent at the first start after its time: at the next one, and that of the last month in the end.
for (const [day, records] of [...months.map((month) => [`${month}-05`, true]), [`${months.at(-1)}-20`, false]]) {
  now = Date.parse(day);
  for (let first = 0; first < installs.length; first += AT_ONCE)
    await Promise.all(installs.slice(first, first + AT_ONCE).map((install) => run(install, records)));
}
const stored = installs.map(async ({ places: { state, ledger } }) => ({
  reports: JSON.parse(await state.read()).reports.map(({ metric, state }) => ({ metric, state })),
  charges: JSON.parse(await ledger.read()).answers.map(({ epsilon, epoch }) => ({ epsilon, epoch })),
}));
console.log(JSON.stringify(await Promise.all(stored)));
