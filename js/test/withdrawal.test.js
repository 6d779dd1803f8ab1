// Taking an answer back: under the same key and bytes, once or often, now or when there is a connection.
import assert from "node:assert/strict";
import { test } from "node:test";
import { BudgetError, CollectorError, FldpError, flush, memoryStore, participant } from "../dist/index.js";
import { collector, specification, withoutWaiting } from "./collector.js";

async function started(t, changes) {
  const server = await collector();
  t.after(server.close);
  return { server, survey: await server.publish(specification(changes)), store: memoryStore() };
}

/** A promise that is kept when somebody says so. */
function later() {
  let resolve;
  const promise = new Promise((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

test("the same key and bytes go to the other route, and the answer is given no more", async (t) => {
  const { server, survey, store } = await started(t);
  const person = participant(survey, { store });
  const sent = await person.answer("firefox");
  const taken = await person.withdraw();
  assert.deepEqual([taken.state, taken.batch, taken.key], ["withdrawn", sent.batch, sent.key]);
  assert.deepEqual(taken.spent, sent.spent); // it was seen
  const [first, second] = server.posts();
  assert.equal(second.path, `/v1/versions/${survey.version}/withdrawals`);
  assert.equal(second.body, first.body);
  assert.equal(second.headers["idempotency-key"], first.headers["idempotency-key"]);
  await assert.rejects(person.answer("firefox"), BudgetError);
  await assert.rejects(person.send(), FldpError);
  assert.equal((await person.recall()).state, "withdrawn");
  assert.equal(server.posts().length, 2);
  assert.equal((await person.withdraw()).state, "withdrawn"); // twice is the same as once
  assert.equal(await flush({ store }), 0);
  assert.equal(server.posts().length, 3);
});

test("without a connection it is kept, and done by the next flush", async (t) => {
  withoutWaiting(t);
  const { server, survey, store } = await started(t);
  const person = participant(survey, { store });
  await person.answer("firefox");
  server.plan.push(...Array(20).fill("cut"));
  assert.equal((await person.withdraw()).state, "withdrawing");
  await assert.rejects(person.answer("firefox"), BudgetError);
  server.plan.length = 0;
  assert.equal(await flush({ store }), 0);
  assert.equal((await person.recall()).state, "withdrawn");
  assert.ok(server.posts().every(({ path }, index) => path.endsWith(index ? "/withdrawals" : "/reports")));
});

test("a refusal is an error, and it stays to be withdrawn", async (t) => {
  const { server, survey, store } = await started(t);
  const person = participant(survey, { store });
  await assert.rejects(person.withdraw(), /has no answer to take back/);
  await person.answer("firefox");
  server.plan.push({ status: 409 });
  await assert.rejects(person.withdraw(), CollectorError);
  assert.equal((await person.recall()).state, "withdrawing");
  server.plan.push({ status: 200, body: { accepted: 1 } }); // not what a collector says to this
  await assert.rejects(person.withdraw(), /was not taken back/);
  assert.equal((await person.withdraw()).state, "withdrawn");
});

test("what is queued can be taken back before it was sent, and is not sent then", async (t) => {
  withoutWaiting(t);
  const { server, survey, store } = await started(t);
  const person = participant(survey, { store });
  server.plan.push(...Array(20).fill("cut"));
  assert.equal((await person.answer("firefox")).state, "queued");
  server.plan.length = 0;
  const before = server.posts().length;
  assert.equal((await person.withdraw()).state, "withdrawn");
  assert.equal(await flush({ store }), 0);
  assert.deepEqual(
    server
      .posts()
      .slice(before)
      .map(({ path }) => path.split("/").pop()),
    ["withdrawals"],
  );
});

test("an acknowledgement that comes late does not undo what was taken back meanwhile", async (t) => {
  const { server, survey, store } = await started(t);
  const [arrived, released] = [later(), later()];
  const { fetch } = globalThis;
  t.mock.method(globalThis, "fetch", async (url, request) => {
    const reply = await fetch(url, request);
    if (!String(url).endsWith("/reports")) return reply;
    arrived.resolve();
    await released.promise;
    return reply;
  });
  const answering = participant(survey, { store }).answer("firefox");
  await arrived.promise;
  const elsewhere = participant(survey, { store }); // in another tab
  assert.equal((await elsewhere.withdraw()).state, "withdrawn");
  released.resolve();
  assert.equal((await answering).state, "withdrawn");
  assert.equal((await elsewhere.recall()).state, "withdrawn");
  assert.equal(await flush({ store }), 0);
  assert.equal(server.posts().length, 2);
});

test("of a survey that is answered daily, the reports of all days are taken back", async (t) => {
  const { server, survey, store } = await started(t, {
    oracle: { name: "rappor", epsilon: 1, epsilon_permanent: 2 },
    domain: "strings",
    labels: undefined,
    collect: { repeat: "daily" },
  });
  const person = participant(survey, { store });
  const days = ["2026-11-01", "2026-11-02", "2026-11-05"];
  t.mock.timers.enable({ apis: ["Date"] });
  for (const day of days) {
    t.mock.timers.setTime(Date.parse(`${day}T12:00:00Z`));
    assert.equal((await person.answer("firefox")).state, "sent");
  }
  t.mock.timers.setTime(Date.parse("2026-11-09T12:00:00Z"));
  const sent = server.posts().map(({ body }) => body);
  assert.equal((await person.withdraw()).state, "withdrawn");
  const taken = server.posts().slice(sent.length);
  assert.ok(taken.every(({ path }) => path.endsWith("/withdrawals")));
  assert.deepEqual(
    taken.map(({ body }) => body),
    sent.toReversed(),
  );
  assert.equal((await person.recall()).state, "withdrawn"); // no report of another day is drawn any more
  assert.equal(server.posts().length, 2 * sent.length);
});

test("what was taken back is not answered in a later month, and all months are taken back together", async (t) => {
  const { server, survey, store } = await started(t, {
    oracle: { name: "grr", epsilon: 0.5 },
    collect: { repeat: "monthly" },
  });
  t.mock.timers.enable({ apis: ["Date"], now: Date.parse("2026-11-16") });
  const person = participant(survey, { store });
  const first = await person.answer("firefox");
  t.mock.timers.setTime(Date.parse("2026-12-16"));
  const second = await person.answer("firefox");
  assert.notEqual(first.key, second.key);
  t.mock.timers.setTime(Date.parse("2027-01-16"));
  assert.equal((await person.withdraw()).state, "withdrawn");
  const taken = server.posts().filter(({ path }) => path.endsWith("/withdrawals"));
  assert.deepEqual(
    taken.map(({ headers }) => headers["idempotency-key"]),
    [first.key, second.key],
  );
  await assert.rejects(person.answer("firefox"), { name: "BudgetError", message: /was withdrawn/ });
  assert.equal((await person.rows()).length, 2);
});

test("a report that is refused does not keep the others, of other days or other months", async (t) => {
  const daily = {
    oracle: { name: "rappor", epsilon: 1, epsilon_permanent: 2 },
    domain: "strings",
    labels: undefined,
    collect: { repeat: "daily" },
  };
  const monthly = { oracle: { name: "grr", epsilon: 0.5 }, collect: { repeat: "monthly" } };
  for (const changes of [daily, monthly]) {
    const { server, survey, store } = await started(t, changes);
    const person = participant(survey, { store });
    t.mock.timers.enable({ apis: ["Date"], now: Date.parse("2026-11-16") });
    for (const day of ["2026-11-16", "2026-12-16"]) {
      t.mock.timers.setTime(Date.parse(day));
      await person.answer("firefox");
    }
    server.plan.push({ status: 409 });
    await assert.rejects(person.withdraw(), CollectorError);
    assert.equal(server.posts().length, 4);
    await assert.rejects(person.answer("firefox"), { name: "BudgetError", message: /was withdrawn/ });
    assert.equal((await person.withdraw()).state, "withdrawn");
    assert.ok((await person.rows()).every(({ state }) => state === "withdrawn"));
    t.mock.timers.reset();
  }
});
