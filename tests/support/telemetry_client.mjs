// A telemetry client to audit: `MODE EXPORTED METRIC LABEL COUNT` writes the reports of so many installs as one batch. Each is
// what a whole install would send: it records, its period ends, the lot draws its only metric. MODE is honest, or loud: it
// draws until the report names the value.
import { decode, encode, every, memoryStore, SS } from "../../src/fldp/collector/static/fldp.js";
import { setup } from "../../src/fldp/collector/static/fldp_telemetry.js";

const [mode, text, name, label, count] = process.argv.slice(2);
const metrics = JSON.parse(text);
const { kind, edges } = metrics.metric[name];
const { labels } = metrics.surveys[name];
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
function recorded() {
  if (kind === "flag") return label === "yes";
  const place = labels.indexOf(label);
  return edges ? (place ? edges[place - 1] : edges[0] - 1) : label;
}

if (mode === "loud") {
  const { draw } = SS.prototype;
  SS.prototype.draw = function (value, ...rest) {
    for (;;) {
      const report = draw.call(this, value, ...rest);
      if (report.includes(value)) return report;
    }
  };
}

async function lived() {
  const places = { state: memoryStore(), ledger: memoryStore() };
  for (const day of ["2026-01-10", "2026-02-10"]) {
    now = Date.parse(day);
    const telemetry = await setup(metrics, { places });
    await telemetry.flush(600);
    if (label !== "unset") telemetry.record(name, recorded());
    await telemetry.end();
  }
  return Uint8Array.from(Buffer.from(JSON.parse(await places.state.read()).reports[0].body, "hex"));
}

const batches = [];
for (let number = 0; number < Number(count); number++) batches.push(await decode(await lived(), every));
const [{ oracle, survey }] = batches;
process.stdout.write(
  await encode(
    oracle,
    batches.flatMap(({ reports }) => reports),
    survey,
  ),
);
