/** Local hashing: hash the value to a few symbols, then respond on those. */

import { quotient, respond, type SymbolCoin, symbolCoin } from "../../randomness/coins.js";
import { expLower, ONE } from "../../randomness/exp_lower.js";
import { MAX_SYMBOLS } from "../../support/constants.js";
import { bitLength, type Fields, Oracle, type Report, type Value, wordOf } from "../base/oracle.js";
import { DERIVES, drawDerived } from "../base/ticket_words.js";

const low = (number: bigint): bigint => BigInt.asUintN(64, number);

/** Return output number `value` of SplitMix64 started at the seed. */
export function keyedHash(seed: bigint, value: bigint): bigint {
  let z = low(seed + (value + 1n) * 0x9e3779b97f4a7c15n);
  z = low((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
  z = low((z ^ (z >> 27n)) * 0x94d049bb133111ebn);
  return z ^ (z >> 31n);
}

/** Hash a value under a seed to a number below `symbols`. */
export function hashed(seed: bigint, value: bigint, symbols: number): number {
  return Number((keyedHash(seed, value) * BigInt(symbols)) >> 64n);
}

/** Return the number of symbols `g` that minimises `(E + g - 1)^2 / (g - 1)`: one of the neighbours of `E + 1`. */
function bestSymbols(epsilon: number): number {
  const power = expLower(Math.min(epsilon, 64));
  const below = power / ONE + 1n; // E is at least 1, so it is at least 2
  const g = below < MAX_SYMBOLS - 1n ? below : MAX_SYMBOLS - 1n;
  const [here, next] = [power + (g - 1n) * ONE, power + g * ONE];
  return Number(next * next * (g - 1n) < here * here * g ? g + 1n : g);
}

/** Optimised local hashing: a public random hash to `g` symbols, then randomized response among those. */
export class OLH extends Oracle {
  static override readonly id = "olh";
  readonly words = 2;
  declare readonly widths: readonly number[];
  readonly #symbols: number;
  readonly #coin: SymbolCoin;

  constructor(fields: Fields) {
    super(fields);
    this.#symbols = bestSymbols(this.epsilon);
    this.#coin = symbolCoin(this.name, this.epsilon, this.#symbols);
    this.widths = [64, bitLength(this.#symbols - 1)];
  }

  override get collects(): Fields {
    return DERIVES;
  }

  override derive(value: Value, version: string, ticket?: string): Promise<Report> {
    return drawDerived(this, 1, value, version, ticket);
  }

  override perturb(value: number, words: DataView): Report {
    const seed = wordOf(words, 0);
    return [seed, respond(this.#hash(seed, value), wordOf(words, 1), this.#coin)];
  }

  /** Hash a value. `BigInt` of a text would show it in its error, and it may be an answer: so a number first. */
  #hash(seed: bigint, value: number): number {
    return hashed(seed, BigInt(+value), this.#symbols);
  }

  override check([, symbol]: Report): boolean {
    return symbol < this.#symbols;
  }

  override likely([seed, symbol]: Report): (value: number) => number {
    const less = quotient(this.#coin.other, this.#coin.keep);
    return (value) => (this.#hash(seed as bigint, value) === symbol ? 1 : less);
  }
}
