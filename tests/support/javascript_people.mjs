// People who answer a survey of a real collector: node javascript_people.mjs, with a JSON object on standard input.
// Each person has a device of their own, answers, forgets that it was sent, and sends it again.
// With a relay, all of that goes through it.
import {
  every,
  FldpError,
  flush,
  load,
  memoryStore,
  number,
  participant,
} from "../../src/fldp/collector/static/fldp.js";
import { through } from "../../src/fldp/collector/static/fldp_oblivious.js";

let text = "";
for await (const part of process.stdin) text += part;
const { url, name, people, ...options } = JSON.parse(text);

async function person({ label, ticket }) {
  try {
    const relay = options.relay && through(options.relay);
    const survey = await load(url, name, every, { number, relay });
    const store = memoryStore();
    const first = await participant(survey, { store, relay }).answer(label, { ticket });
    const before = await store.read();
    await store.replace(before, before.replace('"state":"sent"', '"state":"queued"'));
    const left = await flush({ store, relays: through });
    return { state: first.state, left, batch: Buffer.from(first.batch).toString("hex") };
  } catch (error) {
    if (!(error instanceof FldpError)) throw error;
    return { error: error.name, message: error.message, status: error.status ?? null };
  }
}

const told = [];
for (let start = 0; start < people.length; start += 20) {
  told.push(...(await Promise.all(people.slice(start, start + 20).map(person))));
}
process.stdout.write(JSON.stringify(told));
