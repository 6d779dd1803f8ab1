// Through a relay: the vectors of the RFCs, what is refused, and that nothing ever goes in another way.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { CollectorError, every, flush, GRR, load, memoryStore, participant, Survey } from "../dist/index.js";
import { replyOf, requestOf } from "../dist/oblivious/bhttp.js";
import { sender } from "../dist/oblivious/hpke.js";
import { encapsulate, keyOf } from "../dist/oblivious/ohttp.js";
import { through } from "../dist/oblivious.js";
import { specification, withoutWaiting } from "./collector.js";

const vectors = JSON.parse(readFileSync(new URL("../../tests/oblivious/vectors.json", import.meta.url), "utf8"));
const bytes = (digits) => Uint8Array.from(Buffer.from(digits, "hex"));
const digits = (data) => Buffer.from(data).toString("hex");

const RELAY = "https://relay.example/at";
const COLLECTOR = "https://collector.example";

/** Return a pair of keys by its private part: WebCrypto takes it with its public part only, or in this wrapping. */
async function pairOf(secret) {
  const wrapped = bytes(`302e020100300506032b656e04220420${secret}`);
  const privateKey = await crypto.subtle.importKey("pkcs8", wrapped, "X25519", true, ["deriveBits"]);
  const { x } = await crypto.subtle.exportKey("jwk", privateKey);
  const raw = Uint8Array.from(Buffer.from(x, "base64url"));
  return { privateKey, raw, publicKey: await crypto.subtle.importKey("raw", raw, "X25519", true, []) };
}

/** Put a configuration into a list of them. */
const listed = (config) => Uint8Array.from([0, config.length, ...config]);

/** Answer requests by a function in the network's place, and note where they went. */
function network(t, answer) {
  const [asked, original] = [[], globalThis.fetch];
  globalThis.fetch = async (url, { method = "GET", body, headers } = {}) => {
    asked.push({ url, method, size: body?.length ?? 0, headers });
    return answer(asked.length, url);
  };
  t.after(() => (globalThis.fetch = original));
  return asked;
}

const CONFIG = bytes(vectors.rfc9458_a.key_config);
const keys = () => new Response(listed(CONFIG));
const away = () => {
  throw new TypeError("fetch failed");
};

/** Return a survey that somebody has. */
const surveyOf = (collect = {}) =>
  Survey.of(specification({ oracle: { name: "grr", epsilon: 1 }, collect }), COLLECTOR, [GRR]);

test("HPKE is that of RFC 9180, A.1.1", async () => {
  const { skEm, skRm, info, plaintext, aad, ciphertext, exports } = vectors.rfc9180_a11;
  const { raw } = await pairOf(skRm);
  const context = await sender(raw, bytes(info), pairOf(skEm));
  assert.equal(digits(await context.encrypt(bytes(plaintext), bytes(aad))), ciphertext);
  for (const { context: label, value } of exports) assert.equal(digits(await context.export(bytes(label), 32)), value);
});

test("keys, requests and replies are those of RFC 9458, appendix A", async () => {
  const vector = vectors.rfc9458_a;
  const key = keyOf(listed(CONFIG));
  assert.deepEqual([key.number, digits(key.key)], [1, vector.key_config.slice(6, 70)]);
  const { body, read } = await encapsulate(key, bytes(vector.request), pairOf(vector.client_ephemeral_private));
  assert.equal(digits(body), vector.encapsulated_request);
  assert.equal(digits(await read(bytes(vector.encapsulated_response))), vector.response);
  assert.equal(replyOf(bytes(vector.response)).status, 200);
});

test("a reply that was changed or cut anywhere is refused", async () => {
  const { request, client_ephemeral_private, encapsulated_response } = vectors.rfc9458_a;
  const { read } = await encapsulate(keyOf(listed(CONFIG)), bytes(request), pairOf(client_ephemeral_private));
  const reply = bytes(encapsulated_response);
  for (let place = 0; place < reply.length; place++) {
    const changed = reply.map((byte, at) => (at === place ? byte ^ 1 : byte));
    await assert.rejects(read(changed));
    await assert.rejects(read(reply.slice(0, place)));
  }
});

