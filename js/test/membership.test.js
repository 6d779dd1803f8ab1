// A collector that asks to find out who holds what: whether, and how often, a client speaks tells it nothing.
import assert from "node:assert/strict";
import { test } from "node:test";
import { every, FldpError, load, memoryStore, number, participant, Survey, search } from "../dist/index.js";
import { unequal } from "../dist/unequal.js";
import { collector } from "./collector.js";

const VALUES = Array.from({ length: 1000 }, (_, k) => String(k));
const [PEOPLE, ROUNDS, EPSILON] = [16, 10, 0.05];
const known = [...every, ...unequal];

const question = (round, changes) => {
  const oracle = { name: "grr", epsilon: EPSILON };
  return { name: "health", question: "Which?", description: `Round ${round}.`, oracle, ...changes };
};
const offered = (inside) => [...inside, "dummy", "dumber"]; // so that there are never few labels
const renamed = (round, inside, epsilon = EPSILON) => {
  const oracle = { name: "grr", epsilon };
  return question(round, { name: `n${round}`, topic: `t${round}`, labels: offered(inside), oracle });
};
const strings = (round, oracle) => question(round, { name: `n${round}`, domain: "strings", oracle });

/** Ask in a later round of a search, in which half of all strings begin with one of the prefixes. */
const searched = (round) => {
  const same = { k: 20, rounds: 4, bits: 16, alphabet: "0123456789".slice(round), quota: 10_000, hours: null };
  const table = { ...same, oracle: null, eta: null, round: 2, step: 0, prefixes: ["0", "10"], found: [] };
  return { ...strings(round, { name: "grr", epsilon: EPSILON }), search: table };
};

/** Ask for a number in the range of these values. */
const ranged = (round, inside, outside = "clamp") => {
  const [low, high] = [Number(inside[0]), Number(inside.at(-1)) + 1];
  const oracle = { name: "sampled", epsilon: EPSILON, views: [[0], ["wave", 0, 2]] };
  return question(round, { name: `n${round}`, number: { low, high, bins: 4, outside }, oracle });
};

const STRATEGIES = {
  "other labels": (round, inside) => question(round, { labels: offered(inside) }),
  "other topics": (round, inside) => question(round, { topic: `t${round}`, labels: offered(inside) }),
  "other names": renamed,
  "shrinking epsilon": (round, inside) => renamed(round, inside, EPSILON / 2 ** round),
  "other versions": (round) => question(round, { labels: offered(VALUES.slice(0, 500)) }),
  numbers: (round, inside) => question(round, { name: `n${round}`, domain_size: Math.max(3, inside.length) }),
  ranges: (round, inside) => ranged(round, inside),
  "ranges that refuse": (round, inside) => ranged(round, inside, "refuse"),
  strings: (round) => strings(round, { name: "hcms", epsilon: EPSILON, hashes: 4, width: 16 }),
  daily: (round) => ({
    ...strings(round, { name: "rappor", epsilon: EPSILON, epsilon_permanent: 2 * EPSILON }),
    collect: { repeat: "daily" },
  }),
  "a search": searched,
  accents: (round, inside) =>
    renamed(
      round,
      inside.map((value) => `${value}\u0301`),
    ),
  zeros: (round, inside) =>
    renamed(
      round,
      inside.map((value) => `0${value}`),
    ),
  "closed and reopened": (round) => [
    question(0, { labels: offered(VALUES.slice(0, 500)) }),
    round % 2 ? "closed" : "open",
  ],
  "not yet open": (round, inside) => ({ ...renamed(round, inside), collect: { opens: "2999-01-01T00:00:00Z" } }),
  "sensitive values": (round, inside) => ({
    ...renamed(round, inside),
    oracle: { name: "urr", epsilon: EPSILON, sensitive: [0, 1] },
  }),
  "closed every other time": (round, inside) => [renamed(round, inside), round % 2 ? "closed" : "open"],
  "wrong versions": (round, inside) => [renamed(round, inside), "open", round % 2 ? "ab".repeat(32) : undefined],
};

