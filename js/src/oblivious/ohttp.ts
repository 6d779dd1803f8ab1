/** Oblivious HTTP (RFC 9458), the client's side: the keys of a gateway, encrypted requests, and their replies. */

import { WireError } from "../bundle_shared.js";
import type { Bytes } from "../support/canonical_json.js";
import { cipher, expand, extract, joined, KEM, PUBLIC_BYTES, SYMMETRIC, sender } from "./hpke.js";

const NONCE_BYTES = 16;

/** A public key of a gateway, by its number. */
export interface KeyConfig {
  readonly number: number;
  readonly key: Bytes;
}

/** One request, encrypted, and what reads its reply. */
export interface Exchange {
  readonly body: Bytes;
  /** Return the reply inside; one that is not the gateway's is an error. */
  read(reply: Bytes): Promise<Bytes>;
}

const malformed = (): WireError => new WireError("relay: its keys are malformed");

/** Whether bytes begin, at a place, with others. */
const isAt = (data: Bytes, place: number, part: readonly number[]): boolean =>
  part.every((byte, index) => data[place + index] === byte);

/** Return the configuration of the suite that we have, which offers pairs of numbers; undefined for another one. */
function configOf(data: Bytes): KeyConfig | undefined {
  const start = 3 + PUBLIC_BYTES;
  const size = data[start] * 256 + data[start + 1];
  if (!isAt(data, 1, KEM)) return undefined;
  if (!size || size % 4 || data.length !== start + 2 + size) throw malformed();
  for (let place = start + 2; place < data.length; place += 4) {
    if (isAt(data, place, SYMMETRIC)) return { number: data[0], key: data.slice(3, start) };
  }
  return undefined;
}

/** Return the gateway's preferred key of those that we can use. */
export function keyOf(keys: Bytes): KeyConfig {
  const configs: (KeyConfig | undefined)[] = [];
  for (let rest = keys; rest.length; ) {
    const end = 2 + rest[0] * 256 + rest[1];
    if (!(end > 4 && end <= rest.length)) throw malformed();
    configs.push(configOf(rest.slice(2, end)));
    rest = rest.slice(end);
  }
  const usable = configs.find(Boolean);
  if (usable) return usable;
  throw new WireError("relay: the collector has no key for X25519, HKDF-SHA256 and AES-128-GCM");
}

/** Encrypt a request to a gateway. `own` is for test vectors only. */
export async function encapsulate(
  { number, key }: KeyConfig,
  request: Bytes,
  own?: Promise<CryptoKeyPair>,
): Promise<Exchange> {
  const header = joined([number], KEM, SYMMETRIC);
  const context = await sender(key, joined("message/bhttp request", [0], header), own);
  const read = async (reply: Bytes): Promise<Bytes> => {
    const secret = await context.export("message/bhttp response", NONCE_BYTES);
    const pseudorandom = await extract(joined(context.encapsulated, reply.slice(0, NONCE_BYTES)), secret);
    const [replyKey, nonce] = [await expand(pseudorandom, 16, "key"), await expand(pseudorandom, 12, "nonce")];
    return cipher("decrypt", replyKey, nonce, reply.slice(NONCE_BYTES));
  };
  return { body: joined(header, context.encapsulated, await context.encrypt(request)), read };
}
