/** Canonical JSON (RFC 8785): one text for one meaning, so that its hash can be an identifier. */
import { MAX_STRING_BYTES } from "./constants.js";
import { webCrypto } from "./web_crypto.js";

export type Bytes = Uint8Array<ArrayBuffer>;

/** Return the canonical text of a JSON value: keys in order, no white space. */
export function dumps(thing: unknown): string {
  if (Array.isArray(thing)) return `[${thing.map(dumps)}]`;
  if (Object(thing) !== thing) return JSON.stringify(thing);
  const fields = Object.entries(thing as object).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([key, value]) => `${JSON.stringify(key)}:${dumps(value)}`)}}`;
}

/** Return bytes as hexadecimal digits. */
export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Return the bytes of hexadecimal digits. */
export function unhex(digits: string): Bytes {
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

/** Return the UTF-8 bytes of a text. */
export function utf8(text: string): Bytes {
  return new TextEncoder().encode(text);
}

/** Return the bytes of a string that may be an answer, or null: the rule is the same for every survey. */
export function bytesOf(text: unknown): Bytes | null {
  const bytes = utf8(String(text));
  return typeof text === "string" && bytes.length && bytes.length <= MAX_STRING_BYTES && !/\p{Cs}/u.test(text)
    ? bytes
    : null;
}

/** Return the SHA-256 of bytes. */
export async function sha256(bytes: Bytes): Promise<Bytes> {
  return new Uint8Array(await webCrypto().subtle.digest("SHA-256", bytes));
}

/** Return the SHA-256 of the canonical text, as hexadecimal digits. */
export async function identifier(thing: unknown): Promise<string> {
  return hex(await sha256(utf8(dumps(thing))));
}
