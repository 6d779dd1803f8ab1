// Many installs in one process: `EXPORTED METRIC SHARES MONTHS` lets each record a label, month after month, and send for real.
// It says how many reports of which label there must be, and all ledgers.
import { memoryStore } from "../../src/fldp/collector/static/fldp.js";
import { setup } from "../../src/fldp/collector/static/fldp_telemetry.js";

const [exported, name, labels, months] = process.argv
  .slice(2)
  .map((text, place) => (place === 1 ? text : JSON.parse(text)));
let now = 0;
globalThis.Date = class extends Date {
  constructor(...given) {
    super(...(given.length ? given : [now]));
  }
  static now() {
    return now;
  }
};

const installs = labels.map((label) => ({ label, places: { state: memoryStore(), ledger: memoryStore() } }));

async function run({ label, places }, records) {
  const telemetry = await setup(exported, { places });
  await telemetry.flush(600);
  if (records && label !== "unset") telemetry.record(name, label);
  await telemetry.end();
}

for (const month of months) {
  for (const [day, records] of [
    ["05", true],
    ["20", false],
  ]) {
    now = Date.parse(`${month}-${day}`);
    for (const install of installs) await run(install, records);
  }
}
const stored = await Promise.all(
  installs.map(async ({ label, places }) => ({
    label,
    reports: JSON.parse(await places.state.read()).reports,
    charges: JSON.parse(await places.ledger.read()).answers,
  })),
);
console.log(JSON.stringify(stored));
