// Does what a list of requests on standard input says, with the client that is checked in, and writes the results.

import * as fldp from "../../src/fldp/collector/static/fldp.js";
import { unequal } from "../../src/fldp/collector/static/fldp_unequal.js";
import { card } from "../../src/fldp/collector/static/shared/card.js";

const kinds = { search: fldp.search, number: fldp.number };
const every = [...fldp.every, ...unequal];

const wordsOf = (row) => {
  const view = new DataView(new ArrayBuffer(8 * row.length));
  for (const [k, word] of row.entries()) view.setBigUint64(8 * k, BigInt(word), true);
  return view;
};
const valueFrom = (value) => (typeof value === "string" ? BigInt(value) : value); // fingerprints come as text
const hex = (bytes) => Buffer.from(bytes).toString("hex");

const actions = {
  power: ({ epsilon }) => fldp.expLower(epsilon).toString(),
  oracle: ({ fields }) => {
    const { description, words, reportBits, eta, anonymity } = fldp.build(fields, every);
    return { description, words, reportBits, eta, anonymity };
  },
  reports: async ({ fields, rows, among }) => {
    const oracle = fldp.build(fields, every);
    const reports = rows.map(([value, words]) => oracle.perturb(valueFrom(value), wordsOf(words)));
    const likelihoods = reports.map((report) =>
      (among?.map(valueFrom) ?? [...Array(oracle.domainSize).keys()]).map(oracle.likely(report)),
    );
    return { batch: hex(await fldp.encode(oracle, reports)), likelihoods };
  },
  version: async ({ survey, url = "https://collector.example" }) =>
    (await fldp.Survey.of(survey, url, every, kinds)).version,
  decode: async ({ batch }) => (await fldp.decode(new Uint8Array(Buffer.from(batch, "hex")), every)).reports.length,
  strings: ({ oracle, texts }) =>
    Promise.all(texts.map(async (text) => String(await fldp.build(oracle, every).read(text)))),
  cells: async ({ survey, texts }) => {
    const { scale } = await fldp.Survey.of(survey, "https://collector.example", every, kinds);
    return texts.map((text) => scale.read(text));
  },
  address: ({ url }) => fldp.addressOf(url),
  card: ({ fields }) => card(fldp.build(fields, every)),
  canonical: ({ document }) => fldp.dumps(document),
};

/** Let a server ask for one survey after the other, and tell what it got: what was spent, or why it got nothing. */
actions.sequence = async ({ asked, limits, agrees, counted }) => {
  const store = fldp.memoryStore();
  const outcomes = [];
  for (const { survey, label, url, program } of asked) {
    try {
      const checked = await fldp.Survey.of(survey, url, every, kinds);
      const person = fldp.participant(checked, { store, limits, ...program });
      const { notices, spent, repeated } = await person.prepare(label, { confirm: () => agrees });
      outcomes.push({ notices, spent, repeated });
    } catch (error) {
      outcomes.push({ error: error.name, message: error.message });
    }
  }
  return counted ? { told: outcomes, refusals: JSON.parse(await store.read()).refusals } : outcomes;
};

/** Answer a survey with a ticket; the batch that would be sent. */
actions.derived = async ({ survey, label, ticket }) => {
  const person = fldp.participant(await fldp.Survey.of(survey, "https://c.example", every), {
    store: fldp.memoryStore(),
  });
  return hex((await person.prepare(label, { ticket, confirm: () => true })).batch);
};

let text = "";
for await (const part of process.stdin) text += part;
const results = [];
for (const request of JSON.parse(text)) {
  try {
    results.push({ result: await actions[request.do](request) });
  } catch (error) {
    if (!(error instanceof fldp.FldpError)) throw error;
    results.push({ error: error.name, message: error.message });
  }
}
process.stdout.write(JSON.stringify(results));
