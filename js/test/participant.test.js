// One person, one answer: drawn once, stored first, sent under one key, repeated as it is.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  BudgetError,
  CollectorError,
  DomainError,
  decode,
  every,
  FHR,
  FldpError,
  flush,
  flushWhenOnline,
  memoryStore,
  ParameterError,
  participant,
  Survey,
} from "../dist/index.js";
import { collector, LABELS, specification, withoutWaiting } from "./collector.js";

async function started(t, changes) {
  const server = await collector();
  t.after(server.close);
  return { server, survey: await server.publish(specification(changes)) };
}

const textOf = async (store) => (await store.read()) ?? "";

test("an answer is one report of the survey's version, sent under a random key", async (t) => {
  const { server, survey } = await started(t);
  const answer = await participant(survey, { store: memoryStore() }).answer("firefox");
  const { oracle, survey: version, reports } = await decode(answer.batch, [FHR]);
  assert.deepEqual([oracle.description, version, reports.length], [survey.oracle.description, survey.version, 1]);
  assert.equal(answer.state, "sent");
  assert.match(answer.key, /^[0-9a-f]{64}$/);
  const [post] = server.posts();
  assert.equal(post.path, `/v1/versions/${survey.version}/reports`);
  assert.equal(post.headers["idempotency-key"], answer.key);
  assert.equal(post.headers["content-type"], "application/octet-stream");
  assert.equal(post.body, Buffer.from(answer.batch).toString("hex"));
  assert.equal(post.headers.cookie ?? post.headers.referer ?? post.headers.authorization, undefined);
  assert.deepEqual(answer.spent, { epsilon: "1", eta: 0.5, answers: 1 });
});

test("it is repeated as it is, whatever the label, and sent no more once it was acknowledged", async (t) => {
  const { server, survey } = await started(t, { oracle: { name: "olh", epsilon: 1 } });
  const store = memoryStore();
  const first = await participant(survey, { store }).answer("firefox");
  for (const label of LABELS) {
    const again = await participant(survey, { store }).answer(label); // drawn anew, 64 bits of seed would differ
    assert.deepEqual(
      [again.batch, again.key, again.repeated, again.spent],
      [first.batch, first.key, true, first.spent],
    );
  }
  assert.equal(first.repeated, false);
  assert.equal(server.posts().length, 1);
});

test("it is stored before anybody sees it, and nothing is sent by that", async (t) => {
  const { server, survey } = await started(t, { oracle: { name: "olh", epsilon: 1 } });
  const inner = memoryStore();
  let stored = 0;
  const replace = async (...texts) => {
    const replaced = await inner.replace(...texts);
    stored += Number(replaced);
    return replaced;
  };
  const store = { read: inner.read, replace };
  const person = participant(survey, { store });
  assert.equal(await person.recall(), null);
  const prepared = await person.prepare("firefox");
  assert.equal(stored, 1);
  assert.equal(prepared.state, "drawn");
  assert.ok((await textOf(inner)).includes(Buffer.from(prepared.batch).toString("hex")));
  assert.deepEqual((await participant(survey, { store }).prepare("edge")).batch, prepared.batch);
  assert.deepEqual((await person.recall()).batch, prepared.batch);
  assert.equal(server.posts().length, 0);
  assert.equal(await flush({ store }), 0); // nobody has said that it is to be sent
  assert.equal(server.posts().length, 0);
  assert.equal((await person.send()).state, "sent");
  assert.equal(server.posts()[0].headers["idempotency-key"], prepared.key);
});

test("a store that fails spends and sends nothing", async (t) => {
  const { server, survey } = await started(t);
  const broken = { read: async () => null, replace: async () => Promise.reject(new FldpError("the disk is full")) };
  await assert.rejects(participant(survey, { store: broken }).answer("firefox"), /the disk is full/);
  assert.equal(server.posts().length, 0);
});