/** Ask two questions, of which another one must be answered each time. */
const several = (round, tables) => {
  const asked = ["smokes", "drinks"].map((name, place) => ({
    ...{ name, question: "?", labels: ["never", "often"] },
    ...(place === round % 2 ? { optional: true } : {}),
  }));
  const oracle = { name: "sampled", epsilon: EPSILON, base: "grr", views: [[0], [1]], weights: [2048, 2048] };
  const { question: _, ...fields } = question(round, { name: `n${round}`, oracle });
  return { ...fields, questions: asked, ...tables };
};
const SEVERAL = {
  "all questions": (round) => several(round, {}),
  "questions that chance chooses": (round) => several(round, { tables: { ask: "drawn" } }),
};
const ANSWERS = [
  { smokes: "often", drinks: "never" },
  { smokes: undefined, drinks: null },
  { smokes: "", drinks: undefined },
  { smokes: "sometimes", drinks: 7 },
];

/** Let a program of a person answer whatever is offered, by its name; return what the collector guesses and has seen. */
async function attacked(server, strategy, value) {
  const store = memoryStore();
  const seen = [];
  let candidates = VALUES;
  for (let round = 0; round < ROUNDS; round++) {
    const half = candidates.slice(0, Math.ceil(candidates.length / 2));
    const [fields, state = "open", version] = [strategy(round, half)].flat();
    const survey = await Survey.of(fields, server.url, known, { search, number });
    server.surveys.set(survey.name, { version: version ?? survey.version, survey: survey.specification, state });
    const before = server.seen.length;
    try {
      await participant(await load(server.url, survey.name, known, { search, number }), { store }).answer(value);
    } catch (error) {
      assert.ok(error instanceof FldpError);
    }
    const asked = server.seen.slice(before);
    const posts = asked.filter(({ method }) => method === "POST");
    seen.push([asked.length, ...posts.map(({ body }) => body.length)]);
    const inside = new Set(survey.labels ?? (survey.domain ? VALUES : VALUES.slice(0, survey.oracle.domainSize)));
    const left = candidates.filter((one) => inside.has(one) === posts.length > 0); // silence: it is none of these
    if (left.length) candidates = left;
  }
  const { answers, refusals } = JSON.parse((await store.read()) ?? '{"answers":[]}');
  return { guess: candidates[0], seen, rows: answers.length, refusals };
}

for (const [name, strategy] of Object.entries(STRATEGIES)) {
  test(`a collector learns nothing by who speaks: ${name}`, async (t) => {
    const server = await collector();
    t.after(server.close);
    const held = Array.from({ length: PEOPLE }, (_, k) => VALUES[(k * 617 + 61) % 1000]);
    const outcomes = [];
    for (const value of held) outcomes.push(await attacked(server, strategy, value));
    const { guess: _, ...first } = outcomes[0];
    for (const { guess: __, ...one } of outcomes) assert.deepEqual(one, first); // who asks, speaks, how often, how long
    // A guess without knowledge is right once in 1,000, and five of 16 are with a probability below 5e-12.
    assert.ok(outcomes.filter(({ guess }, k) => guess === held[k]).length < 5);
  });
}

for (const [name, strategy] of Object.entries(SEVERAL)) {
  test(`who leaves questions unanswered speaks alike: ${name}`, async (t) => {
    const server = await collector();
    t.after(server.close);
    const outcomes = [];
    for (const answers of ANSWERS) outcomes.push(await attacked(server, strategy, answers));
    for (const { guess: _, ...one } of outcomes) {
      const { guess: __, ...first } = outcomes[0];
      assert.deepEqual(one, first);
      assert.deepEqual([one.rows, one.refusals], [ROUNDS, undefined]);
    }
  });
}
