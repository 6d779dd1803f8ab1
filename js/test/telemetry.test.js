// Telemetry: nothing without a yes, one report a period whatever happens on the way, and nobody's problem.
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { memoryStore } from "../dist/index.js";
import { setup } from "../dist/telemetry.js";
import * as node from "../dist/telemetry_node.js";

const METRICS = JSON.parse(readFileSync(new URL("metrics.json", import.meta.url), "utf8"));
const CHILD = fileURLToPath(new URL("telemetry_child.js", import.meta.url));
const MARKS = ["FLDP_TELEMETRY", "DO_NOT_TRACK", "CI", "GITHUB_ACTIONS", "GITLAB_CI", "BUILDKITE", "TF_BUILD"];
const MONTHS = ["2026-01-10", "2026-02-10", "2026-03-10"];

/** The metrics, with one alone if it is named, and other changes. */
function declared(changes = {}, name = undefined) {
  const metric = name ? { [name]: METRICS.metric[name] } : METRICS.metric;
  return { ...METRICS, ...changes, metric };
}

function at(t, day) {
  t.mock.timers.reset();
  t.mock.timers.enable({ apis: ["Date"], now: Date.parse(day) });
}

const newPlaces = () => ({ state: memoryStore(), ledger: memoryStore() });
const stateOf = async ({ state }) => JSON.parse(await state.read());
const chargesOf = async ({ ledger }) => JSON.parse(await ledger.read()).answers;

/** Run a program once: what is over ends, values are recorded, and all is stored. */
async function run(places, metrics, values = {}, options = {}) {
  const telemetry = await setup(metrics, { places, ...options });
  await telemetry.flush(600);
  for (const [name, value] of Object.entries(values)) telemetry.record(name, value);
  await telemetry.end();
  return telemetry;
}

