// Runs examples of the documents, each by itself: { url, relay, metrics, examples: [{ text, name, ticket, before }] } from
// standard input. Prints what became of each answer.
import { readFileSync } from "node:fs";
import * as fldp from "fldp";
import { through } from "fldp/oblivious";
import { obtainPass } from "fldp/passes";

const IMPORT = /^import (?:\{ (.+) \}|(\w+)) from "(.+?)".*;$/gm;
const AsyncFunction = (async () => {}).constructor;
const { url, relay, metrics, examples } = JSON.parse(readFileSync(0, "utf8"));

/** The examples are for pages, where stores are databases of the browser; Node has none, so they get stores in memory. */
function inNode(store) {
  const passes = fldp.memoryStore();
  return {
    ...fldp,
    participant: (survey, options) => fldp.participant(survey, { store, ...options }),
    flush: (options) => fldp.flush({ store, ...options }),
    obtainPass: (survey, options) => obtainPass(survey, { store: passes, ...options }),
  };
}

/** Return what an example imports, which must be there. */
async function imported(text, known) {
  const names = {};
  for (const [, listed, whole, place] of text.matchAll(IMPORT)) {
    if (whole) names[whole] = metrics;
    else {
      const module = await import(place);
      for (const name of listed.split(", ")) {
        if (!(name in module)) throw new Error(`${place} has no ${name}`);
        names[name] = known[name] ?? module[name];
      }
    }
  }
  return names;
}

async function run({ text, name, ticket, before }) {
  const known = inNode(fldp.memoryStore());
  const survey = await known.load(url, name, fldp.every);
  if (before) await known.participant(survey).answer(before);
  const around = { survey, ticket, relay: through(relay), start: () => "started", dynamic: (place) => import(place) };
  const names = { ...known, ...around, ...(await imported(text, known)) };
  const body = text.replace(IMPORT, "").replaceAll("import(", "dynamic(");
  await new AsyncFunction(...Object.keys(names), `{ ${body}\n }`)(...Object.values(names));
  return (await known.participant(survey).recall())?.state ?? "none";
}

const states = [];
for (const example of examples) states.push(await run(example));
console.log(JSON.stringify(states));