test("the truth is not stored", async (t) => {
  const { survey } = await started(t);
  for (const label of LABELS) {
    const store = memoryStore();
    await participant(survey, { store }).answer(label);
    const text = await textOf(store);
    const [row] = JSON.parse(text).answers;
    assert.ok(!LABELS.some((word) => JSON.stringify(row).includes(word)), text);
    const known = [
      "batch",
      "check",
      "day",
      "epsilon",
      "eta",
      "key",
      "labels",
      "name",
      "origin",
      "path",
      "size",
      "state",
      "topic",
      "version",
    ];
    assert.deepEqual(Object.keys(row).sort(), known);
  }
});

/** A store that takes its time, so that others come in between. */
function slow(store) {
  const pause = () => new Promise((resolve) => setTimeout(resolve, Math.random() * 5));
  return {
    read: () => pause().then(store.read),
    replace: (before, after) => pause().then(() => store.replace(before, after)),
  };
}

test("many tabs at once answer once", async (t) => {
  const { server, survey } = await started(t, { oracle: { name: "olh", epsilon: 1 } });
  const store = slow(memoryStore());
  const tabs = LABELS.flatMap((label) => [1, 2].map(() => participant(survey, { store }).answer(label)));
  const answers = await Promise.all(tabs);
  assert.equal(new Set(answers.map(({ key }) => key)).size, 1);
  assert.equal(answers.filter(({ repeated }) => !repeated).length, 1);
  assert.equal(new Set(server.posts().map(({ body, headers }) => body + headers["idempotency-key"])).size, 1);
  assert.equal(JSON.parse(await textOf(store)).answers.length, 1);
});

test("a damaged ledger is refused and left alone", async (t) => {
  const { server, survey } = await started(t);
  const good = memoryStore();
  await participant(survey, { store: good }).answer("firefox");
  const text = await textOf(good);
  const row = JSON.parse(text).answers[0];
  const [format, born] = ["fldp-ledger-2", "2026-11-01"];
  const changed = (changes) => JSON.stringify({ format, born, answers: [{ ...row, ...changes }] });
  const wrong = [
    "",
    "{",
    "null",
    "[]",
    "{}",
    text.slice(0, -3),
    text.replace("ledger-2", "ledger-3"),
    changed({ epsilon: -1 }),
    changed({ epsilon: null }),
    changed({ eta: 2 }),
    changed({ eta: "1" + "/2" }),
    changed({ origin: 5 }),
    changed({ key: "0".repeat(64) }),
    changed({ batch: row.batch.replace(/..$/, "00") }),
    changed({ check: "" }),
    changed({ size: null }),
    JSON.stringify({ format, born, answers: [], refusals: { a: -1 } }),
    JSON.stringify({ format, born, answers: [], refusals: { a: "often" } }),
    JSON.stringify({ format: "fldp-ledger-1", answers: [{ ...row, epsilon: -1 }] }),
    JSON.stringify({ format, answers: [row] }),
  ];
  const before = server.posts().length;
  for (const bad of wrong) {
    const store = memoryStore();
    await store.replace(null, bad);
    await assert.rejects(participant(survey, { store }).answer("firefox"), /damaged; restore a copy/, bad);
    assert.equal(await textOf(store), bad);
  }
  assert.equal(server.posts().length, before);
});

test("a failed attempt is repeated with the same key and body", async (t) => {
  const { server, survey } = await started(t);
  const delays = withoutWaiting(t);
  server.plan.push(
    "cut",
    { status: 503, headers: { "retry-after": "7" } },
    { status: 429 },
    { status: 502 },
    { status: 504 },
  );
  const answer = await participant(survey, { store: memoryStore() }).answer("firefox");
  assert.equal(answer.state, "sent");
  assert.equal(server.posts().length, 6);
  assert.equal(new Set(server.posts().map(({ body, headers }) => body + headers["idempotency-key"])).size, 1);
  const waits = delays.filter((delay) => delay % 1); // not those of fetch, which are whole
  assert.ok(
    waits[0] <= 500 && waits[1] >= 7000 && waits[1] <= 8000 && waits[2] <= 2000 && waits[4] <= 8000,
    String(waits),
  );
});