/** A folder, in which a program in Node keeps everything, in an environment without any marks. */
function home(t, variables = {}) {
  const folder = mkdtempSync(join(tmpdir(), "fldp-telemetry-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const env = { ...process.env, XDG_STATE_HOME: join(folder, "state"), XDG_CONFIG_HOME: join(folder, "config") };
  for (const name of [...MARKS, "JENKINS_URL", "TEAMCITY_VERSION"]) delete env[name];
  return { folder, env: { ...env, ...variables } };
}

/** Every file below a folder. */
const filesIn = (folder) =>
  readdirSync(folder, { recursive: true }).filter((name) => statSync(join(folder, name)).isFile());

/** Run the child: a program that records, and says what is true. */
const child = (env, ...given) =>
  JSON.parse(execFileSync(process.execPath, [CHILD, ...given], { env, encoding: "utf8" }) || "null");

test("a report is drawn when a period is over, charged, and sent once when it is due", async (t) => {
  const [places, sent] = [newPlaces(), []];
  t.mock.method(globalThis, "fetch", async (url, request) => {
    sent.push([
      url,
      request.headers["Idempotency-Key"],
      Buffer.from(request.body).toString("hex"),
      request.credentials,
      request.redirect,
    ]);
    return new Response('{"accepted": 1}');
  });
  const metrics = declared({}, "theme");
  for (const day of [MONTHS[0], MONTHS[1], "2026-02-20", "2026-02-21"]) {
    at(t, day);
    await run(places, metrics, day === MONTHS[0] ? { theme: "dark" } : {});
  }
  const { reports, periods } = await stateOf(places);
  const [{ key, body, due, ...report }] = reports;
  assert.deepEqual(
    [report.period, report.metric, report.state, report.sent, report.tries],
    ["2026-01", "theme", "sent", "2026-02-20T00:00:00Z", 1],
  );
  assert.ok(due >= "2026-02-10" && due < "2026-02-13");
  const address = `${METRICS.collector}/v1/versions/${METRICS.versions.theme}/reports`;
  assert.deepEqual(sent, [[address, key, body, "omit", "manual"]]); // no cookies, and never to where somebody else says
  assert.deepEqual(periods[0], { period: "2026-01", metric: "theme", done: true });
  assert.deepEqual(
    (await chargesOf(places)).map(({ epsilon, eta, epoch, renews }) => [epsilon, eta, epoch, renews]),
    [[2, 1, "2026-02", true]],
  );
});

test("what has ended stores nothing any more, also of what it had recorded a moment before", async (t) => {
  const places = newPlaces();
  t.mock.timers.enable({ apis: ["Date", "setTimeout"], now: Date.parse(MONTHS[0]) });
  const telemetry = await setup(declared(), { places });
  await telemetry.flush(600);
  telemetry.record("theme", "dark");
  await telemetry.end();
  const stored = await places.state.read();
  assert.match(stored, /dark/);
  t.mock.timers.tick(31 * 86_400_000); // a month without it
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(await places.state.read(), stored);
});

test("the law of the lot is exactly the weights: every place below their sum is one metric's", async (t) => {
  const drawn = [];
  const random = crypto.getRandomValues.bind(crypto);
  for (let place = 0; place < 4; place++) {
    const places = newPlaces();
    at(t, MONTHS[0]);
    await run(places, declared());
    at(t, MONTHS[1]);
    let isFirst = true; // what is drawn first is the lot: one word of 32 bits
    t.mock.method(crypto, "getRandomValues", (bytes) => {
      if (!isFirst) return random(bytes);
      isFirst = false;
      new DataView(bytes.buffer).setUint32(0, place);
      return bytes;
    });
    const { trouble } = await run(places, declared());
    t.mock.restoreAll();
    assert.equal(trouble, ""); // else another lot is drawn in a later round
    drawn.push((await stateOf(places)).periods[0].metric);
  }
  assert.deepEqual(drawn.sort(), ["startup", "startup", "sync", "theme"]);
});

/** Return stores that die at the write of a number: before it, or after it. From then on nothing reaches them. */
function doomed(places, left, isBefore) {
  const count = { left };
  const killed = () => Promise.reject(new Error("killed"));
  const dying = ({ read, replace }) => ({
    read: () => (count.left > 0 ? read() : killed()),
    replace: async (before, after) => {
      if (count.left <= 0) return killed();
      count.left -= 1;
      if (count.left > 0) return replace(before, after);
      if (!isBefore) await replace(before, after);
      return killed();
    },
  });
  return { count, stores: { state: dying(places.state), ledger: dying(places.ledger) } };
}

test("killed at every write, nothing is drawn twice", async (t) => {
  t.mock.method(globalThis, "fetch", () => Promise.reject(new TypeError("nobody is there")));
  const metrics = declared({ epsilon: 1 });
  for (const isBefore of [true, false]) {
    for (let step = 1, isOver = false; !isOver; step++) {
      const places = newPlaces();
      const dying = doomed(places, step, isBefore);
      for (const day of MONTHS) {
        at(t, day);
        await run(dying.stores, metrics, { startup: 10 });
        if (dying.count.left <= 0) break;
      }
      isOver = dying.count.left > 0;
      const [text, ledger] = [await places.state.read(), await places.ledger.read()];
      const [known, charged] = [JSON.parse(text)?.reports ?? [], JSON.parse(ledger)?.answers ?? []];
      const lots = new Map((JSON.parse(text)?.periods ?? []).map(({ period, metric }) => [period, metric]));
      for (const day of MONTHS) {
        at(t, day);
        await run(places, metrics, { startup: 10 }); // the program goes on, by a clock that was put back
      }
      const { reports, periods } = await stateOf(places);
      const rows = await chargesOf(places);
      assert.deepEqual(
        reports.map(({ period }) => period),
        ["2026-01", "2026-02"],
      );
      for (const { key, body, period } of known)
        assert.deepEqual(
          reports.filter((each) => each.period === period).map((each) => [each.key, each.body]),
          [[key, body]],
        );
      for (const { period, metric } of periods) assert.equal(lots.get(period) ?? metric, metric);
      assert.deepEqual(
        rows.slice(0, charged.length).map(({ version, epoch }) => [version, epoch]),
        charged.map(({ version, epoch }) => [version, epoch]),
      );
      assert.ok(rows.length <= 2);
      if (isOver) assert.ok(step > 6);
    }
  }
});

test("tabs at once draw one report, and what they record adds up, whatever the store says", async (t) => {
  const pages = { kind: "number", take: "sum", edges: [10, 100], weight: 1, why: "w", owner: "o", expires: "" };
  const survey = { ...METRICS.surveys.startup, name: "paint-pages" };
  const metrics = { ...METRICS, metric: { pages }, surveys: { pages: survey }, versions: {} };
  const places = newPlaces();
  const { replace } = places.state;
  let count = 0;
  const denying = async (before, after) => (await replace(before, after)) && count++ % 3 > 0; // it stored, and says no
  const shared = { ...places, state: { ...places.state, replace: denying } };
  at(t, MONTHS[0]);
  await Promise.all(Array.from({ length: 6 }, () => run(shared, metrics, { pages: 5 })));
  assert.deepEqual((await stateOf(places)).periods[0].values, [["pages", [["", 30]]]]);
  at(t, MONTHS[1]);
  await Promise.all(Array.from({ length: 6 }, () => run(shared, metrics)));
  assert.equal((await stateOf(places)).reports.length, 1);
  assert.equal((await chargesOf(places)).length, 1);
});

test("processes at once draw one report, and what they record adds up", async (t) => {
  const { folder, env } = home(t, { FLDP_TELEMETRY: "on" });
  const many = (day, count) =>
    Promise.all(
      Array.from({ length: count }, () =>
        promisify(execFile)(process.execPath, [CHILD, day, "startup", "250"], { env }),
      ),
    );
  await many(MONTHS[0], 4);
  const view = child(env, MONTHS[0], "view");
  assert.deepEqual(view.values.startup.kept, { "200 to 400 ms": 4 });
  await many(MONTHS[1], 4);
  const after = child(env, MONTHS[1], "view");
  assert.equal(after.reports.length, 1);
  assert.match(after.spent.collector, /, 1 answer \(/);
  for (const name of filesIn(folder)) assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600);
});

test("DO_NOT_TRACK, CI and off: nothing is stored, and nothing is sent", async (t) => {
  const seen = [];
  const server = createServer((request, response) => response.end(String(seen.push(request.url))));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const collector = `http://127.0.0.1:${server.address().port}`;
  const program = (env, day) =>
    promisify(execFile)(
      process.execPath,
      [CHILD, day, "startup", "250", JSON.stringify({ collector, default: "on" })],
      { env },
    );
  const [silent, loud] = [
    [{ DO_NOT_TRACK: "yes" }, { TF_BUILD: "1" }, { FLDP_TELEMETRY: "maybe" }],
    [{ DO_NOT_TRACK: "0", CI: "false" }],
  ];
  for (const variables of [...silent, ...loud]) {
    const { folder, env } = home(t, variables);
    for (const day of [MONTHS[0], MONTHS[1], "2026-02-20"]) {
      const { stdout } = await program(env, day);
      assert.equal(JSON.parse(stdout).mode, silent.includes(variables) ? "off" : "on", JSON.stringify(variables));
    }
    assert.deepEqual(
      [filesIn(folder).length > 0, seen.splice(0).length],
      loud.includes(variables) ? [true, 1] : [false, 0],
    );
  }
});

test("local keeps values on the machine: nothing is drawn, charged or sent until the person says yes", async (t) => {
  const [places, sent] = [newPlaces(), []];
  t.mock.method(globalThis, "fetch", async (url) => sent.push(url) && new Response('{"accepted": 1}'));
  const local = declared({ default: "local" }, "theme");
  for (const day of [...MONTHS, "2026-03-20"]) {
    at(t, day);
    await run(places, local, { theme: "dark" });
  }
  const { reports, periods } = await stateOf(places);
  assert.deepEqual([reports, sent, await places.ledger.read()], [[], [], null]);
  assert.deepEqual(
    periods.map(({ period, metric, why }) => [period, metric, why]),
    [
      ["2026-01", undefined, "telemetry was local: nothing is reported"],
      ["2026-02", undefined, undefined],
      ["2026-03", undefined, undefined],
    ],
  );
});

test("a report that waits is not sent while the mode is local", async (t) => {
  const [places, sent] = [newPlaces(), []];
  t.mock.method(globalThis, "fetch", async (url) => sent.push(url) && new Response('{"accepted": 1}'));
  for (const [day, mode, count] of [
    [MONTHS[0], "on", 0],
    [MONTHS[1], "on", 0],
    ["2026-02-20", "local", 0],
    ["2026-02-21", "on", 1],
  ]) {
    at(t, day);
    await run(places, declared({ default: mode }, "theme"));
    assert.equal(sent.length, count, day);
  }
});

test("a program that runs heeds what the person says meanwhile, in another tab", async (t) => {
  const [places, sent] = [newPlaces(), []];
  t.mock.method(globalThis, "fetch", async (url) => sent.push(url) && new Response('{"accepted": 1}'));
  const metrics = declared({}, "theme");
  for (const day of MONTHS.slice(0, 2)) {
    at(t, day);
    await run(places, metrics, { theme: "dark" });
  }
  const [running, other] = [await setup(metrics, { places }), await setup(metrics, { places })];
  await running.flush(600);
  at(t, "2026-02-20"); // its report is due
  await other.choose("local");
  assert.equal(await running.flush(600), true);
  assert.deepEqual([running.mode, sent], ["local", []]);
  await other.choose("off");
  running.record("theme", "light");
  await running.flush(600);
  running.record("theme", "light");
  await Promise.all([running.end(), other.end()]);
  assert.deepEqual([running.mode, sent], ["off", []]);
  assert.ok((await stateOf(places)).periods.every(({ values }) => values === undefined));
});

test("a view waits for values that are being stored", async (t) => {
  const { env } = home(t);
  for (let time = 0; time < 3; time++)
    assert.equal(child(env, MONTHS[0], "look", "250").values.startup.would_report, "200 to 400 ms");
});

test("what is taken back is taken back once, and what waits is never sent", async (t) => {
  const [places, asked] = [newPlaces(), []];
  let isThere = true;
  t.mock.method(globalThis, "fetch", async (url, { headers, body }) => {
    if (!isThere) throw new TypeError("nobody is there");
    asked.push([url.split("/").at(-1), headers["Idempotency-Key"], Buffer.from(body).toString("hex")]);
    return new Response(url.endsWith("/reports") ? '{"accepted": 1}' : '{"withdrawn": 1}');
  });
  const metrics = declared({}, "theme");
  for (const day of [MONTHS[0], MONTHS[1], "2026-02-20", MONTHS[2]]) {
    at(t, day);
    await run(places, metrics, { theme: "dark" });
  }
  const drawn = (await stateOf(places)).reports;
  assert.deepEqual(
    drawn.map(({ state }) => state),
    ["sent", "waiting"],
  );
  const states = async () => (await stateOf(places)).reports.map(({ state }) => state);
  const telemetry = await setup(metrics, { places });
  isThere = false;
  assert.equal(await telemetry.withdraw(), 2);
  assert.deepEqual(await states(), ["withdrawing", "withdrawing"]);
  isThere = true;
  for (const _ of [1, 2]) assert.equal(await telemetry.withdraw(), 0);
  await telemetry.end();
  at(t, "2026-03-20");
  await run(places, metrics);
  assert.deepEqual(await states(), ["withdrawn", "withdrawn"]);
  assert.match(await telemetry.text(), /sent 2026-02-20T\S+Z, withdrawn, /);
  const [first, second] = drawn.map(({ key, body }) => [key, body]);
  assert.deepEqual(asked, [
    ["reports", ...first],
    ["withdrawals", ...first],
    ["withdrawals", ...second],
  ]);
});

test("a report that could not be sent within a period is dropped, and not sent afterwards", async (t) => {
  const [places, sent] = [newPlaces(), []];
  let isThere = false;
  t.mock.method(globalThis, "fetch", async (_url, { headers }) => {
    if (!isThere) throw new TypeError("nobody is there");
    sent.push(headers["Idempotency-Key"]); // a report of a later period may be due as well
    return new Response('{"accepted": 1, "withdrawn": 1}');
  });
  const metrics = declared({}, "theme");
  for (const [day, state] of [
    [MONTHS[0], undefined],
    [MONTHS[1], "waiting"],
    ["2026-02-20", "waiting"],
    ["2026-03-31", "waiting"],
    ["2026-04-01", "dropped"],
  ]) {
    at(t, day);
    await run(places, metrics);
    assert.equal((await stateOf(places)).reports[0]?.state, state, day);
    isThere = day >= "2026-03-31";
  }
  assert.ok(!sent.includes((await stateOf(places)).reports[0].key));
  const telemetry = await setup(metrics, { places });
  assert.equal(await telemetry.withdraw(), 0); // it may have arrived although nobody answered
  await telemetry.end();
  assert.equal((await stateOf(places)).reports[0].state, "withdrawn");
});

test("a browser's wishes come before the person's choice", async () => {
  const { byEnvironment } = await import("../dist/telemetry/modes.js");
  const modes = [
    { globalPrivacyControl: true },
    { doNotTrack: "1" },
    { doNotTrack: "yes" },
    { doNotTrack: "0" },
    { doNotTrack: "unspecified" },
    { doNotTrack: null, globalPrivacyControl: false },
  ];
  assert.deepEqual(
    modes.map((wishes) => byEnvironment({}, wishes)?.mode),
    ["off", "off", "off", undefined, undefined, undefined],
  );
});

test("the person's choice counts from the next period, off deletes what was kept, and all is one file with Python", async (t) => {
  const { folder, env } = home(t);
  const path = join(folder, "config", "fldp", "telemetry.toml");
  assert.equal(child(env, MONTHS[0], "choose", "local").mode, "local");
  assert.equal(readFileSync(path, "utf8"), '\n[app."paint"]\nmode = "local"\nsince = "2026-01-10"\n');
  child(env, MONTHS[0], "startup", "250");
  assert.equal(child(env, MONTHS[0], "view").values.startup.would_report, "200 to 400 ms");
  child(env, "2026-01-20", "choose", "on");
  const { reports, silent } = child(env, MONTHS[1], "view");
  assert.deepEqual([reports, silent[0].why], [[], "telemetry was switched on after it had begun"]);
  assert.equal(child(env, MONTHS[2], "view").reports.length, 1);
  child(env, MONTHS[2], "startup", "250");
  writeFileSync(path, 'mode = "off"\nsince = "2026-03-11"\n'); // as python -m fldp.telemetry off does
  const { mode, reason } = child(env, MONTHS[2], "startup", "250");
  assert.deepEqual([mode, reason], ["off", "chosen for all programs"]);
  assert.deepEqual(child(env, MONTHS[2], "view").values.startup.kept, {});
  for (const text of [
    'mode = "maybe"\n',
    'mode = "on" # yes\n',
    "{}",
    'mode = "on"\nmode = "off"\n',
    "[app.paint]\nmode = 'on'\n",
    'mode = "on"\nsince = "soon"\n',
    'mode = "on"\nsince = "20260101"\n',
  ]) {
    writeFileSync(path, text);
    assert.equal(child(env, MONTHS[2], "startup", "250").mode, "off", text);
  }
  writeFileSync(path, '[app."paint"]\nmode = "local"\nsince = "2026-02-30"\n');
  child(env, MONTHS[2], "choose", "local"); // for this program: to the others, the file meant off
  assert.equal(readFileSync(path, "utf8"), 'mode = "off"\n\n[app."paint"]\nmode = "local"\nsince = "2026-03-10"\n');
});

test("nothing ever breaks the program, but where it asks for that", async () => {
  const broken = { read: () => Promise.reject(new Error("no")), replace: () => Promise.reject(new Error("no")) };
  const odd = [
    null,
    5,
    "text",
    {},
    { ...METRICS, surveys: null },
    { ...METRICS, metric: { a: null } },
    { ...METRICS, period: "constructor" },
    { ...METRICS, app: "../../paint" },
  ];
  for (const metrics of odd) {
    const telemetry = await setup(metrics);
    telemetry.record("theme", "dark");
    assert.equal(await telemetry.flush(600), true);
    assert.equal(telemetry.mode, "off");
    assert.match(telemetry.reason, /cannot be used/);
    await telemetry.end();
    await assert.rejects(setup(metrics, { strict: true }), { name: "FldpError" });
  }
  for (const places of [
    { state: broken, ledger: broken },
    { ...newPlaces(), ledger: broken },
  ]) {
    const telemetry = await setup(declared({}, "theme"), { places });
    const values = [
      Symbol("x"),
      () => 1,
      { toString: () => assert.fail() },
      undefined,
      null,
      1n,
      [],
      Number.NaN,
      "dark",
    ];
    for (const value of values)
      for (const name of ["theme", "nothing", Symbol("y"), null]) telemetry.record(name, value);
    await telemetry.flush(600);
    await telemetry.end();
  }
  const strict = await setup(METRICS, { places: newPlaces(), strict: true });
  for (const [name, value] of [
    ["nothing", 1],
    ["theme", "blue"],
    ["startup", Number.NaN],
    ["sync", "yes"],
  ])
    assert.throws(
      () => strict.record(name, value),
      (error) => error.name === "DomainError" && !error.message.includes("blue"),
    );
  await strict.end();
  const damaged = newPlaces();
  await damaged.state.replace(null, "{}");
  assert.equal((await setup(METRICS, { places: damaged })).mode, "off");
  assert.equal(await damaged.state.read(), "{}");
});

test("timed records milliseconds, of promises too, and lets errors through", async () => {
  const places = newPlaces();
  const telemetry = await setup(declared({}, "startup"), { places });
  assert.equal(
    telemetry.timed("startup", () => 5),
    5,
  );
  assert.equal(await telemetry.timed("startup", async () => 6), 6);
  assert.throws(
    () =>
      telemetry.timed("startup", () => {
        throw new RangeError("mine");
      }),
    RangeError,
  );
  await assert.rejects(
    telemetry.timed("startup", async () => {
      throw new RangeError("mine");
    }),
    RangeError,
  );
  await telemetry.end();
  const [{ values }] = (await stateOf(places)).periods;
  assert.equal(
    values[0][1].reduce((sum, [, count]) => sum + count, 0),
    4,
  );
});

test("the notice comes once before the first report, and where it throws nothing is sent", async (t) => {
  const [places, told, sent] = [newPlaces(), [], []];
  t.mock.method(globalThis, "fetch", async (url) => sent.push(url) && new Response('{"accepted": 1}'));
  const metrics = declared({}, "sync");
  const [good, bad] = [(text) => told.push([text, sent.length]), () => Promise.reject(new Error("no"))];
  for (const [day, notice, count] of [
    [MONTHS[0], good, 0],
    [MONTHS[1], good, 0],
    ["2026-02-20", bad, 0],
    ["2026-02-21", good, 1],
    [MONTHS[2], good, 1],
    ["2026-03-20", bad, 2],
  ]) {
    at(t, day);
    await run(places, metrics, {}, { notice });
    assert.equal(sent.length, count, day);
  }
  assert.equal(told.length, 1);
  assert.match(told[0][0], /sync: One report: epsilon 0.5, eta 1.*a change shows with probability 0.303/);
  assert.equal(told[0][1], 0);
});

test("where a relay is declared nothing goes directly, and what it answers itself refuses no report", async (t) => {
  const relay = "https://relay.example";
  const survey = { ...METRICS.surveys.sync, collect: { ...METRICS.surveys.sync.collect, oblivious: true } };
  const metrics = { ...declared({ relay }, "sync"), surveys: { sync: survey }, versions: {} };
  for (const status of [301, 403, 404, 502]) {
    const [places, asked] = [newPlaces(), []];
    t.mock.method(globalThis, "fetch", async (url) => asked.push(url) && new Response("no", { status }));
    for (const day of [MONTHS[0], MONTHS[1], "2026-02-20"]) {
      at(t, day);
      await run(places, metrics);
    }
    assert.deepEqual(asked, [`${relay}/keys`]);
    const [report] = (await stateOf(places)).reports;
    assert.deepEqual([report.state, report.said], ["waiting", `the relay answers ${status}`]);
  }
});

test("plain http goes to this machine only", async (t) => {
  const places = newPlaces();
  t.mock.method(globalThis, "fetch", () => assert.fail("it is sent"));
  const metrics = declared({ collector: "http://collector.example" }, "sync");
  for (const day of [MONTHS[0], MONTHS[1], "2026-02-20"]) {
    at(t, day);
    await run(places, metrics);
  }
  assert.deepEqual(
    (await stateOf(places)).reports.map(({ state, said }) => [state, said]),
    [["waiting", "not sent: FldpError"]],
  );
});

test("a program that ends does not wait for a collector that is silent", async (t) => {
  let asked = 0;
  const server = createServer(() => (asked += 1)); // it never answers
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { env } = home(t, { FLDP_TELEMETRY: "on" });
  const changes = JSON.stringify({ collector: `http://127.0.0.1:${server.address().port}` });
  for (const day of [MONTHS[0], MONTHS[1], "2026-02-20"])
    await promisify(execFile)(process.execPath, [CHILD, day, "ends", "", changes], { env });
  const [report] = child({ ...env, FLDP_TELEMETRY: "local" }, "2026-02-20", "view", "", changes).reports;
  assert.equal(asked, 1);
  assert.deepEqual([report.state, report.said], ["waiting", null]); // it ended before any time was up
});

test("both entries have the same names", async () => {
  assert.deepEqual(Object.keys(node).sort(), Object.keys(await import("../dist/telemetry.js")).sort());
});
