// No error may hold the person's answer: pages hand errors to services that collect them. All that is public is tried
// with answers of many kinds, in every place that an answer could get to.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import * as fldp from "../dist/index.js";
import { fileStore } from "../dist/node.js";
import { unequal } from "../dist/unequal.js";

const MARK = "Tr0ub4dor"; // in every answer
const LABELS = ["alpha", "beta", "gamma", "delta"];
const ALL = [...fldp.every, ...unequal];

/** Answers as a hostile or careless program gives them. */
const ANSWERS = {
  "another label": MARK,
  "a long one": MARK.repeat(500),
  "with line breaks": `${MARK}\n${MARK}\r\u2028${MARK}`,
  "with half a character": `${MARK}\ud800`,
  "with controls": `${MARK}\u0000\u001b[31m`,
  "that looks like a number": `1e5${MARK}`,
  "that looks like JSON": JSON.stringify({ answer: MARK }),
  "a key of all objects": `__proto__${MARK}`,
  "an object": { label: MARK },
  "all answers": { pets: MARK, load: MARK },
  "answers of other types": { pets: [MARK], load: { toString: () => MARK } },
  "an unknown question": { [MARK]: 1 },
  "an array": [MARK],
  "an object with a text": { toString: () => MARK },
  "an object that throws": {
    toString() {
      throw new Error(`thrown by the answer itself`);
    },
  },
  "a boxed string": Object(MARK),
  "a symbol": Symbol(MARK),
  "a function": Object.defineProperty(() => 0, "name", { value: MARK }),
};

const parametersOf = {
  grouped: { groups: [2, 2], base: { name: "grr" }, domain_size: 4 },
  idue: { budgets: [[0, 0.5]], domain_size: 4 },
  urr: { sensitive: [0], domain_size: 4 },
  urappor: { sensitive: [0], domain_size: 4 },
  exponential: { distance: "line", domain_size: 4 },
  rr: { domain_size: 2 },
  wave: { width: 2, domain_size: 4 },
};

/** Return a survey of every oracle that can be built from few words. */
async function surveys() {
  const surveyed = [];
  for (const { id } of ALL) {
    const { domain_size: size = 4, ...more } = parametersOf[id] ?? {};
    const isString = ["cms", "hcms", "rappor"].includes(id);
    const values = isString ? { domain: "strings" } : { labels: LABELS.slice(0, size) };
    const fields = { name: "pets", question: "Which?", ...values, oracle: { name: id, epsilon: 1, ...more } };
    surveyed.push(await fldp.Survey.of(fields, "https://collector.example", ALL).catch(() => null));
  }
  const scale = { number: { low: 0, high: 30 }, oracle: { name: "wave", epsilon: 1, width: 5 } };
  const asked = { name: "load", question: "How long?", ...scale };
  surveyed.push(await fldp.Survey.of(asked, "https://collector.example", ALL, { number: fldp.number }));
  const pets = { name: "pets", question: "Which?", labels: LABELS };
  const questions = [pets, { name: "load", question: "How long?", number: { low: 0, high: 30, bins: 4 } }];
  const oracle = { name: "sampled", epsilon: 1, views: 1 };
  const several = { name: "several", questions, oracle };
  surveyed.push(await fldp.Survey.of(several, "https://collector.example", ALL, { number: fldp.number }));
  return surveyed.filter(Boolean);
}

/** Return all texts of an error: its message, name, stack, cause and own properties, with those of its causes. */
function textsOf(error) {
  if (!(error instanceof Error)) return [String(error)];
  const own = Object.getOwnPropertyNames(error).map((name) => {
    const value = error[name];
    return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  });
  return [...own, String(error), ...(error.cause ? textsOf(error.cause) : [])];
}

/** Run something that may fail; return its error, or null. */
async function errorOf(work) {
  try {
    await work();
    return null;
  } catch (error) {
    return error;
  }
}

const WORDS = new DataView(new ArrayBuffer(1 << 20)); // enough for each oracle here
const ANY = { strings: 1n, undefined: 0 }; // a value of each kind of domain

