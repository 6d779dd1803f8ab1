// A survey is what its version says, or it is refused.
import assert from "node:assert/strict";
import { test } from "node:test";
import { explain } from "../../src/fldp/collector/static/answer/explain.js";
import {
  build,
  CollectorError,
  every,
  FHR,
  load,
  memoryStore,
  OUE,
  ParameterError,
  participant,
  WireError,
} from "../dist/index.js";
import { collector, specification, withoutWaiting } from "./collector.js";

async function started(t) {
  const server = await collector();
  t.after(server.close);
  return server;
}

test("oracles are imported where a survey asks for them", async (t) => {
  const server = await started(t);
  const asked = [];
  const known = async ({ oracle }) => {
    asked.push(oracle.name);
    return oracle.name === "urr" ? (await import("../dist/unequal.js")).unequal : every;
  };
  for (const oracle of [
    { name: "fhr", epsilon: 1 },
    { name: "urr", epsilon: 1, sensitive: [0] },
  ]) {
    const { version } = await server.publish(specification({ oracle }));
    const survey = await load(server.url, "browser", known);
    assert.deepEqual([survey.oracle.name, survey.version], [oracle.name, version]);
  }
  assert.deepEqual(asked, ["fhr", "urr"]);
});

test("a survey is loaded with what it asks", async (t) => {
  const server = await started(t);
  const published = await server.publish(specification({ title: "Browsers", topic: "web" }));
  const survey = await load(`${server.url}/`, "browser", [FHR]);
  const { name, title, description, topic, labels, version, state, origin, path } = survey;
  assert.deepEqual(
    { name, title, description, topic, version, state, origin, path },
    {
      name: "browser",
      title: "Browsers",
      description: null,
      topic: "web",
      version: published.version,
      state: "open",
      origin: server.url,
      path: "",
    },
  );
  assert.deepEqual(labels, specification().labels);
  assert.equal(survey.label(await survey.encode("edge")), "edge");
  assert.equal(server.seen[0].headers.authorization, undefined);
  assert.equal((await load(server.url, "browser", [FHR], { version: published.version })).version, published.version);
  assert.equal(server.seen.at(-1).path, `/v1/surveys/browser?version=${published.version}`);
});

test("a survey that is not what it claims is refused", async (t) => {
  const server = await started(t);
  const published = await server.publish(specification());
  const good = server.surveys.get("browser");
  const changes = [
    [{ version: "0".repeat(64) }, WireError],
    [{ version: published.version.toUpperCase() }, WireError],
    [{ version: undefined }, WireError],
    [{ version: 5 }, WireError],
    [{ survey: { ...good.survey, question: "Which?" } }, WireError],
    [{ survey: { ...good.survey, labels: [...specification().labels].reverse() } }, WireError],
    [{ survey: { ...good.survey, oracle: { name: "fhr", epsilon: 2 } } }, WireError],
    [{ survey: { ...good.survey, collect: { ...good.survey.collect, minimum: 1 } } }, WireError],
    [{ survey: { ...good.survey, oracle: { name: "oue", epsilon: 1 } } }, ParameterError], // not among those offered
    [{ survey: { ...good.survey, surprise: 1 } }, ParameterError],
    [{ survey: { ...good.survey, name: "other" } }, CollectorError],
    [{ survey: null }, CollectorError],
    [{ survey: "text" }, CollectorError],
  ];
  for (const [change, error] of changes) {
    server.surveys.set("browser", { ...good, ...change });
    await assert.rejects(load(server.url, "browser", [FHR]), error, JSON.stringify(change));
  }
  server.surveys.set("browser", good);
  await assert.rejects(load(server.url, "browser", [FHR], { version: "0".repeat(64) }), CollectorError);
  await assert.rejects(load(server.url, "browser", [OUE]), ParameterError);
});

test("answers that are none are errors of one line that name the collector", async (t) => {
  const server = await started(t);
  withoutWaiting(t);
  await assert.rejects(
    load(server.url, "nobody", [FHR]),
    (error) => error.status === 404 && error.message.startsWith(server.url),
  );
  for (const body of ["", "<html>", "[]", "null", "5", '"text"', "{}", "[".repeat(100_000)]) {
    server.plan.push({ status: 200, body });
    await assert.rejects(load(server.url, "browser", [FHR]), CollectorError, body.slice(0, 9));
  }
  server.plan.push({ status: 301, headers: { location: "/elsewhere" } });
  await assert.rejects(load(server.url, "browser", [FHR]), CollectorError);
  for (const name of ["", "a/b", "..", "A", null, "a?b", "a".repeat(65)]) {
    await assert.rejects(load(server.url, name, [FHR]), ParameterError);
  }
  for (const url of ["", "collector.example", "ftp://x", null, 5, "https://a@b.example"]) {
    await assert.rejects(load(url, "browser", [FHR]), ParameterError, String(url));
  }
});

test("an explanation says what the report rules out", async (t) => {
  const server = await started(t);
  for (const [oracle, mean] of [
    [{ name: "fhr", epsilon: 1 }, 3],
    [{ name: "fwr", epsilon: 1, eta: 0.5 }, 3],
    [{ name: "grr", epsilon: 1 }, 5],
  ]) {
    const labels = oracle.name === "fwr" ? ["a", "b", "c", "d", "e", "f", "g", "h"] : specification().labels;
    const survey = await server.publish(specification({ oracle, labels }));
    const { batch } = await participant(survey, { store: memoryStore() }).prepare(labels[1]);
    const { ruledOut, left, probability, guess } = await explain(survey, batch);
    assert.equal(ruledOut[1], false); // never the true one
    assert.equal(left, ruledOut.filter((out) => !out).length);
    assert.ok(left >= survey.oracle.anonymity && (oracle.name !== "grr" || left === mean));
    assert.ok(Math.abs(probability.reduce((sum, part) => sum + part) - 1) < 1e-12);
    assert.ok(ruledOut.every((out, value) => out === (probability[value] === 0)));
    assert.equal(guess.before, 1 / labels.length);
    assert.equal(guess.after, Math.max(...probability));
    // A report of FWR may be as likely under every answer: then it tells nothing.
    const telling = probability.some((part) => part !== probability[0]);
    assert.ok(telling ? guess.after > guess.before : guess.after === guess.before);
    const other = await server.publish(specification({ oracle, labels, question: "Another?" }));
    await assert.rejects(explain(other, batch), /an answer to this version/);
  }
});

test("values are numbers of the domain, or fingerprints, and nothing else", () => {
  const kinds = [
    [build({ name: "grr", epsilon: 1, domain_size: 5 }, every), [-1, 5, 0.5, NaN, 0n, "0"]],
    [build({ name: "cms", epsilon: 1, hashes: 2, width: 4 }, every), [-1n, 1n << 63n, 0, "a"]],
    [build({ name: "rappor", epsilon: 1, epsilon_permanent: 2 }, every), [-1n, 1n << 63n, 0, "a"]],
  ];
  for (const [oracle, values] of kinds) {
    for (const value of values) assert.throws(() => oracle.draw(value), ParameterError, String(value));
  }
});
