/** Randomness, from WebCrypto and from nothing else. */
import { webCrypto } from "../support/web_crypto.js";

const MAX_BYTES = 65_536; // of one call of getRandomValues

/** Return random bytes. */
export function randomBytes(count: number): Uint8Array<ArrayBuffer> {
  const source = webCrypto();
  const bytes = new Uint8Array(count);
  for (let start = 0; start < count; start += MAX_BYTES) {
    source.getRandomValues(bytes.subarray(start, start + MAX_BYTES));
  }
  return bytes;
}

/** Return an integer below `size`, all equally likely: a number beyond the last multiple of it is drawn again. */
export function uniform(size: number): number {
  const word = randomWords(1).getUint32(0);
  const rest = word % size;
  return word - rest > 2 ** 32 - size ? uniform(size) : rest;
}

/** Return random words of 64 bits each. */
export function randomWords(count: number): DataView {
  return new DataView(randomBytes(8 * count).buffer);
}
