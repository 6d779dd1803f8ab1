/** Fingerprints: the 63-bit hashes that stand for strings; the same as in `fldp/data/fingerprints.py`. */
import { bytesOf, sha256 } from "../support/canonical_json.js";

/** The number of fingerprints. */
export const FINGERPRINTS = 1n << 63n;

/** Return the first 63 bits of the SHA-256 of a string, or -1 if it may not be answered. */
export async function fingerprint(text: string): Promise<bigint> {
  const bytes = bytesOf(text);
  return bytes ? new DataView((await sha256(bytes)).buffer).getBigUint64(0, true) % FINGERPRINTS : -1n;
}
