/**
 * Coins: integer thresholds that 64-bit words are compared with, as in `fldp/randomness/coins.py`.
 *
 * `E` is `floor(2^128 e^epsilon) / 2^128`. Fractions are multiplied out: all is done in integers. An epsilon for which
 * rounding would cost more than 1/1024 of `E - 1` is refused.
 */
import { fail, type ParameterError } from "../support/errors.js";
import { expLower, ONE } from "./exp_lower.js";

export const SCALE = 1n << 64n;

/** The true symbol for `keep` of `2^64` words, each other one for `other`. */
export interface SymbolCoin {
  readonly keep: bigint;
  readonly other: bigint;
}

/** Divide and round up. */
export const upwards = (a: bigint, b: bigint): bigint => (a + b - 1n) / b;

/** Build the error of an epsilon at which rounding would cost too much. */
export function degenerate(owner: string, epsilon: number): ParameterError {
  return fail(owner, "epsilon", "one that coins can realise", epsilon);
}

/** Return `2^128 e^epsilon`, rounded down, for a coin; larger ones are refused before they take time. */
function powerOf(owner: string, epsilon: number): bigint {
  if (epsilon >= 64) throw degenerate(owner, epsilon);
  return expLower(epsilon);
}

/** Whether the ratio `a / b` is large enough: at least `1 + 1023/1024 (E - 1)`. */
export function closeTo(power: bigint, a: bigint, b: bigint): boolean {
  return 1024n * ONE * (a - b) >= 1023n * (power - ONE) * b;
}

/** Choose the coin among symbols: `other` rounded up, `keep` what remains. */
export function symbolCoin(owner: string, epsilon: number, symbols: number): SymbolCoin {
  const power = powerOf(owner, epsilon);
  const others = BigInt(symbols) - 1n;
  const other = upwards(SCALE * ONE, power + others * ONE);
  const keep = SCALE - others * other;
  if (keep <= other || !closeTo(power, keep, other)) throw degenerate(owner, epsilon);
  return { keep, other };
}

/**
 * Keep a symbol where its coin is below `keep`; else each other symbol has `other` words of its own. Both are worked
 * out, as the time would tell else which it is.
 */
export function respond(symbol: number, word: bigint, coin: SymbolCoin): number {
  const another = Number((word - coin.keep) / coin.other);
  return word < coin.keep ? symbol : another + Number(another >= symbol);
}

/** Return the number of words, of `2^64`, for which a set of `size` out of `domainSize` values names the true one. */
export function subsetCoin(owner: string, epsilon: number, size: bigint, domainSize: bigint): bigint {
  const power = powerOf(owner, epsilon);
  const rest = domainSize - size;
  const even = SCALE - size * (domainSize - 1n); // what multiply-high leaves of the probability of any set, times 2^64
  const inside = power * even * even * size;
  const keep = (SCALE * inside) / (inside + ONE * ONE * rest);
  if (!closeTo(power, keep * rest, (SCALE - keep) * size)) throw degenerate(owner, epsilon);
  return keep;
}

/** The coins of a unary encoding: the true bit by a word, the others by bit planes. `ratio` is the realised one. */
export interface UnaryCoins {
  readonly planes: number;
  readonly own: bigint;
  readonly other: bigint;
  readonly ratio: number;
}

/** Round `q` up, then take the largest `p` that the ratio allows, or one half; as few planes as will do. */
export function unaryCoins(owner: string, epsilon: number, symmetric: boolean): UnaryCoins {
  const power = powerOf(owner, epsilon);
  const odds = symmetric ? expLower(epsilon / 2) : power;
  for (let planes = 20n; planes <= 64n; planes += 1n) {
    const all = 1n << planes;
    const other = upwards(all * ONE, ONE + odds);
    if (1024n * other * (ONE + odds) > 1025n * all * ONE) continue;
    const inside = power * other;
    const own = symmetric ? (inside * SCALE) / ((all - other) * ONE + inside) : SCALE / 2n;
    const [a, b] = [own * (all - other), other * (SCALE - own)]; // the ratio
    if (own * all > other * SCALE && closeTo(power, a, b) && a * ONE <= power * b) {
      return { planes: Number(planes), own, other, ratio: quotient(a, b) };
    }
  }
  throw degenerate(owner, epsilon);
}

/** An element of a set has `own` of `2^64` words, each other one has `other`; no word is left over. */
export interface SetCoin {
  readonly own: bigint;
  readonly other: bigint;
  readonly keep: bigint;
}

/** Return the number that times `a` is one more than a multiple of `modulus`; they have no common factor. */
function inverse(a: bigint, modulus: bigint): bigint {
  let [left, right, one, two] = [modulus, a % modulus, 0n, 1n];
  while (right > 1n) [left, right, one, two] = [right, left % right, two, one - (left / right) * two];
  return modulus === 1n ? 0n : ((two % modulus) + modulus) % modulus;
}

/** Choose the coin of a set. Pre-condition: `inside` and `outside` have no common factor. */
export function setCoin(owner: string, epsilon: number, inside: bigint, outside: bigint): SetCoin {
  const power = powerOf(owner, epsilon);
  let other = upwards(SCALE * ONE, power * inside + outside * ONE);
  const even = SCALE * inverse(outside, inside) - other;
  other += ((even % inside) + inside) % inside;
  const own = (SCALE - outside * other) / inside;
  if (own <= other || !closeTo(power, own, other)) throw degenerate(owner, epsilon);
  return { own, other, keep: inside * own };
}

/** Return a ratio of integers as a double, for what people are shown. */
export function quotient(a: bigint, b: bigint): number {
  return Number(a) / Number(b);
}