test("two messages never share a key, and keys of small order are refused", async () => {
  const messages = await Promise.all(Array.from({ length: 20 }, () => encapsulate(keyOf(listed(CONFIG)), bytes("00"))));
  assert.equal(new Set(messages.map(({ body }) => digits(body.slice(7, 39)))).size, 20);
  for (const point of [new Uint8Array(32), new Uint8Array(32).fill(1, 0, 1)])
    await assert.rejects(sender(point, bytes("")));
});

test("keys that are cut off or for another suite are refused, and ours is found among others", () => {
  const whole = listed(CONFIG);
  for (let size = 0; size < whole.length; size++)
    assert.throws(() => keyOf(whole.slice(0, size)), { name: "WireError" });
  const other = listed(CONFIG.map((byte, place) => (place === 2 ? 0x10 : byte)));
  assert.throws(() => keyOf(other), { name: "WireError", message: /no key for X25519/ });
  assert.equal(keyOf(Uint8Array.from([...other, ...whole])).number, 1);
});

test("a reply of binary HTTP is read to its end, and padding is zero", () => {
  const text = (word) => [word.length, ...Buffer.from(word)];
  const line = [...text("retry-after"), ...text("7")];
  const whole = [1, 0x40, 0xc8, line.length, ...line, ...text("{}"), 0];
  const { status, headers, content } = replyOf(Uint8Array.from([...whole, 0, 0, 0]));
  assert.deepEqual([status, headers, digits(content)], [200, [["retry-after", "7"]], "7b7d"]);
  assert.equal(replyOf(Uint8Array.from([1, 0x40, 0x66, 0, ...whole.slice(1)])).status, 200); // one that informs is skipped
  assert.throws(() => replyOf(Uint8Array.from([...whole, 0, 1])), { name: "WireError" });
  const ends = [1, 2, 3, 3 + 1 + line.length, whole.length - 1]; // where a message may end, and what is left is empty
  for (let size = 0; size < whole.length; size++) {
    const part = Uint8Array.from(whole.slice(0, size));
    if (ends.slice(2).includes(size)) assert.equal(replyOf(part).status, 200);
    else assert.throws(() => replyOf(part), { name: "WireError" }, String(size));
  }
  for (const bad of ["0040c8", "0100", "0163", "014064", "0140c8ffffffffffffffff", "0140c8003fffffff"])
    assert.throws(() => replyOf(bytes(bad)), { name: "WireError" }, bad);
});

test("requests have one of four sizes, and larger ones are refused", () => {
  const sizes = [0, 900, 1010, 4000, 16_000, 65_000].map(
    (size) => requestOf("POST", "/", [], new Uint8Array(size)).length,
  );
  assert.deepEqual(sizes, [1024, 1024, 4096, 4096, 16_384, 65_536]);
  const most = { name: "ParameterError", message: /too large; send it without one/ };
  assert.throws(() => requestOf("POST", "/", [], new Uint8Array(65_536)), most);
});

test("a relay is reached by https, or on this machine", () => {
  assert.equal(through("https://relay.example/at/").address, RELAY);
  assert.equal(through("http://127.0.0.1:8081").address, "http://127.0.0.1:8081");
  for (const address of ["http://relay.example", "relay.example", "https://relay.example/?x"])
    assert.throws(() => through(address), { name: "ParameterError" });
});

test("nothing goes directly when the relay is away or refuses", async (t) => {
  withoutWaiting(t);
  for (const answer of [away, () => new Response("{}", { status: 502 }), () => new Response("{}", { status: 404 })]) {
    const asked = network(t, answer);
    await assert.rejects(load(COLLECTOR, "browser", every, { relay: through(RELAY) }), CollectorError);
    assert.ok(asked.length > 0);
    assert.deepEqual(new Set(asked.map(({ url }) => url)), new Set([`${RELAY}/keys`]));
  }
});

