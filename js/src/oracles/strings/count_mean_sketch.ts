/** Count-mean sketches: hash the string by one of many public functions to a bucket, then respond on the buckets. */

import { MAX_CELLS } from "../../support/constants.js";
import { fail } from "../../support/errors.js";
import {
  bitLength,
  type Fields,
  type Oracle,
  type OracleClass,
  positive,
  powerOfTwo,
  type Report,
  type Value,
} from "../base/oracle.js";
import { hashSeed, StringOracle } from "../base/string_oracle.js";
import { DERIVES, drawDerived } from "../base/ticket_words.js";
import { HRR } from "../flexible/fwr.js";
import { hashed, keyedHash } from "../plain/olh.js";
import { SUE } from "../plain/unary.js";

abstract class Sketch extends StringOracle {
  static override readonly rules = {
    epsilon: positive,
    hashes: powerOfTwo(1, 1024),
    width: powerOfTwo(2, 1024),
    hash_seed: hashSeed,
  };
  declare readonly words: number;
  declare readonly widths: readonly number[];
  readonly #hashes: number;
  readonly #response: Oracle;

  constructor(fields: Fields, Response: OracleClass) {
    super(fields);
    const { epsilon, hashes, width } = this.settings as Record<string, number>;
    if (hashes * width > MAX_CELLS) throw fail(this.name, "hashes", `at most ${MAX_CELLS} divided by width`, hashes);
    this.#response = new Response({ epsilon, domain_size: width });
    this.#hashes = hashes;
    this.words = 1 + this.#response.words;
    this.widths = [bitLength(hashes) - 1, ...this.#response.widths];
  }

  /** Word 0 draws the hash function, without regard to the string; the response takes the others. */
  override perturb(mark: bigint, words: DataView): Report {
    const row = words.getUint32(0, true) & (this.#hashes - 1);
    const rest = new DataView(words.buffer, words.byteOffset + 8, words.byteLength - 8);
    return [row, ...this.#response.perturb(this.#bucket(row, mark), rest)];
  }

  override likely([row, ...rest]: Report): (mark: bigint) => number {
    const likely = this.#response.likely(rest);
    return (mark) => likely(this.#bucket(row as number, mark));
  }

  #bucket(row: number, mark: bigint): number {
    return hashed(keyedHash(BigInt(this.settings.hash_seed as number), BigInt(row)), mark, this.#response.domainSize);
  }
}

/** Private count-mean sketch: the bucket as a bit among `width`, every bit flipped alike. */
export class CMS extends Sketch {
  static override readonly id = "cms";

  constructor(fields: Fields) {
    super(fields, SUE);
  }
}

/** Hadamard count-mean sketch: one bit of the Hadamard transform of the bucket, through a coin. */
export class HCMS extends Sketch {
  static override readonly id = "hcms";

  constructor(fields: Fields) {
    super(fields, HRR);
  }

  override get collects(): Fields {
    return DERIVES;
  }

  override derive(value: Value, version: string, ticket?: string): Promise<Report> {
    return drawDerived(this, 2, value, version, ticket);
  }
}
