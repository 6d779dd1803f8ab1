// The frozen vectors: the same bytes from the same words as in Python, and every bad batch refused.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { build, decode, encode, Survey, search, every as usual, WireError } from "../dist/index.js";
import { unequal } from "../dist/unequal.js";

const every = [...usual, ...unequal];

const FOLDER = new URL("../../vectors/", import.meta.url);
const read = (name) => JSON.parse(readFileSync(new URL(name, FOLDER), "utf8"));
const missing = JSON.parse(readFileSync(new URL("missing.json", import.meta.url), "utf8")); // no oracles: rounds of searches are below
const names = readdirSync(FOLDER)
  .map((name) => name.replace(".json", ""))
  .filter((name) => !missing.includes(name.replace("_bad", "")));
const hex = (bytes) => Buffer.from(bytes).toString("hex");
const bytes = (text) => new Uint8Array(Buffer.from(text, "hex"));

function wordsOf(row) {
  const view = new DataView(new ArrayBuffer(8 * row.length));
  for (const [k, word] of row.entries()) view.setBigUint64(8 * k, BigInt(`0x${word}`), true);
  return view;
}

/** Return the value of a report; of a string it is the fingerprint. */
async function valueIn(oracle, { value, fingerprint }) {
  if (fingerprint === undefined) return value;
  assert.equal(await oracle.read(value), BigInt(`0x${fingerprint}`));
  return oracle.read(value);
}

/** Return what is kept as Python stores it: the masks, then the answers to all symbols, as one little-endian number. */
function littleEndian({ widths }, kept) {
  const [bits] = widths.slice(-1);
  const sizes = [...widths.slice(0, -1), bits << bits];
  const number = kept.reduceRight((sum, part, k) => (sum << BigInt(sizes[k])) | BigInt(part), 0n);
  const size = Math.ceil(sizes.reduce((sum, width) => sum + width) / 8);
  return hex(Uint8Array.from({ length: size }, (_, k) => Number((number >> BigInt(8 * k)) & 255n)));
}

test("there are vectors of every oracle, good and bad", () => {
  const wanted = every.flatMap(({ id }) => [id, `${id}_bad`]);
  assert.deepEqual(names.toSorted?.() ?? [...names].sort(), wanted.sort());
});

for (const name of names.filter((name) => !name.endsWith("_bad"))) {
  read(`${name}.json`).forEach((vector, k) => {
    test(`${name} ${k}: words become reports, reports become bytes, and back`, async () => {
      const oracle = build(vector.oracle, every);
      assert.deepEqual(oracle.description, vector.oracle);
      assert.equal(oracle.words, vector.words);
      assert.equal(oracle.reportBits, vector.report_bits);
      const values = await Promise.all(vector.reports.map((report) => valueIn(oracle, report)));
      const reports = vector.reports.map(({ words }, j) => oracle.perturb(values[j], wordsOf(words)));
      for (const [j, { packed }] of vector.reports.entries()) {
        const batch = hex(await encode(oracle, [reports[j]]));
        assert.ok(batch.includes(`01000000${packed}`), `report ${j}`);
        assert.ok(oracle.likely(reports[j])(values[j]) > 0, `report ${j} rules its own value out`);
      }
      for (const [j, { words, basis }] of vector.reports.entries()) {
        assert.equal(basis !== undefined, oracle.follows, `report ${j}`);
        if (basis === undefined) continue;
        const kept = oracle.keep(undefined, wordsOf(words));
        assert.equal(littleEndian(oracle, kept), basis, `basis ${j}`);
        assert.deepEqual(oracle.respond(kept, values[j], wordsOf(words.slice(-1))), reports[j], `report ${j}`);
      }
      assert.equal(hex(await encode(oracle, reports)), vector.batch);
      const { survey, batch } = vector.batch_for_survey;
      assert.equal(hex(await encode(oracle, reports.slice(0, 1), survey)), batch);
      const decoded = await decode(bytes(vector.batch), every);
      assert.deepEqual(decoded.reports, reports);
      assert.equal(decoded.survey, null);
      assert.equal((await decode(bytes(batch), every)).survey, survey);
    });
  });
}

test("strings are the same values in the rounds of searches", async () => {
  for (const { search: table, strings } of read("search.json")) {
    const fields = { name: "found", question: "Which?", domain: "strings", search: table };
    const oracle = { name: "grr", epsilon: 1 };
    const survey = await Survey.of({ ...fields, oracle }, "https://collector.example", every, { search });
    for (const { string, value } of strings) assert.equal(await survey.encode(string), value, string);
    await assert.rejects(Survey.of({ ...fields, oracle }, "https://collector.example", every), /must be one of/);
  }
});

for (const name of names.filter((name) => name.endsWith("_bad"))) {
  for (const { why, batch } of read(`${name}.json`)) {
    test(`${name}: refuses ${why}`, () => assert.rejects(decode(bytes(batch), every), WireError));
  }
}
