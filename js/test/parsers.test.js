// Whatever comes from outside is read, or refused with one of our errors: no parser fails in a way of its own.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { addressOf, decode, every, FldpError, load, memoryStore, number, participant, Survey } from "../dist/index.js";
import { replyOf } from "../dist/oblivious/bhttp.js";
import { keyOf } from "../dist/oblivious/ohttp.js";
import { through } from "../dist/oblivious.js";
import { obtainPass } from "../dist/passes.js";
import { setup } from "../dist/telemetry.js";
import { specification } from "./collector.js";

const [COLLECTOR, RUNS] = ["https://collector.example", 400];
const read = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
const [relayed, passes] = ["oblivious", "passes"].map((room) => read(`../../tests/${room}/vectors.json`));
const metrics = read("metrics.json");
const bytes = (digits) => Uint8Array.from(Buffer.from(digits, "hex"));

/** Numbers from a seed, below a bound (mulberry32), so that a failure can be repeated. */
function chance(seed) {
  let state = seed;
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
}

const ODD = [
  ..."[]{}\"',:0-",
  "null",
  "true",
  "1e999",
  "9".repeat(400),
  "[".repeat(200),
  "é",
  "\u{1f600}",
  "\\ud800",
  "",
];
const VALUES = [null, true, 0, -1, 0.5, 1e300, "", "x", "é", "\ud800", [], {}, [null], [[]], { a: 1 }, "9".repeat(400)];

/** Return a text in which up to three places are cut out and have something odd instead. */
function changedText(text, below) {
  let changed = text;
  for (let edits = below(4); edits > 0; edits--) {
    const place = below(changed.length + 1);
    changed = changed.slice(0, place) + ODD[below(ODD.length)] + changed.slice(place + [0, 1, 2, 10][below(4)]);
  }
  return changed;
}

/** Return bytes of which up to three are others, and which may be cut. */
function changedBytes(data, below) {
  const changed = data.slice(0, below(4) ? data.length : below(data.length));
  for (let edits = below(4); changed.length && edits > 0; edits--) changed[below(changed.length)] = below(256);
  return changed;
}

/** Return JSON with something odd at one of its places. */
function changedJson(value, below) {
  if (typeof value !== "object" || value === null || below(4) === 0) return VALUES[below(VALUES.length)];
  const names = Object.keys(value);
  const copy = Array.isArray(value) ? [...value] : { ...value };
  if (!names.length || below(8) === 0) return Array.isArray(copy) ? [...copy, VALUES[below(8)]] : { ...copy, odd: 1 };
  const name = names[below(names.length)];
  copy[name] = changedJson(copy[name], below);
  return copy;
}

/** Run a parser on an example, and on what becomes of it; it may refuse that, with an error of ours of one line. */
async function refusedOrRead(parse, example, change) {
  await parse(example);
  for (let seed = 1; seed <= RUNS; seed++) {
    try {
      await parse(change(example, chance(seed)));
    } catch (error) {
      assert.ok(error instanceof FldpError, `seed ${seed}: ${error.stack}`);
      assert.doesNotMatch(error.message, /\n/, `seed ${seed}`);
    }
  }
}

async function stored(text) {
  const store = memoryStore();
  await store.replace(null, text);
  return store;
}

const surveyOf = (changes) => Survey.of(specification(changes), COLLECTOR, every);

/** Answer requests by a text in the network's place. */
async function answered(t, text, ask) {
  const fetch = t.mock.method(globalThis, "fetch", async () => new Response(text));
  try {
    return await ask();
  } finally {
    fetch.mock.restore();
  }
}

for (const name of ["grr", "olh", "fwr", "rappor", "ss"])
  test(`a batch of ${name}`, async () => {
    const open = name === "rappor" ? { domain: "strings", labels: undefined } : {};
    const oracle = { name, epsilon: 1, ...(name === "rappor" ? { epsilon_permanent: 2 } : {}) };
    const { batch } = await participant(await surveyOf({ oracle, ...open }), { store: memoryStore() }).prepare(
      "firefox",
    );
    assert.equal((await decode(batch, every)).reports.length, 1);
    await refusedOrRead((data) => decode(data, every), batch, changedBytes);
  });

for (const [what, changes] of Object.entries({
  labels: {},
  number: { labels: undefined, number: { low: 0, high: 10, bins: 5 }, oracle: { name: "wave", epsilon: 1, width: 2 } },
  strings: { labels: undefined, domain: "strings", oracle: { name: "hcms", epsilon: 1 } },
  rules: { collect: { submit: "ticket", opens: "2026-11-01T00:00:00Z" }, title: "Browsers" },
}))
  test(`a survey of ${what}`, async () => {
    await refusedOrRead(
      (fields) => Survey.of(fields, COLLECTOR, every, { number }),
      specification(changes),
      changedJson,
    );
  });

test("what a collector says of a survey", async (t) => {
  const survey = await surveyOf();
  const said = JSON.stringify({ version: survey.version, survey: survey.specification, state: "open" });
  await refusedOrRead((text) => answered(t, text, () => load(COLLECTOR, "browser", every)), said, changedText);
});

test("a ledger", async () => {
  const [survey, store] = [await surveyOf(), memoryStore()];
  await participant(survey, { store }).prepare("firefox");
  const parse = async (text) => participant(survey, { store: await stored(text) }).rows();
  const ledger = await store.read();
  await refusedOrRead(parse, ledger, changedText);
  await refusedOrRead((fields) => parse(JSON.stringify(fields)), JSON.parse(ledger), changedJson);
});

test("what is kept of passes", async () => {
  const [{ pkS }] = passes.rfc9578;
  const collect = { submit: "pass", issuer_key: Buffer.from(pkS, "hex").toString("base64url") };
  const survey = await surveyOf({ oracle: { name: "olh", epsilon: 1 }, collect });
  const kept = JSON.stringify({ [`${COLLECTOR} ${survey.version}`]: `fldp_pass_${"a".repeat(472)}` });
  await refusedOrRead(async (text) => obtainPass(survey, { store: await stored(text) }), kept, changedText);
});

test("keys of a collector, and replies, through a relay", async () => {
  const { key_config, response } = relayed.rfc9458_a;
  const config = bytes(key_config);
  await refusedOrRead(keyOf, Uint8Array.from([0, config.length, ...config]), changedBytes);
  await refusedOrRead(replyOf, bytes(response), changedBytes);
  await refusedOrRead(through, "https://relay.example/at", changedText);
});

test("an address", async () => {
  await refusedOrRead(addressOf, "https://collector.example:8443/at", changedText);
});

test("metrics of a program, and what is kept of them", async () => {
  const places = () => ({ state: memoryStore(), ledger: memoryStore() });
  await refusedOrRead((fields) => setup(fields, { places: places() }), metrics, changedJson);
  const kept = { format: "fldp-telemetry-1", saves: [], periods: [{ period: "2026-10", values: [] }], reports: [] };
  const parse = async (fields) => {
    await setup(metrics, { places: { ...places(), state: await stored(JSON.stringify(fields)) } });
  };
  await refusedOrRead(parse, kept, changedJson);
});