test("a relay that sends elsewhere is named and not followed", async (t) => {
  for (const answer of [() => new Response("", { status: 308 }), () => Response.error()]) {
    const asked = network(t, (count) => (count === 1 ? keys() : answer())); // browsers show status 0
    const named = { name: "CollectorError", message: /^relay https:\/\/relay.example\/at: answers with a redirect/ };
    await assert.rejects(load(COLLECTOR, "browser", every, { relay: through(RELAY) }), named);
    assert.deepEqual(
      asked.map(({ url }) => url),
      [`${RELAY}/keys`, `${RELAY}/`],
    );
  }
});

test("nothing goes directly without X25519, or with keys that are none", async (t) => {
  const asked = network(t, keys);
  t.mock.method(crypto.subtle, "generateKey", () => Promise.reject(new DOMException("no", "NotSupportedError")));
  const refused = { name: "FldpError", message: /lacks X25519/ };
  await assert.rejects(load(COLLECTOR, "browser", every, { relay: through(RELAY) }), refused);
  t.mock.restoreAll();
  network(t, () => new Response("no keys"));
  await assert.rejects(load(COLLECTOR, "browser", every, { relay: through(RELAY) }), { name: "WireError" });
  assert.deepEqual([...new Set(asked.map(({ url }) => url))], [`${RELAY}/keys`]);
});

test("keys are remembered by the store for a day, and fetched again where the collector refuses them", async (t) => {
  const store = memoryStore();
  const plan = [keys, away, () => new Response("{}", { status: 400 }), keys, away, away];
  const asked = network(t, (count) => plan[count - 1]());
  const ask = () => through(RELAY, { store }).ask("/v1/surveys/browser", {});
  for (let turn = 0; turn < 3; turn++) await assert.rejects(ask(), { name: "TypeError" });
  const places = asked.map(({ url }) => url.slice(RELAY.length));
  assert.deepEqual(places, ["/keys", "/", "/", "/keys", "/", "/"]);
  assert.deepEqual([...new Set(asked.filter(({ method }) => method === "POST").map(({ size }) => size))], [1079]);
  const before = await store.read();
  await store.replace(before, before.replace(/"at":\d+/, `"at":${Date.now() - 86_400_001}`));
  plan.push(keys, away);
  await assert.rejects(ask(), { name: "TypeError" });
  assert.equal(asked.length, 8);
});

test("keys that are new and refused are not fetched for ever, and a change within a day is told", async (t) => {
  const store = memoryStore();
  const refused = () => new Response("{}", { status: 400 });
  const other = () => new Response(listed(CONFIG.map((byte, place) => (place === 0 ? 2 : byte))));
  const plan = [keys, refused, refused, other, refused];
  const asked = network(t, (count) => plan[count - 1]());
  const relay = through(RELAY, { store });
  assert.equal((await relay.ask("/v1/surveys/browser", {})).status, 400);
  assert.equal(asked.length, 2);
  assert.equal(relay.hasNewKeys, false);
  assert.equal((await relay.ask("/v1/surveys/browser", {})).status, 400);
  assert.equal(asked.length, 5);
  assert.equal(relay.hasNewKeys, true);
});

test("no header goes to the relay but the kind of the body, and no token goes through one", async (t) => {
  const asked = network(t, (count) => (count === 1 ? keys() : away()));
  const headers = { "Fldp-Ticket": "secret", Authorization: "Bearer secret" };
  await assert.rejects(through(RELAY).ask("/", { method: "POST", headers }), { name: "TypeError" });
  assert.deepEqual(asked[0].headers, undefined);
  assert.deepEqual(asked[1].headers, { "Content-Type": "message/ohttp-req" });
  const survey = await surveyOf();
  const refused = { name: "ParameterError", message: /a token cannot go with relay/ };
  assert.throws(() => participant(survey, { store: memoryStore(), token: "x", relay: through(RELAY) }), refused);
});

test("a survey for relays is refused without one, before anything is drawn", async (t) => {
  const asked = network(t, away);
  const store = memoryStore();
  const person = participant(await surveyOf({ oblivious: true }), { store });
  await assert.rejects(person.answer("edge"), { name: "ParameterError", message: /through a relay only; give one/ });
  assert.deepEqual([asked.length, await store.read()], [0, null]);
});

