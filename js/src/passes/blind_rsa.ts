/**
 * Blind RSA signatures, RSABSSA-SHA384-PSS-Deterministic of RFC 9474: for those who ask. WebCrypto has PSS, but no RSA
 * on bare numbers, without which nothing can be blinded. As in `fldp/passes/blind_rsa.py`.
 */

import { hex, randomBytes, unhex, WireError, webCrypto } from "../bundle_shared.js";
import type { Bytes } from "../support/canonical_json.js";

export const KEY_BYTES = 256;
const HASH_BYTES = 48;
const SALT_BYTES = 48;

/** Return bytes one after the other. */
export function joined(...parts: readonly (Uint8Array | readonly number[])[]): Bytes {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

export const numberOf = (bytes: Uint8Array): bigint => BigInt(`0x${hex(bytes) || "0"}`);

/** Return a number as this many bytes. */
export const bytesOfNumber = (number: bigint, size = KEY_BYTES): Bytes =>
  unhex(number.toString(16).padStart(2 * size, "0"));

/** Return the power with the exponent of all keys, 65537. */
function raised(base: bigint, n: bigint): bigint {
  let power = base;
  for (let step = 0; step < 16; step++) power = (power * power) % n;
  return (power * base) % n;
}

/** Return the inverse, 0 where there is none. */
function inverse(number: bigint, n: bigint): bigint {
  let [a, b, x, y] = [n, number % n, 0n, 1n];
  while (b) [a, b, x, y] = [b, a % b, y, x - (a / b) * y];
  return a === 1n ? (x + n) % n : 0n;
}

async function sha384(...parts: readonly Uint8Array[]): Promise<Bytes> {
  return new Uint8Array(await webCrypto().subtle.digest("SHA-384", joined(...parts)));
}

/** Mask a block by MGF1. */
async function mixed(block: Uint8Array, seed: Uint8Array): Promise<Bytes> {
  const mask: Bytes[] = [];
  for (let at = 0; at * HASH_BYTES < block.length; at++) mask.push(await sha384(seed, Uint8Array.of(0, 0, 0, at)));
  const whole = joined(...mask);
  return Uint8Array.from(block, (byte, place) => byte ^ whole[place]);
}

/** EMSA-PSS-ENCODE of RFC 8017 with SHA-384, into one bit less than this number of bytes. */
export async function encode(message: Uint8Array, salt: Uint8Array, size = KEY_BYTES): Promise<Bytes> {
  const digest = await sha384(new Uint8Array(8), await sha384(message), salt);
  const block = joined(new Uint8Array(size - salt.length - HASH_BYTES - 2), [1], salt);
  const masked = await mixed(block, digest);
  masked[0] &= 0x7f;
  return joined(masked, digest, [0xbc]);
}

/** Return a number to blind with, uniform among those that have an inverse. */
export function drawBlinding(n: bigint): bigint {
  for (;;) {
    const number = numberOf(randomBytes(KEY_BYTES));
    if (number < n && inverse(number, n)) return number;
  }
}

/** Return the encoded message times the power of `blinding`: without that, it could be any number. */
export async function blind(n: bigint, message: Uint8Array, salt: Uint8Array, blinding: bigint): Promise<Bytes> {
  const size = n.toString(16).length / 2;
  return bytesOfNumber((numberOf(await encode(message, salt, size)) * raised(blinding, n)) % n, size);
}

/** Return the signature out of the blind one; a wrong one is refused. */
export async function unblind(n: bigint, message: Uint8Array, signed: Bytes, blinding: bigint): Promise<Bytes> {
  const [size, number] = [n.toString(16).length / 2, numberOf(signed)];
  const signature = (number * inverse(blinding, n)) % n;
  const opened = bytesOfNumber(raised(signature, n), size);
  const digest = opened.subarray(-HASH_BYTES - 1, -1);
  const salt = (await mixed(opened.subarray(0, -HASH_BYTES - 1), digest)).subarray(-SALT_BYTES);
  if (signed.length !== size || number >= n || hex(await encode(message, salt, size)) !== hex(opened))
    throw new WireError("pass: the answer of the issuer is not its signature");
  return bytesOfNumber(signature, size);
}
