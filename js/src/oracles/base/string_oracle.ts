/** Oracles over strings, whose fingerprints are their values. */
import { FINGERPRINTS, fingerprint } from "../../data/fingerprints.js";
import { integer, Oracle, type Value } from "./oracle.js";

/** Accept the seed of public hash functions. */
export const hashSeed = integer(0, Number.MAX_SAFE_INTEGER, 0);

/** An oracle whose values are strings that nobody can list: 1 to 1,024 bytes of UTF-8, taken literally. */
export abstract class StringOracle extends Oracle {
  override read(text: string): Promise<bigint> {
    return fingerprint(text);
  }

  override holds(value: Value): boolean {
    return typeof value === "bigint" && value >= 0n && value < FINGERPRINTS;
  }
}
