/** Randomness and hashes, from WebCrypto and from nothing else. */
import { FldpError } from "../support/errors.js";

const MAX_BYTES = 65_536; // that one call of getRandomValues gives

/** Return WebCrypto, all of which browsers offer to safe pages only; there is nothing to fall back to. */
export function webCrypto(): Crypto {
  const source = globalThis.crypto as Partial<Crypto> | undefined;
  if (source?.subtle && source.getRandomValues) return source as Crypto;
  throw new FldpError("fldp: WebCrypto must be there (https)");
}

/** Return so many random bytes. */
export function randomBytes(count: number): Uint8Array<ArrayBuffer> {
  const source = webCrypto();
  const made = new Uint8Array(count);
  for (let start = 0; start < count; start += MAX_BYTES) {
    source.getRandomValues(made.subarray(start, start + MAX_BYTES));
  }
  return made;
}

/** Return an integer below `size`, all equally likely: a number beyond the last multiple of it is drawn again. */
export function uniform(size: number): number {
  const word = randomWords(1).getUint32(0);
  const rest = word % size;
  return word - rest > 2 ** 32 - size ? uniform(size) : rest;
}

/** Return so many random words, of 64 bits each. */
export function randomWords(count: number): DataView {
  return new DataView(randomBytes(8 * count).buffer);
}