test("it waits neither longer nor more often than is reasonable, and sends it later", async (t) => {
  const { server, survey } = await started(t);
  withoutWaiting(t);
  const store = memoryStore();
  server.plan.push({ status: 503, headers: { "retry-after": "3600" } });
  const person = participant(survey, { store });
  assert.equal((await person.answer("firefox")).state, "queued");
  assert.equal(server.posts().length, 1);
  server.plan.push(...Array(6).fill({ status: 503 }));
  assert.equal(await flush({ store }), 1);
  assert.equal(server.posts().length, 7);
  assert.equal(await flush({ store }), 0);
  assert.equal((await person.recall()).state, "sent");
  assert.equal(new Set(server.posts().map(({ body, headers }) => body + headers["idempotency-key"])).size, 1);
  assert.equal(await flush({ store }), 0);
  assert.equal(server.posts().length, 8);
});

test("without a connection it is queued, and sent when the browser is online again", async (t) => {
  const { server, survey } = await started(t);
  withoutWaiting(t);
  const store = memoryStore();
  server.plan.push(...Array(6).fill("cut"));
  assert.equal((await participant(survey, { store }).answer("firefox")).state, "queued");
  const events = new EventTarget();
  globalThis.addEventListener = events.addEventListener.bind(events);
  globalThis.removeEventListener = events.removeEventListener.bind(events);
  t.after(() => {
    delete globalThis.addEventListener;
    delete globalThis.removeEventListener;
  });
  server.plan.push(...Array(6).fill("cut"));
  const stop = flushWhenOnline({ store });
  while (server.posts().length < 12) await new Promise((resolve) => setImmediate(resolve));
  events.dispatchEvent(new Event("online"));
  while ((await participant(survey, { store }).recall()).state !== "sent")
    await new Promise((resolve) => setImmediate(resolve));
  stop();
  events.dispatchEvent(new Event("online"));
  assert.equal(server.posts().length, 13);
});

test("what is refused is said, costs no second draw, and can be sent later", async (t) => {
  const { server, survey } = await started(t);
  const store = memoryStore();
  for (const status of [400, 401, 403, 409, 410, 413, 422, 500]) {
    server.plan.push({ status, body: { detail: "line\n\u001b[31mtwo" } });
    const refused = participant(survey, { store }).answer("firefox");
    if (status < 500) {
      await assert.rejects(refused, (error) => {
        assert.ok(error instanceof CollectorError && error.status === status && error.refused);
        return !["\n", "\u001b"].some((control) => error.message.includes(control));
      });
      assert.equal((await participant(survey, { store }).recall()).state, "drawn");
    } else assert.equal((await refused).state, "queued"); // perhaps the collector has counted it
  }
  for (const body of ["<html>", "{}", '{"accepted":2}', "[]", "null"]) {
    server.plan.push({ status: 200, body });
    await assert.rejects(participant(survey, { store }).answer("firefox"), CollectorError, body);
  }
  assert.equal((await participant(survey, { store }).answer("firefox")).state, "sent");
  assert.equal(new Set(server.posts().map(({ body, headers }) => body + headers["idempotency-key"])).size, 1);
});

test("a redirect is not followed", async (t) => {
  const { server, survey } = await started(t);
  const { server: other } = await started(t);
  server.plan.push({ status: 307, headers: { location: `${other.url}/elsewhere` } });
  const named = {
    name: "CollectorError",
    message: `${server.url}: answers with a redirect, which is not followed; use its new address`,
  };
  await assert.rejects(participant(survey, { store: memoryStore() }).answer("firefox"), named);
  assert.equal(other.seen.length, 0);
});

test("a ticket goes along, is kept no longer than needed, and goes over no open line", async (t) => {
  const { server, survey } = await started(t, { collect: { submit: "ticket" } });
  withoutWaiting(t);
  const store = memoryStore();
  await assert.rejects(participant(survey, { store }).answer("firefox"), /takes answers with a ticket/);
  assert.equal(await store.read(), null);
  server.plan.push(...Array(6).fill("cut"));
  await participant(survey, { store }).answer("firefox", { ticket: "fldp_ticket_a" });
  assert.ok((await textOf(store)).includes("fldp_ticket_a"));
  await flush({ store });
  assert.equal(server.posts().at(-1).headers["fldp-ticket"], "fldp_ticket_a");
  assert.ok(!(await textOf(store)).includes("fldp_ticket"));
  const open = await Survey.of(specification({ collect: { submit: "ticket" } }), "http://collector.example", every);
  for (const [asked, ticket] of [
    [open, "fldp_ticket_a"],
    [survey, "bad\nticket"],
    [survey, ""],
  ]) {
    await assert.rejects(participant(asked, { store: memoryStore() }).answer("firefox", { ticket }), (error) => {
      return error instanceof ParameterError && !(ticket && error.message.includes(ticket));
    });
  }
});

