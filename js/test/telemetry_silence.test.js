// What a collector sees of a program: nothing of it depends on what was recorded, how often, or whether anything was.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { memoryStore } from "../dist/index.js";
import { setup } from "../dist/telemetry.js";

const METRICS = JSON.parse(readFileSync(new URL("metrics.json", import.meta.url), "utf8"));
const MONTHS = ["2026-01-10", "2026-02-10", "2026-03-10", "2026-04-10"];
const EXTREME = [Infinity, -Infinity, Number.NaN, 1e308, -1e308, 5e-324, 10n ** 400n, 0, true];
const VALUES = {
  theme: ["light", "dark", "system", "unset", "", "x".repeat(5000), "\ud800"],
  sync: [true, false, 1, "yes", null],
  startup: [0.5, 250, 1e9, ...EXTREME],
};

function at(t, day) {
  t.mock.timers.reset();
  t.mock.timers.enable({ apis: ["Date"], now: Date.parse(day) });
}

/** Let a program live for some months, in each with other values if there are several lists of them. */
async function seen(t, name, ...recorded) {
  const [requests, places] = [[], { state: memoryStore(), ledger: memoryStore() }];
  const metrics = { ...METRICS, metric: { [name]: METRICS.metric[name] } };
  let day = "";
  t.mock.method(globalThis, "fetch", async (url, { body, headers, ...more }) => {
    const sizes = Object.entries(headers).map(([header, text]) => [header, text.length]);
    requests.push([day, url, sizes, body.length, { ...more, signal: null }]);
    return new Response('{"accepted": 1}');
  });
  for (const [number, month] of MONTHS.entries()) {
    for (day of [month, `${month.slice(0, 8)}14`]) {
      at(t, day); // on the second one every report of the month before is due
      const telemetry = await setup(metrics, { places });
      await telemetry.flush(600);
      const values = day === month ? recorded[number % recorded.length] : [];
      for (const value of values) telemetry.record(name, value);
      await telemetry.end();
    }
  }
  const { reports } = JSON.parse(await places.state.read());
  return [requests, reports.map(({ period, metric, state, body }) => [period, metric, state, body.length])];
}

for (const [name, values] of Object.entries(VALUES)) {
  test(`no value can be told by requests: ${name}`, async (t) => {
    const nothing = await seen(t, name, []);
    assert.deepEqual(
      nothing.map(({ length }) => length),
      [3, 3],
    );
    for (const value of values) assert.deepEqual(await seen(t, name, [value]), nothing);
    assert.deepEqual(await seen(t, name, Array(50).fill(values).flat()), nothing);
    assert.deepEqual(await seen(t, name, [values[0]], [values[1]], []), nothing);
  });
}

test("a program that is killed while a report is on its way has run, whatever it recorded", async (t) => {
  const places = { state: memoryStore(), ledger: memoryStore() };
  for (const day of MONTHS.slice(0, 2)) {
    at(t, day);
    t.mock.method(globalThis, "fetch", async () => new Response("", { status: 503 }));
    const telemetry = await setup(METRICS, { places });
    await telemetry.flush(600);
    await telemetry.end();
  }
  at(t, MONTHS[2]);
  await new Promise((resolve, reject) => {
    t.mock.method(globalThis, "fetch", () => {
      resolve();
      return new Promise(() => undefined); // nobody answers, and the program is killed
    });
    setup(METRICS, { places }).catch(reject);
  });
  const { periods } = JSON.parse(await places.state.read());
  assert.deepEqual(
    periods.map(({ period }) => period),
    MONTHS.slice(0, 3).map((day) => day.slice(0, 7)),
  );
});
