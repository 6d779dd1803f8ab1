/** The exponential mechanism: report a value that is probably near to the true one. */

import { bitLength, degenerate, expLower, integer, ONE, Oracle, SCALE, wordOf } from "../../bundle_shared.js";
import { MAX_CONDITION, MAX_NEAR } from "../../support/constants.js";
import type { Fields, Report } from "../base/oracle.js";

/** For each value, how many of `2^64` words give each symbol. */
type Shares = readonly (readonly bigint[])[];

/** How far two values are from each other at most, and how far these two are. Neighbours are at distance 1. */
interface Distance {
  most(size: number): number;
  between(value: number, other: number, size: number): number;
}

const apart = (value: number, other: number): number => Math.abs(value - other);
const DISTANCES: Readonly<Record<string, Distance>> = {
  line: { most: (size) => size - 1, between: apart },
  ring: {
    most: (size) => Math.floor(size / 2),
    between: (value, other, size) => Math.min(apart(value, other), size - apart(value, other)),
  },
};

/** Return the weights of all distances; distance 0 has `2^128`. Steps are a little short, so that rounding is safe. */
function weightsOf(power: bigint, most: number): bigint[] {
  const step = power - (power - ONE) / 2048n;
  const weights = [ONE];
  while (weights.length <= most) weights.push((weights[weights.length - 1] * ONE) / step);
  return weights;
}

/** Divide all words among the symbols by their weights, rounded down; what is left over goes to the value itself. */
function sharesOf(weights: readonly bigint[], value: number): bigint[] {
  const total = (row: readonly bigint[]): bigint => row.reduce((sum, part) => sum + part, 0n);
  const sum = total(weights);
  const row = weights.map((weight) => (SCALE * weight) / sum);
  row[value] += SCALE - total(row);
  return row;
}

/** Whether two neighbours are within `e^alpha`, and whether the first gives itself enough more often. */
function areKept(rows: Shares, [one, two]: readonly number[], power: bigint, [own, next]: readonly bigint[]): boolean {
  const [kept, shared] = [rows[one][one], rows[one][two]];
  const within = rows[one].every((a, k) => a * ONE <= power * rows[two][k] && rows[two][k] * ONE <= power * a);
  return within && own > next && shared > 0n && 1024n * next * (kept - shared) >= 1023n * (own - next) * shared;
}

/** Return the sums of a row that is the same read backwards, each part times a cosine. Twice, it is the row again. */
function spectrum(row: readonly number[]): number[] {
  const turn = (2 * Math.PI) / row.length;
  return row.map((_, k) => row.reduce((sum, part, j) => sum + part * Math.cos(turn * ((j * k) % row.length)), 0));
}

const sumOf = (row: readonly number[]): number => row.reduce((sum, part) => sum + Math.abs(part), 0);

/** Return the largest sum of a column of the inverse of a channel on a ring: it turns with the value, as the channel. */
function inverseOnRing([first]: readonly number[][]): number {
  return sumOf(spectrum(spectrum(first).map((part) => 1 / part))) / first.length;
}

/** Return the same of one on a line: except for the factors of its rows, only neighbours meet in the inverse. */
function inverseOnLine(channel: readonly number[][], next: bigint): number {
  const gap = Number(ONE - next);
  const sums = channel.map(
    (row, value) => (Number(ONE) + (value % (row.length - 1) && Number(next))) / gap / row[value],
  );
  return Math.max(...sums);
}

/** Return how much the inverse of a channel can enlarge a relative error; infinite or NaN where there is none. */
function conditionOf(shares: Shares, isRing: boolean, next: bigint): number {
  const channel = shares.map((row) => row.map((share) => Number(share) / Number(SCALE)));
  const columns = channel.map((_, symbol) => sumOf(channel.map((row) => row[symbol])));
  return Math.max(...columns) * (isRing ? inverseOnRing(channel) : inverseOnLine(channel, next));
}

/**
 * A value the likelier the nearer it is to the true one, on a line or a ring: neighbours are protected by `alpha`, and
 * values at distance `k` by `alpha k`, which is at most epsilon.
 */
export class Exponential extends Oracle {
  static override readonly id = "exponential";
  static override readonly rules = {
    ...Oracle.rules,
    domain_size: integer(2, MAX_NEAR),
    distance: {
      rule: `one of ${Object.keys(DISTANCES)}`,
      check: (value: unknown) => Object.keys(DISTANCES).includes(value as string),
    },
  };
  readonly words = 1;
  declare readonly widths: readonly number[];
  /** The epsilon between neighbours. */
  declare readonly alpha: number;
  readonly #shares: Shares;

  constructor(fields: Fields) {
    super(fields);
    const { epsilon, domainSize: size } = this;
    const { most, between } = DISTANCES[this.settings.distance as string];
    if (epsilon >= 64) throw degenerate(this.name, epsilon);
    this.alpha = epsilon / most(size);
    const isRing = between === DISTANCES.ring.between; // there the sums of all weights are equal, so steps may be larger
    const weights = weightsOf(expLower(isRing ? this.alpha : this.alpha / 2), most(size));
    const values = Array.from({ length: size }, (_, value) => value);
    this.#shares = values.map((value) =>
      sharesOf(
        values.map((symbol) => weights[between(value, symbol, size)]),
        value,
      ),
    );
    const pairs = values.map((value) => [value, (value + 1) % size]).slice(0, isRing ? size : -1);
    const power = expLower(this.alpha);
    const kept = pairs.every((pair) => areKept(this.#shares, pair, power, weights));
    if (!kept || !(conditionOf(this.#shares, isRing, weights[1]) <= MAX_CONDITION))
      throw degenerate(this.name, epsilon);
    this.widths = [bitLength(size - 1)];
  }

  /** Symbols follow each other in `[0, 2^64)`, each with its words. All are looked at: the time must not tell which. */
  override perturb(value: number, words: DataView): Report {
    const word = wordOf(words, 0);
    let [end, symbol] = [0n, 0];
    for (const share of this.#shares[value]) {
      end += share;
      symbol += Number(word >= end);
    }
    return [symbol];
  }

  override check([symbol]: Report): boolean {
    return symbol < this.domainSize;
  }

  override likely([symbol]: Report): (value: number) => number {
    return (value) => Number(this.#shares[value][symbol as number]);
  }
}
