/** FWR, flexible Walsh response: parities of the item under public masks, some as they are, some through a coin. */

import { quotient, respond, type SymbolCoin, symbolCoin } from "../../randomness/coins.js";
import { expLower, ONE } from "../../randomness/exp_lower.js";
import { MAX_HASH_BITS, MAX_MASKS } from "../../support/constants.js";
import { fail } from "../../support/errors.js";
import {
  bitLength,
  type Fields,
  flag,
  integer,
  Oracle,
  type Report,
  settleExposure,
  type Value,
  wordOf,
} from "../base/oracle.js";
import { DERIVES, drawDerived } from "../base/ticket_words.js";
import { leftBy, paritiesOf, scatter } from "./fwr_items.js";

const HALVINGS: readonly unknown[] = Array.from({ length: MAX_MASKS + 1 }, (_, k) => 1 / (1 << k));
const hashBits = integer(1, MAX_HASH_BITS);

/** Return the `m` whose `g = 2^m` symbols minimise `(E + g - 1)^2 / (g - 1)`, the smaller of two equals. */
function bestHashBits(epsilon: number): number {
  const power = expLower(Math.min(epsilon, 64));
  const cost = (m: number): [bigint, bigint] => {
    const others = (1n << BigInt(m)) - 1n;
    return [(power + others * ONE) ** 2n, others];
  };
  let best = 1;
  for (let m = 2; m <= MAX_HASH_BITS; m++) {
    const [[a, b], [c, d]] = [cost(m), cost(best)];
    if (a * d < c * b) best = m;
  }
  return best;
}

/**
 * Flexible Walsh response: `k` parities of the item as they are, `m` through randomized response.
 *
 * It is exactly (eps, eta = 2^-k)-FLDP. An eta below 1 is weaker than LDP: each report rules out all but about a share
 * eta of the domain with certainty.
 */
export class FWR extends Oracle {
  static override readonly id: string = "fwr";
  static override readonly rules: typeof Oracle.rules = {
    ...Oracle.rules,
    eta: {
      rule: `1, 1/2, ... 1/${1 << MAX_MASKS}`,
      initial: 1,
      check: (value) => HALVINGS.includes(value),
    },
    hash_bits: { ...hashBits, initial: null, check: (value) => value === null || hashBits.check(value) },
    allow_exposure: flag,
  };
  declare readonly words: number;
  declare readonly widths: readonly number[];
  readonly #leaks: number;
  readonly #masks: number;
  readonly #item: (value: number) => number;
  readonly #coin: SymbolCoin;

  constructor(fields: Fields) {
    super(fields);
    this.eta = this.settings.eta as number;
    const best = bestHashBits(this.epsilon);
    const bits = (this.settings.hash_bits as number | null) ?? best;
    if (bits === best && this.name === "fwr") this.settings.hash_bits = null; // the same oracle, said or not
    this.#coin = symbolCoin(this.name, this.epsilon, 1 << bits);
    this.#leaks = HALVINGS.indexOf(this.eta);
    this.#masks = this.#leaks + bits;
    if (this.#masks > MAX_MASKS) throw fail(this.name, "eta", `at least 1/${1 << (MAX_MASKS - bits)}`, this.eta);
    this.words = Math.ceil(this.#masks / 2) + 1;
    this.widths = [...Array<number>(this.#masks).fill(bitLength(this.domainSize - 1)), this.#masks];
    this.#item = scatter(this.domainSize);
    this.anonymity = leftBy(this.domainSize, this.#leaks);
    settleExposure(this);
  }

  override get collects(): Fields {
    return this.eta === 1 ? DERIVES : {};
  }

  override derive(value: Value, version: string, ticket?: string): Promise<Report> {
    return drawDerived(this, this.words - 1, value, version, ticket);
  }

  /** Two masks from each word, then the parities under them; the last word throws the coin. */
  override perturb(value: number, words: DataView): Report {
    const item = this.#item(value);
    const most = (1 << this.widths[0]) - 1;
    const masks = Array.from({ length: this.#masks }, (_, j) => words.getUint32(4 * j, true) & most);
    const bits = paritiesOf(item, masks);
    const symbol = respond(bits >> this.#leaks, wordOf(words, this.words - 1), this.#coin);
    return [...masks, (bits & ((1 << this.#leaks) - 1)) | (symbol << this.#leaks)];
  }

  /** A report is possible if some value is: where leaked masks cancel out, so must their parities. */
  override check(report: Report): boolean {
    return this.#leaks === 0 || [...Array(this.domainSize).keys()].some(this.likely(report));
  }

  override likely(report: Report): (value: number) => number {
    const less = quotient(this.#coin.other, this.#coin.keep);
    const masks = report.slice(0, -1) as number[];
    return (value) => {
      const wrong = paritiesOf(this.#item(value), masks) ^ (report[this.#masks] as number);
      return wrong & ((1 << this.#leaks) - 1) ? 0 : wrong ? less : 1;
    };
  }
}

/** Hadamard randomized response: one parity under a public mask, through a coin. FWR with eta 1 and one hash bit. */
export class HRR extends FWR {
  static override readonly id = "hrr";
  static override readonly rules = {
    ...FWR.rules,
    eta: { rule: "1", initial: 1, check: (value: unknown) => value === 1 },
    hash_bits: integer(1, 1, 1),
  };
}
