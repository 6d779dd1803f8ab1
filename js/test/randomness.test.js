// Randomness comes from WebCrypto or not at all.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { every, FHR, FldpError, OUE, Survey } from "../dist/index.js";
import { specification } from "./collector.js";

function withCrypto(t, crypto) {
  const original = Object.getOwnPropertyDescriptor(globalThis, "crypto");
  Object.defineProperty(globalThis, "crypto", { value: crypto, configurable: true, writable: true });
  t.after(() => Object.defineProperty(globalThis, "crypto", original));
}

for (const [what, crypto] of [
  ["no WebCrypto", undefined],
  ["half of it", {}],
  ["no random numbers", { subtle: {}, getRandomValues: null }],
]) {
  test(`with ${what} nothing is drawn`, (t) => {
    withCrypto(t, crypto);
    assert.throws(
      () => new FHR({ epsilon: 1, domain_size: 5 }).draw(0),
      (error) => {
        return error instanceof FldpError && /WebCrypto needs https/.test(error.message);
      },
    );
  });
}

test("on a page that is not safe no version can be computed, and it says so", async (t) => {
  const original = globalThis.crypto;
  withCrypto(t, { getRandomValues: original.getRandomValues.bind(original) });
  await assert.rejects(Survey.of(specification(), "https://collector.example", every), /WebCrypto needs https/);
});

test("more words than one call gives are drawn, and all of them", (t) => {
  const original = globalThis.crypto;
  const sizes = [];
  const getRandomValues = (part) => {
    sizes.push(part.byteLength);
    return original.getRandomValues(part);
  };
  withCrypto(t, { getRandomValues, subtle: original.subtle });
  const oracle = new OUE({ epsilon: 1, domain_size: 100_000 });
  const report = oracle.draw(7);
  assert.equal(
    sizes.reduce((sum, size) => sum + size),
    8 * oracle.words,
  );
  assert.ok(sizes.length > 3 && Math.max(...sizes) === 65_536);
  const ones = report.reduce((sum, byte) => sum + byte.toString(2).replaceAll("0", "").length, 0);
  const q = 1 / (Math.E + 1); // 100,000 coins: 8 standard deviations, a false alarm has a probability below 1e-14
  assert.ok(Math.abs(ones - 100_000 * q) < 8 * Math.sqrt(100_000 * q * (1 - q)), String(ones));
});

test("nothing in the client asks for weaker randomness", () => {
  const bundle = readFileSync(new URL("../dist/fldp.js", import.meta.url), "utf8");
  assert.ok(!/Math\s*\.\s*random|performance\s*\.\s*now/.test(bundle));
});