test("a token goes to the survey's collector only, and is not stored", async (t) => {
  const { server, survey } = await started(t, { collect: { submit: "token" } });
  const { server: other, survey: open } = await started(t, { name: "other" });
  withoutWaiting(t);
  const store = memoryStore();
  await assert.rejects(participant(survey, { store }).answer("firefox"), /takes answers with a token/);
  other.plan.push(...Array(6).fill("cut"));
  await participant(open, { store }).answer("firefox"); // queued for another collector
  server.plan.push(...Array(6).fill("cut"));
  const person = participant(survey, { store, token: "fldp_send_a" });
  assert.equal((await person.answer("firefox")).state, "drawn"); // not queued: nobody would know the token
  assert.equal(await flush({ store, token: "fldp_send_a" }), 0);
  assert.equal(other.posts().at(-1).headers.authorization, undefined);
  assert.equal(server.posts().length, 6);
  assert.equal((await person.send()).state, "sent");
  assert.equal(server.posts().at(-1).headers.authorization, "Bearer fldp_send_a");
  assert.ok(!(await textOf(store)).includes("fldp_send"));
});

test("what no survey may hold costs nothing, and is not shown", async (t) => {
  const { server, survey } = await started(t);
  const { survey: numbers } = await started(t, { labels: undefined, domain_size: 7 });
  const store = memoryStore();
  for (const label of ["", "lynx".repeat(300), "lynx\ud800", null, 1, ["lynx"], undefined]) {
    for (const asked of [survey, numbers]) {
      await assert.rejects(participant(asked, { store }).answer(label), (error) => {
        return error instanceof DomainError && !error.message.includes("lynx");
      });
    }
  }
  assert.equal(await store.read(), null);
  assert.equal(server.posts().length, 0);
});

test("what a survey lacks is answered like anything else: a refusal would tell the collector", async (t) => {
  const { server, survey } = await started(t, { oracle: { name: "grr", epsilon: 1 } });
  const { server: other, survey: numbers } = await started(t, { labels: undefined, domain_size: 7 });
  const plain = await participant(survey, { store: memoryStore() }).answer("firefox");
  for (const label of ["lynx", "Firefox", "1", "__proto__", "length", "e\u0301", "fire\0fox"]) {
    const store = memoryStore();
    const person = participant(survey, { store });
    const { batch, key, ...answer } = await person.answer(label);
    assert.deepEqual(answer, { state: "sent", repeated: false, notices: [], spent: plain.spent });
    assert.deepEqual([batch.length, key.length], [plain.batch.length, plain.key.length]);
    assert.ok(!(await textOf(store)).includes(JSON.stringify(label)));
    assert.deepEqual(await person.refusals(), {});
    await assert.rejects(
      survey.encode(label),
      (error) => error instanceof DomainError && !error.message.includes(label),
    );
  }
  for (const label of ["7", "-1", "01", "1.0", "1e0", " 1", "٣", "6", "Infinity", "NaN"]) {
    assert.equal((await participant(numbers, { store: memoryStore() }).answer(label)).state, "sent", label);
  }
  assert.deepEqual([server.posts().length, other.posts().length], [8, 10]);
  assert.equal(new Set(server.posts().map(({ body }) => body.length)).size, 1);
});

/** Answer a survey with hardly any noise, and return the label that was perturbed. */
async function perturbed(survey, label, program) {
  const limit = { maxEpsilon: 100, minEta: 0 };
  const limits = { topic: limit, origin: limit, total: limit };
  const { batch } = await participant(survey, { store: memoryStore(), limits, ...program }).prepare(label);
  return survey.label((await decode(batch, every)).reports[0][0]);
}

