// Surveys of several questions: the version of Python's tests, records, and one answer for all questions.
import assert from "node:assert/strict";
import { test } from "node:test";
import { decode, every, memoryStore, Participant, Sampled, Survey } from "../dist/index.js";

const SPECIFICATION = {
  format: "fldp-survey-1",
  name: "desktop",
  questions: [
    {
      name: "os",
      question: "Which system do you use?",
      labels: ["linux", "mac", "windows", "other"],
      optional: true,
    },
    { name: "plan", question: "Do you pay?", labels: ["no", "yes"] },
    { name: "level", question: "How content are you, from 0 to 4?", domain_size: 5 },
  ],
  oracle: {
    name: "sampled",
    epsilon: 1,
    base: "ss",
    views: [[0], [1], [2], [0, 1], [1, 2]],
    weights: [926, 375, 559, 1118, 1118],
  },
  collect: { submit: "open", origins: [], opens: null, closes: null, retention: "raw", minimum: 100 },
};
const VERSION = "2baa60b76480612fd040ee71c7a7ebcb7ee6c2fbe878ffe3112ca1e40d885480"; // that of tests/survey
const survey = (changes = {}) => Survey.of({ ...SPECIFICATION, ...changes }, "http://127.0.0.1:1", every);
const person = async (changes) => new Participant(await survey(changes), { store: memoryStore() });

test("the version is that of Python", async () => {
  assert.equal((await survey()).version, VERSION);
  assert.notEqual((await survey({ tables: { ask: "drawn" } })).version, VERSION);
});

test("answers become a record, and a record its answers", async () => {
  const { oracle, questions } = await survey();
  assert.equal(oracle.answered(questions, { os: "mac", plan: "yes", level: 3 }), 18n);
  assert.equal(oracle.answered(questions, { plan: "no", level: "0" }), 40n);
  assert.deepEqual(oracle.digits(18n), [1, 1, 3]);
  const rated = [{ ...questions[1], labels: ["0", "1"] }];
  const one = new Sampled({ epsilon: 1, answers: [2], views: 1 });
  for (const rating of ["1", ...Array(40).fill(1)]) assert.equal(one.answered(rated, { plan: rating }), 1n); // as in Python
  assert.equal(oracle.record([1, 1, 9]), -1n);
});

test("one report answers all questions, and is repeated", async () => {
  const answering = await person();
  const first = await answering.prepare({ os: "mac", plan: "yes", level: 3 });
  const again = await answering.prepare({ os: "linux", plan: "no", level: 1 });
  assert.deepEqual([first.repeated, again.repeated], [false, true]);
  assert.deepEqual(first.batch, again.batch);
  assert.equal(first.spent.epsilon, "1");
});

test("what was answered is repeated, although questions are not named any more", async () => {
  const answering = await person();
  const first = await answering.prepare(ANSWERS);
  const again = await answering.prepare({ os: "mac" });
  assert.deepEqual([again.repeated, again.batch, await answering.refusals()], [true, first.batch, {}]);
});

test("an answer that the survey lacks is drawn as another one, and a missing one is refused", async () => {
  assert.equal((await (await person()).prepare({ os: "amiga", plan: "yes", level: 3 })).repeated, false);
  await assert.rejects((await person()).prepare({ os: "mac" }), /question 'plan' has no answer and is not optional/);
  await assert.rejects((await person()).prepare("mac"), /answer each question \(not shown\)/);
});

test("who has no answer speaks like everybody else, whatever the collector says must be answered", async () => {
  const odd = [Symbol("mac"), Object.create(null), ["mac"], 10n ** 400n]; // no answers, whatever is asked
  for (const nothing of [undefined, null, "", ...odd]) {
    for (const changes of [{}, LESS]) {
      const { batch } = await (await person(changes)).prepare({ os: nothing, plan: nothing, level: nothing });
      assert.equal(batch.length, (await (await person(changes)).prepare(ANSWERS)).batch.length);
    }
  }
});

