/** Strings as values: what may be answered, and the fingerprint that stands for it; the same as `fldp/strings.py`. */

import { integer, Oracle, type Value } from "../oracles/base/oracle.js";
import { bytesOf, sha256 } from "../support/canonical_json.js";

/** Accept the seed of public hash functions. */
export const hashSeed = integer(0, Number.MAX_SAFE_INTEGER, 0);

const FINGERPRINTS = 1n << 63n;

/** Return the first 63 bits of the SHA-256 of a string, or -1 if it is not one that may be answered. */
async function fingerprint(text: string): Promise<bigint> {
  const bytes = bytesOf(text);
  return bytes ? new DataView((await sha256(bytes)).buffer).getBigUint64(0, true) % FINGERPRINTS : -1n;
}

/** An oracle whose values are strings that nobody can list: 1 to 1,024 bytes of UTF-8, as they are. */
export abstract class StringOracle extends Oracle {
  override read(text: string): Promise<bigint> {
    return fingerprint(text);
  }

  override holds(value: Value): boolean {
    return typeof value === "bigint" && value >= 0n && value < FINGERPRINTS;
  }
}