test("what a survey lacks is drawn as the label that the program names, else as any, all alike", async (t) => {
  const { survey } = await started(t, { oracle: { name: "grr", epsilon: 30 } });
  const [labels, otherwise] = [[...LABELS].reverse(), "other"];
  for (const [label, program, expected] of [
    ["edge", {}, "edge"],
    ["edge", { otherwise }, "edge"],
    ["lynx", { otherwise }, "other"],
    ["", { otherwise }, "other"],
    [null, { otherwise }, "other"],
    ["edge", { labels }, "edge"],
    ["lynx", { labels, otherwise }, "other"],
  ]) {
    assert.equal(await perturbed(survey, label, program), expected);
  }
  const [people, counts] = [2000, Object.fromEntries(LABELS.map((label) => [label, 0]))];
  for (let k = 0; k < people; k++) counts[await perturbed(survey, "lynx", k % 2 ? {} : { otherwise: "none" })]++;
  const most = 6.6 * Math.sqrt(people * 0.2 * 0.8); // a false alarm has a probability of at most 1e-9
  assert.ok(
    Object.values(counts).every((count) => Math.abs(count - people / 5) <= most),
    JSON.stringify(counts),
  );
});

test("a number at random is cut to size without favouring any: what is too large is drawn again", async (t) => {
  const { survey } = await started(t, {
    labels: undefined,
    domain_size: 3 * 2 ** 18,
    oracle: { name: "olh", epsilon: 1 },
  });
  const original = crypto.getRandomValues;
  t.after(() => (crypto.getRandomValues = original));
  const seen = [];
  survey.oracle.perturb = (value) => {
    seen.push(value);
    return [0n, 0];
  };
  const edge = 2 ** 32 - (2 ** 32 % (3 * 2 ** 18)); // the first number that would favour small values
  for (const [words, expected] of [
    [[edge - 1], 3 * 2 ** 18 - 1],
    [[edge, 2 ** 32 - 1, 7], 7],
    [[0], 0],
  ]) {
    crypto.getRandomValues = (bytes) => {
      if (bytes.length === 8 && words.length) new DataView(bytes.buffer).setUint32(0, words.shift());
      return bytes;
    };
    await participant(survey, { store: memoryStore() }).prepare("outside");
    assert.deepEqual([seen.pop(), words.length], [expected, 0]);
  }
});

test("labels that the program expects are compared whatever the answer, and each refusal is counted", async (t) => {
  const { server, survey } = await started(t);
  for (const labels of [LABELS.slice(1), [...LABELS, "lynx"], ["edge"], [...LABELS.slice(1), "Chrome"]]) {
    for (const label of ["edge", "lynx"]) {
      const store = memoryStore();
      const person = participant(survey, { store, labels, otherwise: labels[0] });
      await assert.rejects(person.answer(label), (error) => {
        return error instanceof BudgetError && /labels that the program expects$/.test(error.message);
      });
      assert.deepEqual([await person.refusals(), await person.rows()], [{ [server.url]: 1 }, []]);
    }
  }
  const { survey: numbers } = await started(t, { labels: undefined, domain_size: 5 });
  await assert.rejects(participant(numbers, { store: memoryStore(), labels: LABELS }).answer("edge"), BudgetError);
  const store = memoryStore();
  await assert.rejects(participant(survey, { store, labels: LABELS }).answer("lynx"), (error) => {
    return error instanceof DomainError && !error.message.includes("lynx");
  });
  assert.equal(await store.read(), null);
  for (const program of [{ otherwise: "" }, { otherwise: 7 }, { labels: LABELS, otherwise: "lynx" }, { labels: [7] }]) {
    assert.throws(() => participant(survey, { store, ...program }), ParameterError, JSON.stringify(program));
  }
  assert.equal(server.posts().length, 0);
});