/** All functions that can be handed an answer, or what a program may take for one, by name. */
const CALLS = {
  "Participant.prepare": (survey, answer, store) => new fldp.Participant(survey, { store }).prepare(answer),
  "Participant.prepare, of own labels": (survey, answer, store) =>
    new fldp.Participant(survey, { store, labels: survey.labels ?? LABELS }).prepare(answer),
  "Participant.prepare, with a limit": (survey, answer, store) =>
    new fldp.Participant(survey, { store, limits: { minAnonymity: 1000 } }).prepare(answer),
  "Participant.prepare, not confirmed": (survey, answer, store) =>
    new fldp.Participant(survey, { store, limits: { minLabels: 1e6 } }).prepare(answer, { confirm: () => false }),
  "Participant.prepare, without a store": (survey, answer) =>
    new fldp.Participant(survey, { store: fldp.databaseStore() }).prepare(answer),
  "Participant.prepare, without a file": (survey, answer) =>
    new fldp.Participant(survey, { store: fileStore("/nowhere/at/all") }).prepare(answer),
  "Respondent.answer": (survey, answer, store) => fldp.participant(survey, { store }).answer(answer),
  "Respondent.answer, with a bad ticket": (survey, answer, store) =>
    fldp.participant(survey, { store }).answer(answer, { ticket: "\n" }),
  "Respondent.send, before an answer": (survey, _, store) => fldp.participant(survey, { store }).send(),
  "Survey.encode": (survey, answer) => survey.encode(answer),
  "Survey.find": (survey, answer) => survey.find(answer),
  "Survey.label": (survey, answer) => survey.label(answer),
  "Oracle.draw": (survey, answer) => survey.oracle.draw(answer),
  "Oracle.perturb": (survey, answer) =>
    survey.oracle.perturb(answer, new DataView(new ArrayBuffer(8 * survey.oracle.words))),
  "Oracle.likely": (survey, answer) => survey.oracle.likely(survey.oracle.perturb(ANY[survey.domain], WORDS))(answer),
  "Oracle.keep": (survey, answer) => survey.oracle.keep?.(answer),
  "Oracle.read": (survey, answer) => survey.oracle.read(answer),
  "Oracle.holds": (survey, answer) => survey.oracle.holds(answer),
  "Oracle.derive": (survey, answer) => survey.oracle.derive?.(answer, survey.version, "fldp_ticket_x"),
  identifier: (_, answer) => fldp.identifier(answer),
};

/** What is given a specification, reports, bytes, settings or an address, never an answer. */
const OTHERS =
  `CollectorError BudgetError DomainError FldpError ParameterError WireError addressOf begin build databaseStore decode dumps
  encode epochOf every expLower firstDay flush flushWhenOnline load localStore memoryStore monthOf number search`.split(
    /\s+/,
  );

test("every public name is tried here, or takes no answer", () => {
  const tried = new Set([...Object.keys(CALLS).map((name) => name.split(/[.,]/)[0]), ...OTHERS, "participant"]);
  const missing = Object.entries(fldp).filter(([name, member]) => !tried.has(name) && !fldp.every.includes(member));
  assert.deepEqual(
    missing.map(([name]) => name),
    [],
  );
});

test("no error holds the answer, whatever it is and wherever it fails", async (t) => {
  const before = globalThis.fetch;
  const refusals = [400, 404, 422, 503].map(
    (status) => async () => new Response(JSON.stringify({ detail: "refused" }), { status }),
  );
  t.after(() => {
    globalThis.fetch = before;
  });
  const place = mkdtempSync(join(tmpdir(), "fldp-errors-"));
  t.after(() => rmSync(place, { recursive: true, force: true }));
  const every = await surveys();
  assert.ok(every.length >= 15, String(every.length));
  let errors = 0;
  for (const [k, survey] of every.entries()) {
    for (const [kind, answer] of Object.entries(ANSWERS)) {
      for (const [name, call] of Object.entries(CALLS)) {
        globalThis.fetch = refusals[k % 3];
        const error = await errorOf(() => call(survey, answer, fldp.memoryStore()));
        if (!error) continue;
        errors++;
        for (const text of textsOf(error)) assert.ok(!text.includes(MARK), `${name}, ${kind}: ${text.slice(0, 300)}`);
      }
    }
  }
  assert.ok(errors > 500, String(errors));
});

test("the numbers of values are not shown either", async () => {
  const SECRET = 73_519; // beyond every domain here
  for (const survey of await surveys()) {
    const error = await errorOf(() => survey.oracle.draw(SECRET));
    for (const text of error ? textsOf(error) : []) {
      assert.ok(!text.split("\n")[0].includes(String(SECRET)), text);
    }
  }
});

test("the check itself notices an answer in an error", async () => {
  const survey = (await surveys())[0];
  const leaky = (_, answer) => {
    throw new fldp.DomainError(`survey: labels must be ones of the survey, got ${answer}`);
  };
  const error = await errorOf(() => leaky(survey, MARK));
  assert.ok(textsOf(error).some((text) => text.includes(MARK)));
});
