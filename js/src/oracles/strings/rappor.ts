/** RAPPOR: a Bloom filter of a string, perturbed once for good and once more for every report. */

import { closeTo, quotient, upwards } from "../../randomness/coins.js";
import { dyadic, expLower, ONE } from "../../randomness/exp_lower.js";
import { randomWords } from "../../randomness/random.js";
import { fail } from "../../support/errors.js";
import { bitLength, type Fields, integer, positive, powerOfTwo, type Report } from "../base/oracle.js";
import { hashSeed, StringOracle } from "../base/string_oracle.js";
import { hashed, keyedHash } from "../plain/olh.js";
import { below, byteWidths } from "../plain/unary.js";

/** Numbers of `planes` bits are compared with `flip`, then with `one` or `zero`, as in `fldp/randomness/two_stage_coins.py`. */
interface StageCoins {
  readonly planes: number;
  readonly flip: bigint;
  readonly zero: bigint;
  readonly one: bigint;
  /** How much more likely a bit is reported as 1, and as 0, if the string sets it. */
  readonly odds: readonly [number, number];
}

/** Return the least number that is good: all from it on are, and `high` is. */
function least(low: bigint, high: bigint, good: (number: bigint) => boolean): bigint {
  while (low < high) {
    const middle = (low + high) / 2n;
    if (good(middle)) high = middle;
    else low = middle + 1n;
  }
  return low;
}

/** Return the `p` with the least error, as a fraction. */
function bestP(odds: bigint, flip: bigint, whole: bigint): [bigint, bigint] {
  if (2n * flip >= whole) return [1n, 2n];
  return [2n * (whole - flip) * ONE - flip * (ONE + odds), 2n * (ONE + odds) * (whole - 2n * flip)];
}

/** Choose the coins: `flip` rounded up, `p` as given or the best, the largest `q` that is allowed; few planes. */
function stageCoins(owner: string, epsilon: number, lasting: number, hashes: number, p: number | null): StageCoins {
  const [h, first, all] = [BigInt(hashes), expLower(Math.min(epsilon, 64)), expLower(Math.min(lasting, 64))];
  for (let planes = 20n; planes <= 64n && epsilon <= lasting && lasting < 64; planes += 1n) {
    const whole = 1n << planes;
    const kept = (flip: bigint) => [(whole - flip) ** (2n * h), flip ** (2n * h)];
    const within = ([a, b]: bigint[], power: bigint) => a * ONE <= power * b;
    const flip = least(1n, whole / 2n, (number) => within(kept(number), all));
    const [a, b] = p === null ? bestP(expLower(epsilon / hashes), flip, whole) : [dyadic(p)[0], 1n << dyadic(p)[1]];
    const wanted = upwards(a * whole, b);
    const zero = wanted < 1n ? 1n : wanted > whole - 2n ? whole - 2n : wanted;
    // the probabilities that a bit of the filter that is 0 or 1 is reported as 1, times `whole` squared
    const stars = (one: bigint) => [zero * whole + flip * (one - zero), one * whole - flip * (one - zero)];
    const sent = ([low, high]: bigint[]) => [(high * (whole * whole - low)) ** h, (low * (whole * whole - high)) ** h];
    const one = whole - least(1n, whole - zero, (missing) => within(sent(stars(whole - missing)), first));
    const [low, high] = stars(one);
    const near = ([a, b]: bigint[], power: bigint) => a > b && a * ONE <= power * b && closeTo(power, a, b);
    if (near(sent([low, high]), first) && near(kept(flip), all)) {
      const odds = [quotient(high, low), quotient(whole * whole - high, whole * whole - low)] as const;
      return { planes: Number(planes), flip, zero, one, odds };
    }
  }
  throw fail(owner, "epsilon", "one that coins can realise, at most epsilon_permanent", [epsilon, lasting]);
}

/**
 * A Bloom filter of a string, perturbed in two stages. The first is drawn once and kept; one report keeps `epsilon`,
 * and all that are made of what is kept keep `epsilon_permanent`, however many they are.
 */
export class RAPPOR extends StringOracle {
  static override readonly id = "rappor";
  static override readonly rules = {
    epsilon: positive,
    epsilon_permanent: positive,
    bits: integer(2, 4096, 128),
    hashes: integer(1, 16, 1),
    cohorts: powerOfTwo(1, 64),
    p: {
      rule: "a positive number below 1",
      initial: null,
      check: (value: unknown) => value === null || (positive.check(value) && (value as number) < 1),
    },
    hash_seed: hashSeed,
  };
  declare readonly lastingEpsilon: number;
  declare readonly words: number;
  declare readonly widths: readonly number[];
  readonly #keepWords: number;
  readonly #coins: StageCoins;

  constructor(fields: Fields) {
    super(fields);
    const { epsilon, epsilon_permanent, bits, hashes, cohorts, p } = this.settings as Record<string, number>;
    this.lastingEpsilon = epsilon_permanent;
    this.#coins = stageCoins(this.name, epsilon, epsilon_permanent, hashes, p);
    const stage = this.#coins.planes * Math.ceil(bits / 64);
    this.#keepWords = 1 + stage;
    this.words = this.#keepWords + stage;
    this.widths = [bitLength(cohorts) - 1, ...byteWidths(bits)];
  }

  override get collects(): Fields {
    return { repeat: "daily" };
  }

  override perturb(mark: bigint, words: DataView): Report {
    return this.#responded(this.#kept(mark, words), words, this.#keepWords);
  }

  /** Draw what is kept of a string, in the form of a report: it is never to be sent. */
  override keep(mark: bigint): Report {
    return this.#kept(mark, randomWords(this.#keepWords));
  }

  override respond(kept: Report): Report {
    return this.#responded(kept, randomWords(this.words - this.#keepWords), 0);
  }

  override likely([cohort, ...bytes]: Report): (mark: bigint) => number {
    const [one, zero] = this.#coins.odds;
    const set = (bit: number) => ((bytes[bit >> 3] as number) >> (bit & 7)) & 1;
    return (mark) =>
      this.#places(cohort as number, mark).reduce((product, bit) => product * (set(bit) ? one : zero), 1);
  }

  /** Word 0 draws the cohort, the others flip bits of the filter. */
  #kept(mark: bigint, words: DataView): Report {
    const cohort = words.getUint32(0, true) & ((this.settings.cohorts as number) - 1);
    const row = this.#row(words, 1, this.#coins.flip);
    for (const bit of this.#places(cohort, mark)) row[bit >> 3] ^= 1 << (bit & 7);
    return [cohort, ...row];
  }

  #responded([cohort, ...bytes]: Report, words: DataView, start: number): Report {
    const [ones, zeros] = [this.#row(words, start, this.#coins.one), this.#row(words, start, this.#coins.zero)];
    return [cohort, ...ones.map((byte, k) => ((bytes[k] as number) & byte) | (~(bytes[k] as number) & zeros[k]))];
  }

  /** Return a bit for each of the filter, 1 where its number is below a threshold. */
  #row(words: DataView, start: number, threshold: bigint): Uint8Array {
    return below(words, start, this.#coins.planes, threshold, this.settings.bits as number);
  }

  /** Return the bits that a string sets, each once. */
  #places(cohort: number, mark: bigint): number[] {
    const { bits, hashes, hash_seed } = this.settings as Record<string, number>;
    const seed = (k: number): bigint => keyedHash(BigInt(hash_seed), BigInt(cohort * hashes + k));
    return [...new Set(Array.from({ length: hashes }, (_, k) => hashed(seed(k), mark, bits)))];
  }
}