test("every label takes the same steps: the collector orders them", async (t) => {
  const { survey } = await started(t);
  let reads = 0;
  const get = (target, key) => {
    reads += 1;
    return target[key];
  };
  const labels = new Proxy(LABELS, { get });
  Object.defineProperty(survey, "labels", { value: labels });
  const steps = new Set();
  for (const label of [...LABELS, "lynx"]) {
    reads = 0;
    await survey.find(label);
    steps.add(reads);
  }
  assert.equal(steps.size, 1);
});

test("a ledger of an earlier release keeps its answers, and knows a survey by its name too", async (t) => {
  const { server, survey } = await started(t, { oracle: { name: "grr", epsilon: 0.1 } });
  const store = memoryStore();
  const first = await participant(survey, { store }).answer("firefox");
  const text = await textOf(store);
  const old = text.replace('"name":"browser",', ""); // as rows were written without it
  assert.notEqual(old, text);
  await store.replace(text, old);
  const person = participant(survey, { store });
  assert.deepEqual(await person.refusals(), {});
  assert.deepEqual((await person.answer("edge")).batch, first.batch);
  assert.equal(await textOf(store), old); // what is only read stays as it is
  const changed = { labels: ["firefox", "chrome", "lynx"], topic: "another", oracle: { name: "grr", epsilon: 0.1 } };
  const renamed = participant(await server.publish(specification(changed)), { store });
  for (const count of [1, 2]) {
    await assert.rejects(renamed.answer("firefox"), /its labels have changed since .*: 5 then, 3 now/);
    assert.deepEqual(await renamed.refusals(), { [server.url]: count });
  }
  assert.deepEqual((await person.answer("edge")).batch, first.batch);
  assert.equal((await person.rows()).length, 1);
});

test("a survey that is not open costs nothing, and what was answered before can be repeated", async (t) => {
  const { server, survey } = await started(t);
  const store = memoryStore();
  const soon = "2999-01-01T00:00:00Z";
  const first = await participant(survey, { store }).answer("firefox");
  const same = await Survey.of(survey.specification, server.url, every, { state: "closed" });
  assert.deepEqual((await participant(same, { store }).answer("firefox")).batch, first.batch);
  for (const [collect, state] of [
    [{ opens: soon }, "open"],
    [{ closes: "2020-01-01T00:00:00Z" }, "open"],
    [{}, "closed"],
  ]) {
    const other = await Survey.of(specification({ name: "other", collect }), server.url, every, { state });
    await assert.rejects(
      participant(other, { store }).answer("firefox"),
      (error) => error instanceof BudgetError && /must be open/.test(error.message),
    );
  }
  assert.equal(JSON.parse(await textOf(store)).answers.length, 1);
});

test("what the person must know is shown before anything is drawn", async (t) => {
  const { server, survey } = await started(t, { oracle: { name: "grr", epsilon: 0.5 } });
  const store = memoryStore();
  await participant(survey, { store }).answer("firefox");
  const smaller = await server.publish(
    specification({ labels: ["firefox", "other"], oracle: { name: "grr", epsilon: 0.5 } }),
  );
  const person = participant(smaller, { store });
  await assert.rejects(
    person.answer("firefox"),
    /must be confirmed \(it has 2 labels, fewer than 3; its labels have changed since .*: 5 then, 2 now\): confirm is missing$/,
  );
  for (const no of [() => false, () => undefined, async () => false, () => 1]) {
    await assert.rejects(person.answer("firefox", { confirm: no }), /: declined$/);
  }
  assert.equal((await person.rows()).length, 1);
  const answer = await person.answer("firefox", { confirm: async (notices) => notices.length === 2 });
  assert.equal(answer.notices.length, 2);
  assert.deepEqual(answer.spent, { epsilon: "1", eta: 1, answers: 2 });
});

test("what changes while the person thinks is shown, too", async (t) => {
  const { server } = await started(t);
  const store = memoryStore();
  const grr = { name: "grr", epsilon: 0.1 };
  const two = await server.publish(specification({ labels: ["a", "b"], oracle: grr }));
  const three = await server.publish(specification({ labels: ["a", "b", "c"], oracle: grr }));
  const shown = [];
  const confirm = async (notices) => {
    if (shown.push(notices) === 1) await participant(three, { store }).answer("a");
    return true;
  };
  await participant(two, { store }).answer("a", { confirm });
  assert.deepEqual(
    shown.map(({ length }) => length),
    [1, 2],
  );
});

