/** Subset selection: report a set of values that is a little more likely to hold the true one. */
import { quotient, SCALE, subsetCoin } from "../../randomness/coins.js";
import { expLower, ONE } from "../../randomness/exp_lower.js";
import { MAX_VALUES } from "../../support/constants.js";
import { fail } from "../../support/errors.js";
import { bitLength, type Fields, integer, Oracle, type Report, wordOf } from "../base/oracle.js";

/** Return `(e^eps-1)^2 q (1-q)/(p-q)^2` as numerator and denominator, up to a common factor. */
function rareVariance(power: bigint, size: bigint, domainSize: bigint): [bigint, bigint] {
  const rest = domainSize - size;
  const weight = size * power + rest * ONE;
  return [(weight - power) * ((rest - 1n) * weight + size * power), size * rest * rest];
}

/** Return the size of the sets: the neighbour of `d/(e^eps+1)` with the smaller variance. */
function bestSize(epsilon: number, domainSize: bigint): bigint {
  const power = expLower(Math.min(epsilon, 64));
  const low = (domainSize * ONE) / (power + ONE) || 1n;
  if (domainSize - low < 2n) return low;
  const [a, b] = rareVariance(power, low, domainSize);
  const [c, d] = rareVariance(power, low + 1n, domainSize);
  return c * b < a * d ? low + 1n : low;
}

/** Return the size of sets with the least error on average over all contrasts of values, ties to the smaller. */
export function evenSize(epsilon: number, size: number): number {
  const power = expLower(Math.min(epsilon, 64));
  const domainSize = BigInt(size);
  const low = (domainSize * ONE) / (power + ONE) || 1n;
  if (domainSize - low < 2n) return Number(low);
  const error = (members: bigint): [bigint, bigint] => [
    (domainSize * ONE + (power - ONE) * members) ** 2n,
    members * (domainSize - members),
  ];
  const [a, b] = error(low);
  const [c, d] = error(low + 1n);
  return Number(c * b < a * d ? low + 1n : low);
}

/** Subset selection: a set of `w` values, sorted, that holds the true one with `w e^eps/(w e^eps + d - w)`. */
export class SS extends Oracle {
  static override readonly id = "ss";
  static override readonly rules = {
    ...Oracle.rules,
    set_size: {
      rule: "an integer below the number of values",
      initial: null,
      check: (value: unknown) => value === null || integer(1, MAX_VALUES).check(value),
    },
  };
  declare readonly words: number;
  declare readonly widths: readonly number[];
  readonly #size: number;
  readonly #coin: bigint;

  constructor(fields: Fields) {
    super(fields);
    const domainSize = BigInt(this.domainSize);
    const best = bestSize(this.epsilon, domainSize);
    const size = BigInt((this.settings.set_size as number | null) ?? best);
    if (size >= domainSize) throw fail(this.name, "set_size", `below ${domainSize}`, size);
    if (size === best) this.settings.set_size = null; // the same oracle, said or not
    this.#coin = subsetCoin(this.name, this.epsilon, size, domainSize);
    this.#size = Number(size);
    this.words = 1 + this.#size;
    this.widths = Array<number>(this.#size).fill(bitLength(this.domainSize - 1));
  }

  /** Word 0 tells whether the value is named; the others are drawn by the algorithm of Floyd, a word each. */
  override perturb(value: number, words: DataView): Report {
    const named = wordOf(words, 0) < this.#coin;
    const members = this.#size - Number(named);
    const chosen = new Set<number>(named ? [value] : []);
    const other = (number: number): number => number + Number(number >= value);
    for (let k = 1; k <= members; k++) {
      const bound = this.domainSize - 1 - members + k;
      const drawn = other(Number((wordOf(words, k) * BigInt(bound)) >> 64n));
      chosen.add(chosen.has(drawn) ? other(bound - 1) : drawn);
    }
    return Array.from(Uint32Array.from(chosen).sort()); // the order in which they were drawn would tell the true one
  }

  override check(report: Report): boolean {
    return report.every((value, k) => value < this.domainSize && (k === 0 || value > report[k - 1]));
  }

  override likely(report: Report): (value: number) => number {
    const inside = this.#coin * BigInt(this.domainSize - this.#size);
    const less = quotient((SCALE - this.#coin) * BigInt(this.#size), inside);
    const named = new Set(report);
    return (value) => (named.has(value) ? 1 : less);
  }
}
