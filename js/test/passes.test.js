// Passes: the vectors of the RFCs, what is stored when, what is refused, and which way they take.
import assert from "node:assert/strict";
import { constants, createPrivateKey, createPublicKey, privateEncrypt, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { decode, memoryStore, OLH, participant, Survey } from "../dist/index.js";
import { publicWords } from "../dist/oracles/base/ticket_words.js";
import { blind, encode, unblind } from "../dist/passes/blind_rsa.js";
import { passOf, requestOf, termsOf } from "../dist/passes/token.js";
import { obtainPass } from "../dist/passes.js";
import { specification, withoutWaiting } from "./collector.js";

const vectors = JSON.parse(readFileSync(new URL("../../tests/passes/vectors.json", import.meta.url), "utf8"));
const bytes = (digits) => Uint8Array.from(Buffer.from(digits, "hex"));
const digits = (data) => Buffer.from(data).toString("hex");
const number = (text) => BigInt(`0x${text}`);

const [{ skS, pkS }] = vectors.rfc9578;
const KEY = createPrivateKey(Buffer.from(skS, "hex"));
const ISSUER_KEY = Buffer.from(pkS, "hex").toString("base64url");
const COLLECTOR = "https://collector.example";
const TICKET = `fldp_ticket_${"A".repeat(43)}`;

/** Sign as an issuer does: RSA on a bare number, which is the library's. */
const sign = (request) => privateEncrypt({ key: KEY, padding: constants.RSA_NO_PADDING }, request.subarray(3));

/** Return a survey that takes passes. */
const surveyOf = (collect = {}) =>
  Survey.of(
    specification({
      oracle: { name: "olh", epsilon: 1 },
      collect: { submit: "pass", issuer_key: ISSUER_KEY, ...collect },
    }),
    COLLECTOR,
    [OLH],
  );

/** Answer requests in the network's place, and note them. */
function network(t, answer) {
  const [asked, original] = [[], globalThis.fetch];
  globalThis.fetch = async (url, { body, headers } = {}) => {
    asked.push({ url, body, headers });
    return answer(asked[asked.length - 1], asked.length);
  };
  t.after(() => (globalThis.fetch = original));
  return asked;
}

const signing = ({ body }) => new Response(sign(body));

test("signatures are those of RFC 9474", async () => {
  const { n, msg, salt, inv, encoded_msg, blinded_msg, blind_sig, sig } = vectors.rfc9474[0];
  const modulus = number(n);
  assert.equal(digits(await encode(bytes(msg), bytes(salt), n.length / 2)), encoded_msg);
  let [a, b, x, y] = [modulus, number(inv), 0n, 1n];
  while (b) [a, b, x, y] = [b, a % b, y, x - (a / b) * y];
  const blinding = (x + modulus) % modulus;
  assert.equal(digits(await blind(modulus, bytes(msg), bytes(salt), blinding)), blinded_msg);
  assert.equal(digits(await unblind(modulus, bytes(msg), bytes(blind_sig), blinding)), sig);
});

test("tokens are those of RFC 9578", async () => {
  assert.equal(vectors.rfc9578.length, 10);
  for (const vector of vectors.rfc9578) {
    const terms = await termsOf(bytes(vector.pkS), bytes(vector.token_challenge));
    const secret = vector.nonce + vector.salt + vector.blind;
    assert.equal(digits(await requestOf(terms, secret)), vector.token_request);
    const text = await passOf(terms, secret, bytes(vector.token_response));
    assert.equal(text, `fldp_pass_${Buffer.from(vector.token, "hex").toString("base64url")}`);
  }
});

test("a pass is got once, stored, and verified by the library", async (t) => {
  const [asked, store, survey] = [network(t, signing), memoryStore(), await surveyOf()];
  assert.equal(await obtainPass(survey, { store }), undefined);
  const text = await obtainPass(survey, { store, ticket: TICKET });
  assert.match(text, /^fldp_pass_[\w-]{472}$/);
  assert.equal(await obtainPass(survey, { store }), text);
  assert.equal(asked.length, 1);
  assert.equal(asked[0].url, `${COLLECTOR}/v1/versions/${survey.version}/passes`);
  assert.equal(asked[0].headers["Fldp-Ticket"], TICKET);
  assert.equal(asked[0].headers["Content-Type"], "application/private-token-request");
  assert.equal(asked[0].body.length, 259);
  const token = Buffer.from(text.slice(10), "base64url");
  const key = createPublicKey(KEY);
  const scheme = { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 48 };
  assert.ok(verify("sha384", token.subarray(0, 98), scheme, token.subarray(98)));
  assert.equal(digits(token.subarray(34, 66)), digits(await digestOf(survey)));
});

/** Return the hash of the challenge of a survey that names no issuer. */
async function digestOf({ version }) {
  const challenge = Buffer.concat([bytes("00020009"), Buffer.from("collector"), bytes(`20${version}0000`)]);
  return new Uint8Array(await crypto.subtle.digest("SHA-256", challenge));
}

test("its secrets are stored before anybody is asked, so that a crash loses no ticket", async (t) => {
  const store = memoryStore();
  const survey = await surveyOf();
  const asked = network(t, async (request, count) => {
    const kept = JSON.parse(await store.read());
    assert.match(Object.values(kept)[0], /^[\da-f]{672}$/);
    return count === 1 ? new Response(null, { status: 400 }) : signing(request);
  });
  await assert.rejects(obtainPass(survey, { store, ticket: TICKET }), /status 400/);
  assert.equal(await obtainPass(survey, { store }), undefined);
  const text = await obtainPass(survey, { store, ticket: TICKET });
  assert.match(text, /^fldp_pass_/);
  assert.deepEqual(asked[1].body, asked[0].body);
  assert.doesNotMatch(await store.read(), /[\da-f]{672}/); // they are gone
});

test("two at the same time ask for the same pass", async (t) => {
  const [asked, store, survey] = [network(t, signing), memoryStore(), await surveyOf()];
  const both = [1, 2].map(() => obtainPass(survey, { store, ticket: TICKET }));
  const [one, other] = await Promise.all(both);
  assert.equal(one, other);
  assert.ok(asked.every(({ body }) => digits(body) === digits(asked[0].body)));
});

test("a wrong signature is refused, and asked for again", async (t) => {
  const survey = await surveyOf();
  for (const bad of [new Uint8Array(256), new Uint8Array(3), bytes("ff".repeat(256))]) {
    network(t, () => new Response(bad));
    const store = memoryStore();
    await assert.rejects(obtainPass(survey, { store, ticket: TICKET }), /not its signature/);
    assert.match(await store.read(), /[\da-f]{672}/);
  }
});

test("who issues apart is asked in the collector's place, and never over plain http", async (t) => {
  const asked = network(t, signing);
  const survey = await surveyOf({ issuer: "https://issuer.example" });
  const relay = { address: "https://relay.example", ask: () => assert.fail("the relay leads to the collector") };
  assert.match(await obtainPass(survey, { store: memoryStore(), ticket: TICKET, relay }), /^fldp_pass_/);
  assert.equal(asked[0].url, `https://issuer.example/v1/versions/${survey.version}/passes`);
  const plain = await surveyOf({ issuer: "http://issuer.example" });
  await assert.rejects(obtainPass(plain, { store: memoryStore(), ticket: TICKET }), /not go over http/);
  assert.equal(asked.length, 1);
});

for (const named of [{}, { issuer: new URL(COLLECTOR).origin }]) {
  test(`the collector is asked through the relay, and not without one: ${Object.keys(named)}`, (t) =>
    relayed(t, named));
}

async function relayed(t, named) {
  const asked = network(t, () => assert.fail("asked directly"));
  const survey = await surveyOf({ oblivious: true, ...named });
  const routes = [];
  const relay = {
    address: "https://relay.example",
    ask: async (route, { body }) => {
      routes.push(route);
      return new Response(sign(body));
    },
  };
  await assert.rejects(obtainPass(survey, { store: memoryStore(), ticket: TICKET }), /through a relay only/);
  assert.match(await obtainPass(survey, { store: memoryStore(), ticket: TICKET, relay }), /^fldp_pass_/);
  assert.deepEqual(routes, [`/v1/versions/${survey.version}/passes`]);
  assert.deepEqual(asked, []);
}

test("what is damaged or no key is refused", async () => {
  const survey = await surveyOf();
  for (const damaged of ["{", '{"a":"b"}', "[1]"]) {
    const store = memoryStore();
    await store.replace(null, damaged);
    await assert.rejects(obtainPass(survey, { store, ticket: TICKET }), /is damaged/);
  }
  const other = await surveyOf({ issuer_key: "A".repeat(456) });
  await assert.rejects(obtainPass(other, { store: memoryStore(), ticket: TICKET }), /key of the issuer is none/);
  const plain = await Survey.of(
    specification({ collect: { submit: "ticket" }, oracle: { name: "olh", epsilon: 1 } }),
    COLLECTOR,
    [OLH],
  );
  await assert.rejects(obtainPass(plain, { store: memoryStore() }), /takes none/);
  await assert.rejects(
    async () =>
      Survey.of(
        specification({ oracle: { name: "olh", epsilon: 1 }, collect: { issuer_key: ISSUER_KEY } }),
        COLLECTOR,
        [OLH],
      ),
    /issuer_key/,
  );
});

test("a pass is sent in place of a ticket, and decides masks", async (t) => {
  withoutWaiting(t);
  const survey = await surveyOf({ derive: true });
  const asked = network(t, ({ url, body }) =>
    url.endsWith("/passes") ? new Response(sign(body)) : new Response('{"accepted":1}'),
  );
  const pass = await obtainPass(survey, { store: memoryStore(), ticket: TICKET });
  const person = participant(survey, { store: memoryStore() });
  await assert.rejects(person.answer("edge"), /with a pass; give one/);
  const answer = await person.answer("edge", { ticket: pass });
  assert.equal(answer.state, "sent");
  assert.equal(asked[1].headers["Fldp-Ticket"], pass);
  const { reports } = await decode(answer.batch, [OLH]);
  const seed = new DataView((await publicWords(pass, survey.version, 1)).buffer).getBigUint64(0, true);
  assert.equal(reports[0][0], seed);
});