test("limits that are none are refused", async (t) => {
  const { survey } = await started(t);
  const limit = { maxEpsilon: 1, minEta: 1, maxAnswers: 1 };
  const wrong = [
    { topic: {} },
    { topic: { ...limit, maxEpsilon: NaN } },
    { origin: { ...limit, maxEpsilon: Infinity } },
    { total: { ...limit, minEta: 2 } },
    { topic: { ...limit, maxAnswers: 0 } },
    { minLabels: NaN },
    { minAnonymity: 0 },
    { topic: { ...limit, maxEpsilon: "2" } },
    { topic: { ...limit, minEta: null } },
    { minLabels: "3" },
  ];
  for (const limits of wrong) {
    assert.throws(() => participant(survey, { store: memoryStore(), limits }), ParameterError, JSON.stringify(limits));
  }
  participant(survey, { store: memoryStore(), limits: { topic: { maxEpsilon: 1, minEta: 1 } } });
});

test("without a store of the caller's Node has none, and nothing is drawn or sent", async (t) => {
  const { server, survey } = await started(t);
  await assert.rejects(participant(survey).answer("firefox"), /the browser's database cannot be used/);
  await assert.rejects(participant(survey, { store: undefined }).recall(), FldpError);
  await assert.rejects(flush(), FldpError);
  assert.equal(server.posts().length, 0);
});

test("what was sent stays sent, whatever happens to a second attempt", async (t) => {
  const { server, survey } = await started(t);
  const store = memoryStore();
  const person = participant(survey, { store });
  await person.prepare("firefox");
  const before = await store.read();
  await person.send();
  let reads = 0; // another tab has looked before that, and comes late
  const late = { replace: store.replace, read: async () => (reads++ ? store.read() : before) };
  server.plan.push({ status: 403 });
  await assert.rejects(participant(survey, { store: late }).send(), CollectorError);
  assert.equal((await person.recall()).state, "sent");
});

test("a survey that may be answered daily gets a new report each day, made of what was kept at first", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.parse("2026-11-01T12:00:00Z") });
  const oracle = { name: "rappor", epsilon: 1, epsilon_permanent: 2 };
  const asked = { labels: undefined, domain: "strings", oracle, collect: { repeat: "daily" } };
  const { server, survey } = await started(t, asked);
  const store = memoryStore();
  const person = participant(survey, { store });
  const first = await person.answer("https://example.org");
  const again = await person.answer("https://another.example");
  assert.deepEqual([again.batch, again.key, again.repeated, server.posts().length], [first.batch, first.key, true, 1]);
  assert.equal(first.spent.epsilon, "2"); // all days together, from the start

  t.mock.timers.setTime(Date.parse("2026-11-02T00:00:01Z"));
  const [next, same] = await Promise.all([person.recall(), participant(survey, { store }).recall()]);
  assert.deepEqual(same.batch, next.batch); // two tabs, one report
  assert.notDeepEqual(next.batch, first.batch);
  assert.notEqual(next.key, first.key);
  assert.deepEqual([next.state, next.spent], ["drawn", first.spent]);
  assert.deepEqual([next.repeated, same.repeated].sort(), [false, true]);
  assert.equal((await person.answer("whatever")).state, "sent");
  assert.equal(server.posts().length, 2);
  const [cohort] = (await decode(first.batch, every)).reports[0];
  assert.equal((await decode(next.batch, every)).reports[0][0], cohort);
  const { answers } = JSON.parse(await textOf(store));
  assert.equal(answers.length, 1);
  assert.equal(answers[0].basis[0], cohort);

  t.mock.timers.setTime(Date.parse("2026-11-01T00:00:00Z")); // a clock that goes back repeats
  assert.deepEqual((await person.recall()).batch, next.batch);
  t.mock.timers.setTime(Date.parse("2026-11-03T00:00:00Z"));
  const closed = await Survey.of(survey.specification, server.url, every, { state: "closed" });
  assert.deepEqual((await participant(closed, { store }).recall()).batch, next.batch);
  answers[0].basis[1] ^= 1;
  await store.replace(await store.read(), JSON.stringify({ format: "fldp-ledger-1", answers }));
  await assert.rejects(person.recall(), /is damaged/);
});

