/** Randomness, from WebCrypto and from nothing else. */
import { FldpError } from "./errors.js";

const MOST_BYTES = 65_536; // that one call of getRandomValues gives

/** Return so many random bytes; without WebCrypto there are none. */
export function randomBytes(count: number): Uint8Array<ArrayBuffer> {
  const source = globalThis.crypto;
  if (!source?.getRandomValues) throw new FldpError("fldp: crypto.getRandomValues must be there, nothing else will do");
  const made = new Uint8Array(count);
  for (let start = 0; start < count; start += MOST_BYTES) {
    source.getRandomValues(made.subarray(start, start + MOST_BYTES));
  }
  return made;
}

/** Return so many random words, of 64 bits each. */
export function randomWords(count: number): DataView {
  return new DataView(randomBytes(8 * count).buffer);
}
