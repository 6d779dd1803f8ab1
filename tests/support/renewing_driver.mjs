// A ledger in JavaScript, driven line by line: what is asked on which day, by a clock that says what it is told.

import { createInterface } from "node:readline";
import * as fldp from "../../src/fldp/collector/static/fldp.js";

let now = 0;
globalThis.Date = class extends Date {
  constructor(...parts) {
    super(...(parts.length ? parts : [now]));
  }
  static now() {
    return now;
  }
};

let store = fldp.memoryStore();

/** A survey of a number: those that are kept are over strings, since RAPPOR is what keeps something. */
const specification = ({ number, repeat, epsilon, kept }) => ({
  name: `s${number}`,
  question: "Which one?",
  collect: { repeat },
  ...(kept
    ? { domain: "strings", oracle: { name: "rappor", epsilon: epsilon / 2, epsilon_permanent: epsilon, bits: 32 } }
    : { labels: ["a", "b", "c"], oracle: { name: "grr", epsilon } }),
});

const actions = {
  clear: async () => {
    store = fldp.memoryStore();
    return fldp.begin(store);
  },
  ask: async ({ survey, limits }) => {
    const fields = { ...survey, epsilon: Number(survey.epsilon) };
    const asked = await fldp.Survey.of(specification(fields), survey.origin, fldp.every);
    try {
      return (await new fldp.Participant(asked, { store, limits }).prepare("a")).key;
    } catch (error) {
      if (error instanceof fldp.BudgetError) return null;
      throw error;
    }
  },
  rows: async () =>
    JSON.parse(await store.read()).answers.map(({ name, epoch, epsilon, renews }) => [name, epoch, epsilon, renews]),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { action, day, ...rest } = JSON.parse(line);
  now = Date.parse(day);
  console.log(JSON.stringify(await actions[action](rest)));
}