test("a survey that follows a value asks for the label each day, and reports it from what was kept before any", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.parse("2026-11-01T12:00:00Z") });
  const oracle = { name: "lwr", epsilon: 13.9, epsilon_permanent: 14 }; // hardly any noise: a report tells the parity
  const { server, survey } = await started(t, { oracle, collect: { repeat: "daily" } });
  const store = memoryStore();
  const wide = { maxEpsilon: 100, minEta: 0 };
  const limits = { topic: wide, origin: wide, total: wide };
  const person = participant(survey, { store, limits });
  const kept = async () => JSON.parse(await textOf(store)).answers.map(({ basis }) => basis);
  const first = await person.answer(LABELS[0]);
  const basis = await kept();
  assert.equal(first.spent.epsilon, "28"); // two symbols, all days together, from the start
  for (const label of LABELS) {
    const again = await person.answer(label);
    assert.deepEqual([again.batch, again.key, again.repeated], [first.batch, first.key, true]);
  }
  for (const [k, label] of [...LABELS, ...LABELS].entries()) {
    t.mock.timers.setTime(Date.parse(`2026-11-${String(k + 2).padStart(2, "0")}T00:00:01Z`));
    const before = await person.recall();
    assert.equal(before.repeated, true); // nobody has said what the label is today
    const tabs = await Promise.all([label, label].map((text) => participant(survey, { store, limits }).prepare(text)));
    assert.deepEqual(tabs[0].batch, tabs[1].batch); // two tabs, one report
    assert.notEqual(tabs[0].key, before.key);
    assert.deepEqual(tabs.map(({ repeated }) => repeated).sort(), [false, true]);
    const answer = await person.answer(LABELS[0]);
    assert.deepEqual([answer.key, answer.state, answer.spent], [tabs[0].key, "sent", first.spent]);
    const [report] = (await decode(answer.batch, every)).reports;
    assert.equal(survey.oracle.likely(report)(LABELS.indexOf(label)), 1); // wrong in one case of 100,000
    assert.deepEqual(await kept(), basis);
  }
  assert.equal(new Set(server.posts().map(({ headers }) => headers["idempotency-key"])).size, 1 + 2 * LABELS.length);
});

test("an acknowledgement marks the report that it is for, by its key, and not the one of another day", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.parse("2026-11-01T23:59:00Z") });
  const oracle = { name: "rappor", epsilon: 1, epsilon_permanent: 2 };
  const asked = { labels: undefined, domain: "strings", oracle, collect: { repeat: "daily" } };
  const { server, survey } = await started(t, asked);
  withoutWaiting(t);
  const store = memoryStore();
  const person = participant(survey, { store });
  const original = globalThis.fetch;
  t.after(() => (globalThis.fetch = original));
  let day = 1;
  const midnight = async (...request) => {
    const response = await original(...request); // on its way when the day ends, and another tab draws the next report
    t.mock.timers.setTime(Date.parse(`2026-11-0${++day}T00:00:01Z`));
    await participant(survey, { store }).recall();
    return response;
  };
  const first = await person.prepare("https://example.org");
  globalThis.fetch = midnight;
  const second = await person.send();
  assert.notEqual(second.key, first.key);
  assert.equal(second.state, "drawn"); // the second day's was never sent

  globalThis.fetch = original;
  server.plan.push(...Array(6).fill("cut"));
  assert.equal((await person.send()).state, "queued");
  globalThis.fetch = midnight;
  await flush({ store });
  globalThis.fetch = original;
  assert.equal((await person.recall()).state, "drawn"); // nor the third day's

  const third = await person.send();
  assert.equal(third.state, "sent");
  const keys = new Set(server.posts().map(({ headers }) => headers["idempotency-key"]));
  assert.deepEqual(keys, new Set([first.key, second.key, third.key])); // each day's report has arrived
});
