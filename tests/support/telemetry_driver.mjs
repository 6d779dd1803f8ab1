// Telemetry in JavaScript, driven line by line: stores in memory, a clock and a network that do what they are told.

import { createInterface } from "node:readline";
import { memoryStore } from "../../src/fldp/collector/static/fldp.js";
import { setup } from "../../src/fldp/collector/static/fldp_telemetry.js";

let now = 0;
globalThis.Date = class extends Date {
  constructor(...parts) {
    super(...(parts.length ? parts : [now]));
  }
  static now() {
    return now;
  }
};

let answer = 0;
let asked = [];
globalThis.fetch = async (url, { method, headers, body }) => {
  asked.push({ url, method, key: headers["Idempotency-Key"], body: Buffer.from(body).toString("hex") });
  if (!answer) throw new TypeError("nobody is there");
  return new Response('{"accepted": 1, "withdrawn": 1}', { status: answer });
};

let places = { state: memoryStore(), ledger: memoryStore() };

const numbers = { Infinity, "-Infinity": -Infinity, NaN };
const revive = (_, value) => (value?.number ? numbers[value.number] : value);

async function stored(telemetry) {
  const [state, ledger] = [await places.state.read(), await places.ledger.read()].map((text) => JSON.parse(text));
  const view = await telemetry.view();
  return { state, ledger, view, text: await telemetry.text(), asked, trouble: telemetry.trouble, mode: telemetry.mode };
}

const actions = {
  clear: async () => {
    places = { state: memoryStore(), ledger: memoryStore() };
  },
  lose: async () => {
    places.state = memoryStore();
  },
  run: async ({ metrics, status, choose, records = [] }) => {
    [answer, asked] = [status, []];
    const telemetry = await setup(metrics, { places });
    await telemetry.flush(600);
    if (choose) await telemetry.choose(choose);
    for (const [name, value] of records) telemetry.record(name, value);
    await telemetry.flush(600);
    await telemetry.end();
    return stored(telemetry);
  },
  call: async ({ metrics, status, name }) => {
    [answer, asked] = [status, []];
    const telemetry = await setup(metrics, { places });
    await telemetry[name]();
    await telemetry.end();
    return stored(telemetry);
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { action, time, ...rest } = JSON.parse(line, revive);
  now = Date.parse(time);
  console.log(JSON.stringify((await actions[action](rest)) ?? null));
}