test("the rule is part of the version where it is true, and left out where it is not", async () => {
  const [plain, off, on] = await Promise.all([{}, { oblivious: false }, { oblivious: true }].map(surveyOf));
  assert.equal(plain.version, off.version);
  assert.notEqual(plain.version, on.version);
  await assert.rejects(surveyOf({ oblivious: "yes" }), { name: "ParameterError" });
});

test("a queued answer remembers its relay, and goes nowhere else", async (t) => {
  withoutWaiting(t);
  const asked = network(t, (_, url) => (url.endsWith("/keys") ? keys() : away()));
  const store = memoryStore();
  const survey = await surveyOf();
  const { state } = await participant(survey, { store, relay: through(RELAY) }).answer("edge");
  assert.equal(state, "queued");
  assert.equal(JSON.parse(await store.read()).answers[0].relay, RELAY);
  assert.equal(await flush({ store }), 1); // without a way to relays it stays
  const before = asked.length;
  await assert.rejects(participant(survey, { store }).send(), {
    message: /must go through the relay https:.*; give it/,
  });
  assert.equal(asked.length, before);
  assert.equal(await flush({ store, relays: through }), 1);
  assert.ok(asked.length > before);
  assert.ok(asked.every(({ url }) => url.startsWith(RELAY)));
});

test("an answer is taken back through its relay, or through the one that its survey asks for, and never directly", async (t) => {
  withoutWaiting(t);
  const asked = network(t, (_, url) => (url.endsWith("/keys") ? keys() : away()));
  for (const collect of [{}, { oblivious: true }]) {
    const [store, survey] = [memoryStore(), await surveyOf(collect)];
    const person = participant(survey, { store, relay: through(RELAY) });
    if (collect.oblivious) await person.prepare("edge");
    else await person.answer("edge");
    const before = asked.length;
    await assert.rejects(participant(survey, { store }).withdraw(), { name: "ParameterError", message: /relay/ });
    assert.equal(asked.length, before);
    assert.equal((await person.withdraw()).state, "withdrawing"); // the relay is away
    assert.equal(JSON.parse(await store.read()).answers[0].relay, RELAY);
    const sent = asked.length;
    assert.equal(await flush({ store }), 1); // without a way to relays it stays
    assert.equal(asked.length, sent);
    assert.equal(await flush({ store, relays: through }), 1);
    assert.ok(asked.length > sent && asked.every(({ url }) => url.startsWith(RELAY)));
  }
});

test("a delay is drawn once, within its bounds, and kept with the answer", async (t) => {
  const asked = network(t, away);
  const survey = await surveyOf();
  const dues = new Set();
  for (let turn = 0; turn < 20; turn++) {
    const store = memoryStore();
    const start = Date.now();
    const person = participant(survey, { store, relay: through(RELAY), delay: 3600 });
    assert.equal((await person.answer("edge")).state, "queued");
    const { due } = JSON.parse(await store.read()).answers[0];
    assert.ok(Date.parse(due) >= start && Date.parse(due) <= Date.now() + 3_600_000);
    await person.send();
    assert.equal(JSON.parse(await store.read()).answers[0].due, due);
    assert.equal(await flush({ store, relays: through }), 1);
    dues.add(due);
  }
  assert.equal(asked.length, 0);
  const store = memoryStore();
  t.mock.timers.enable({ apis: ["Date"], now: Date.parse("2099-01-01") }); // a clock that is ahead, and then put right
  await participant(survey, { store, relay: through(RELAY), delay: 3600 }).answer("edge");
  t.mock.timers.reset();
  await flush({ store, relays: through });
  assert.ok(asked.length > 0);
  assert.ok(dues.size > 15); // of 3,600,000 milliseconds: fewer once in 10^20 runs
  for (const delay of [-1, Number.NaN, Infinity, "1"])
    assert.throws(() => participant(survey, { store: memoryStore(), delay }), { name: "ParameterError" });
});
