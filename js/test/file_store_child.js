// A process that shares a store in files: `answer PATH LABEL` answers a survey, `count PATH TIMES` adds marks to a list.
import { randomUUID } from "node:crypto";
import { GRR, Participant, Survey } from "../dist/index.js";
import { fileStore } from "../dist/node.js";

const [what, path, word] = process.argv.slice(2);
const store = fileStore(path);

async function answer(label) {
  const fields = { name: "browser", question: "Which?", labels: [..."abcdef"], oracle: { name: "grr", epsilon: 1 } };
  const survey = await Survey.of(fields, "https://collector.example", [GRR]);
  const { key, repeated } = await new Participant(survey, { store }).prepare(label);
  console.log(JSON.stringify({ key, repeated }));
}

/** Add a mark, as often as others come in between; one that another has built upon is there already. */
async function add(mark) {
  for (;;) {
    const before = await store.read();
    const marks = JSON.parse(before ?? "[]");
    if (marks.includes(mark) || (await store.replace(before, JSON.stringify([...marks, mark])))) return;
  }
}

if (what === "answer") await answer(word);
for (let k = 0; what === "count" && k < Number(word); k++) {
  const mark = randomUUID();
  await add(mark);
  console.log(mark);
}
