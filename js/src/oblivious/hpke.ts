/**
 * HPKE (RFC 9180) in base mode, for one message of a sender, with one suite: X25519, HKDF-SHA256, AES-128-GCM. Curve,
 * hash and cipher are WebCrypto's.
 */

import { FldpError, utf8, webCrypto } from "../bundle_shared.js";
import type { Bytes } from "../support/canonical_json.js";

export const KEM = [0, 32];
export const SYMMETRIC = [0, 1, 0, 1]; // HKDF-SHA256 and AES-128-GCM
export const PUBLIC_BYTES = 32;
const HASH_BYTES = 32;
const NONE: Bytes = new Uint8Array();

/** What both sides derive from one encapsulated key. */
export interface Context {
  /** The sender's half of the agreement, which goes along with the message. */
  readonly encapsulated: Bytes;
  /** Encrypt the one message. */
  encrypt(plaintext: Bytes, associated?: Bytes): Promise<Bytes>;
  /** Return a secret that both sides know, for another use. */
  export(label: Part, length: number): Promise<Bytes>;
}

type Part = string | ArrayLike<number>;

const subtle = (): SubtleCrypto => webCrypto().subtle;
const bytesIn = async (buffer: Promise<ArrayBuffer>): Promise<Bytes> => new Uint8Array(await buffer);

const keyFrom = (raw: Bytes, algorithm: string | HmacImportParams, ...uses: KeyUsage[]): Promise<CryptoKey> =>
  subtle().importKey("raw", raw, algorithm, false, uses);

/** Put texts and bytes behind each other. */
export function joined(...parts: readonly Part[]): Bytes {
  return Uint8Array.from(parts.flatMap((part) => Array.from(typeof part === "string" ? utf8(part) : part)));
}

/** HKDF-Extract, an HMAC. An empty key is one of zeros, and WebCrypto refuses the empty one. */
export async function extract(key: Bytes, ...data: readonly Part[]): Promise<Bytes> {
  const raw = key.length ? key : new Uint8Array(HASH_BYTES);
  const signer = await keyFrom(raw, { name: "HMAC", hash: "SHA-256" }, "sign");
  return bytesIn(subtle().sign("HMAC", signer, joined(...data)));
}

/** HKDF-Expand to at most one block, which is all that this suite asks for. */
export const expand = async (key: Bytes, length: number, ...info: readonly Part[]): Promise<Bytes> =>
  (await extract(key, ...info, [1])).slice(0, length);

/** AES-128-GCM; a message that was changed is an error of WebCrypto. */
export async function cipher(use: "encrypt" | "decrypt", key: Bytes, iv: Bytes, data: Bytes, additionalData = NONE) {
  const imported = await keyFrom(key, "AES-GCM", use);
  return bytesIn(subtle()[use]({ name: "AES-GCM", iv, additionalData }, imported, data));
}

/** Return both functions of HKDF with labels, for a suite. */
const labeled = (...suite: readonly Part[]) => ({
  extract: (salt: Bytes, label: string, secret: Part) => extract(salt, "HPKE-v1", ...suite, label, secret),
  expand: (key: Bytes, length: number, label: string, ...info: readonly Part[]) =>
    expand(key, length, [0, length], "HPKE-v1", ...suite, label, ...info),
});

/** Make the pair of keys of one message; nothing else would do where the browser cannot. */
async function ephemeral(): Promise<CryptoKeyPair> {
  try {
    return (await subtle().generateKey("X25519", false, ["deriveBits"])) as CryptoKeyPair;
  } catch {
    throw new FldpError("relay: this browser lacks X25519, and sends nothing without it; use a newer one");
  }
}

/** Return what a sender derives. A recipient's key of small order is refused by WebCrypto. */
export async function sender(recipient: Bytes, info: Part, own = ephemeral()): Promise<Context> {
  const { publicKey, privateKey } = await own;
  const encapsulated = await bytesIn(subtle().exportKey("raw", publicKey));
  const to = await keyFrom(recipient, "X25519");
  const agreed = await bytesIn(subtle().deriveBits({ name: "X25519", public: to }, privateKey, 256));
  const kem = labeled("KEM", KEM);
  const agreement = await kem.extract(NONE, "eae_prk", agreed);
  const shared = await kem.expand(agreement, HASH_BYTES, "shared_secret", encapsulated, recipient);
  const hpke = labeled("HPKE", KEM, SYMMETRIC);
  // The key schedule of base mode, which has no pre-shared key.
  const hashes = [await hpke.extract(NONE, "psk_id_hash", NONE), await hpke.extract(NONE, "info_hash", info)];
  const secret = await hpke.extract(shared, "secret", NONE);
  const derive = (label: string, length: number) => hpke.expand(secret, length, label, [0], ...hashes);
  const [key, nonce, exporter] = [await derive("key", 16), await derive("base_nonce", 12), await derive("exp", 32)];
  return {
    encapsulated,
    encrypt: (plaintext, associated) => cipher("encrypt", key, nonce, plaintext, associated),
    export: (label, length) => hpke.expand(exporter, length, "sec", label),
  };
}
