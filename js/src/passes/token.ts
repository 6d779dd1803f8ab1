/** Tokens of type 2 (RFC 9578): what is asked for, and the pass that comes of it. As in `fldp/passes/tokens.py`. */

import { hex, randomBytes, sha256, unhex, utf8, WireError } from "../bundle_shared.js";
import type { Bytes } from "../support/canonical_json.js";
import { blind, bytesOfNumber, drawBlinding, joined, KEY_BYTES, numberOf, unblind } from "./blind_rsa.js";

const TYPE = [0, 2];
const SPKI_BYTES = 342;
const MODULUS_AT = 81; // within a key
// RSASSA-PSS with SHA-384, MGF1 with it, salts of 48 bytes; then the modulus; then the exponent
const BEFORE =
  "30820152303d06092a864886f70d01010a3030a00d300b0609608648016503040202a11a301806092a864886f70d010108300b06096086480165" +
  "03040202a2030201300382010f003082010a0282010100";
const AFTER = "0203010001";

/** A text of a pass. */
export const PASS = /^fldp_pass_[\w-]{472}$/;

/** What a person draws for one pass before asking for it: nonce, salt, and the number that blinds. */
export const SECRET = /^[\da-f]{672}$/;

const base64 = (text: string): Bytes =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));

const base64Text = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_");

/** What all passes to one version of a survey have in common: the modulus of a key, and what is signed of it. */
export interface Terms {
  readonly n: bigint;
  readonly keyId: Bytes;
  readonly challenge: Bytes;
}

/** Return the terms of a key and a challenge. */
export async function termsOf(spki: Bytes, challenge: Bytes): Promise<Terms> {
  const n = numberOf(spki.subarray(MODULUS_AT, MODULUS_AT + KEY_BYTES));
  const rebuilt = BEFORE + n.toString(16) + AFTER;
  if (spki.length !== SPKI_BYTES || hex(spki) !== rebuilt || n >> 2047n !== 1n || !(n & 1n))
    throw new WireError("pass: the key of the issuer is none");
  return { n, keyId: await sha256(spki), challenge: await sha256(challenge) };
}

/** Return the terms of a version of a survey; an issuer is named by its origin without the scheme. */
export function surveyTerms(issuerKey: string, issuer: string | undefined, version: string): Promise<Terms> {
  const name = utf8(issuer?.replace(/^\w+:\/\//, "") ?? "collector");
  return termsOf(
    base64(issuerKey),
    joined(TYPE, [name.length >> 8, name.length & 255], name, [32], unhex(version), [0, 0]),
  );
}

/** Draw the secrets of a pass. */
export const drawSecret = ({ n }: Terms): string => hex(randomBytes(80)) + hex(bytesOfNumber(drawBlinding(n)));

const messageOf = (nonce: Uint8Array, { challenge, keyId }: Terms): Bytes => joined(TYPE, nonce, challenge, keyId);

/** Return the nonce, the salt and the blinding of what was drawn. */
function parts(secret: string): [Bytes, Bytes, bigint] {
  const bytes = unhex(secret);
  return [bytes.slice(0, 32), bytes.slice(32, 80), numberOf(bytes.subarray(80))];
}

/** Return the TokenRequest: it says nothing about the pass. */
export async function requestOf(terms: Terms, secret: string): Promise<Bytes> {
  const [nonce, salt, blinding] = parts(secret);
  return joined(TYPE, terms.keyId.subarray(-1), await blind(terms.n, messageOf(nonce, terms), salt, blinding));
}

/** Return the pass out of the TokenResponse; a wrong one is refused. */
export async function passOf(terms: Terms, secret: string, reply: Bytes): Promise<string> {
  const [nonce, , blinding] = parts(secret);
  const message = messageOf(nonce, terms);
  return `fldp_pass_${base64Text(joined(message, await unblind(terms.n, message, reply, blinding)))}`;
}