test("no answers at all are refused, whatever the collector says must be answered", async () => {
  const optional = SPECIFICATION.questions.map((asked) => ({ ...asked, optional: true }));
  for (const questions of [SPECIFICATION.questions, optional]) {
    for (const nothing of [null, undefined, "", "mac"])
      await assert.rejects((await person({ questions })).prepare(nothing), /answer each question \(not shown\)/);
  }
});

test("the answers of a record decide the report of a view alone", async () => {
  const { oracle } = await survey();
  const words = new DataView(new ArrayBuffer(8 * oracle.words)); // zeros: the first view, which is about os
  const reports = [0n, 5n, 9n].map((record) => oracle.perturb(record, words));
  assert.deepEqual(reports[0], reports[1]);
  assert.deepEqual(reports[0], reports[2]);
});

const LESS = {
  tables: { ask: "drawn" },
  oracle: { ...SPECIFICATION.oracle, views: [[0], [1], [2]], weights: [1, 1, 1] },
};
const ANSWERS = { os: "mac", plan: "yes", level: 3 };
const only = (names) => Object.fromEntries(names.map((name) => [name, ANSWERS[name]]));
const namesOf = (asked) => asked.map(({ name }) => name);

test("all questions are asked, unless chance chooses some of them, once", async () => {
  assert.deepEqual(namesOf(await (await person()).asked()), ["os", "plan", "level"]);
  const store = memoryStore();
  const first = namesOf(await new Participant(await survey(LESS), { store }).asked());
  assert.equal(first.length, 1);
  for (const _ of Array(5))
    assert.deepEqual(namesOf(await new Participant(await survey(LESS), { store }).asked()), first);
  const seen = await Promise.all(Array.from(Array(60), async () => namesOf(await (await person(LESS)).asked())[0]));
  assert.deepEqual([...new Set(seen)].sort(), ["level", "os", "plan"]); // fails once in 10^10
});

test("the report is about the questions that were asked, and no other needs an answer", async () => {
  const asks = await survey(LESS);
  for (const _ of Array(20)) {
    const answering = new Participant(asks, { store: memoryStore() });
    const names = namesOf(await answering.asked());
    const { batch } = await answering.prepare(only(names));
    const { view } = asks.oracle.split((await decode(batch, [Sampled])).reports[0]);
    assert.deepEqual(
      view.questions.map((place) => asks.questions[place].name),
      names,
    );
    const missing = new Participant(asks, { store: memoryStore() });
    if (namesOf(await missing.asked())[0] !== "os") await assert.rejects(missing.prepare({}), /has no answer/);
  }
});

test("a ticket decides which questions are asked", async () => {
  const collect = { ...SPECIFICATION.collect, submit: "ticket", derive: true };
  const asks = await survey({ ...LESS, collect });
  for (const ticket of ["fldp_ticket_a", "fldp_ticket_b", "fldp_ticket_c", "fldp_ticket_d"]) {
    const answering = new Participant(asks, { store: memoryStore() });
    const names = namesOf(await answering.asked({ ticket }));
    const { batch } = await answering.prepare(only(names), { ticket });
    const { view } = asks.oracle.split((await decode(batch, [Sampled])).reports[0]);
    assert.deepEqual(
      view.questions.map((place) => asks.questions[place].name),
      names,
    );
  }
  await assert.rejects((await person({ ...LESS, collect })).asked(), /a ticket must be given/);
});

for (const [why, changes] of Object.entries({
  "a name twice": { questions: [SPECIFICATION.questions[1], SPECIFICATION.questions[1]] },
  "no questions": { questions: [] },
  "a question beside them": { question: "What?" },
  "an unknown key": { questions: [{ ...SPECIFICATION.questions[1], weight: 2 }] },
  "another oracle": { oracle: { name: "grr", epsilon: 1 } },
  "asking as it likes": { tables: { ask: "some" } },
})) {
  test(`refuses ${why}`, async () => {
    await assert.rejects(survey(changes));
  });
}
