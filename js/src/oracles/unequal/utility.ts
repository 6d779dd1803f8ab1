/** Utility-optimised oracles: sensitive values are hidden, the others may be revealed. */

import {
  below,
  bitLength,
  byteWidths,
  expLower,
  fail,
  ONE,
  Oracle,
  respond,
  SCALE,
  settle,
  symbolCoin,
  unaryCoins,
  upwards,
  wordOf,
} from "../../bundle_shared.js";
import { oddsOf } from "../../randomness/budget_coins.js";
import type { SymbolCoin, UnaryCoins } from "../../randomness/coins.js";
import type { Fields, Report } from "../base/oracle.js";
import { inOrder, sensitive } from "../base/treatment.js";

/** Return a share rounded down to three digits, so that people can read it. */
function threeDigits(part: bigint, whole: bigint): number {
  let places = 0;
  while (part * 10n ** BigInt(places) < 100n * whole) places++;
  return Number(`${(part * 10n ** BigInt(places)) / whole}e-${places}`);
}

/**
 * What URR and URAPPOR share. A report of a value that is not sensitive reveals it with probability `revealed`, and is
 * one that every value can give otherwise; a report of a sensitive value is always one of these: eps-ULDP.
 */
abstract class Utility extends Oracle {
  static override readonly rules = { ...Oracle.rules, sensitive };
  /** The sensitive values, in their order. */
  declare readonly sensitive: readonly number[];
  /** The words, of `2^64`, that make a report reveal a value that is not sensitive. */
  declare protected shown: bigint;

  constructor(fields: Fields) {
    super(fields);
    const { name, settings, domainSize: size } = this;
    settings.sensitive = this.sensitive = inOrder<number>(settings.sensitive);
    if (this.sensitive.length >= size || this.sensitive.some((value) => value >= size)) {
      throw fail(name, "sensitive", `some of the ${size} values, not all`, this.sensitive);
    }
    this.anonymity = 1;
  }

  /** The probability that a report of a value that is not sensitive reveals it. */
  get revealed(): number {
    return Number(this.shown) / Number(SCALE);
  }

  /** Settle what is revealed, and so eta; `common` of `all` reports of such a value are ones that every value can give. */
  protected reveal(shown: bigint, common: number, all: number): void {
    this.shown = shown;
    this.eta = Math.min(threeDigits(SCALE - shown, SCALE), threeDigits(BigInt(common), BigInt(all)));
  }

  /** Return whether a value is sensitive, and its place among the values of its kind. */
  protected placeOf(value: number): [boolean, number] {
    const before = this.sensitive.filter((one) => one < value).length;
    const hidden = this.sensitive[before] === value;
    return [hidden, hidden ? before : value - before];
  }
}

/** Utility-optimised randomized response: sensitive values among each other, others often as they are. */
export class URR extends Utility {
  static override readonly id = "urr";
  readonly words = 1;
  declare readonly widths: readonly number[];
  readonly #coin: SymbolCoin;

  constructor(fields: Fields) {
    super(fields);
    const count = this.sensitive.length;
    this.#coin = symbolCoin(this.name, this.epsilon, count);
    this.widths = [bitLength(this.domainSize - 1)];
    this.reveal(this.#coin.keep - this.#coin.other, count, count + 1);
  }

  override perturb(value: number, words: DataView): Report {
    const [hidden, place] = this.placeOf(value);
    const word = wordOf(words, 0);
    const count = this.sensitive.length;
    const own = this.sensitive[respond(place, word, this.#coin) % count]; // what is not used may lie outside
    const another = this.sensitive[Math.abs(Number((word - this.shown) / this.#coin.other)) % count];
    const open = word < this.shown ? value : another;
    return [hidden ? own : open];
  }

  override check([symbol]: Report): boolean {
    return symbol < this.domainSize;
  }

  override likely([symbol]: Report): (value: number) => number {
    const less = this.placeOf(symbol as number)[0] ? Number(this.#coin.other) / Number(this.#coin.keep) : 0;
    return (value) => (value === symbol ? 1 : less);
  }
}

/** Utility-optimised RAPPOR: a bit for each sensitive value; any other value is named beside them, or nothing is. */
export class URAPPOR extends Utility {
  static override readonly id = "urappor";
  declare readonly words: number;
  declare readonly widths: readonly number[];
  readonly #coins: UnaryCoins;

  constructor(fields: Fields) {
    super(fields);
    const count = this.sensitive.length;
    this.#coins = unaryCoins(this.name, this.epsilon, true);
    const { planes, own, other } = this.#coins;
    this.words = 1 + planes * Math.ceil((count + 1) / 64);
    this.widths = [...byteWidths(count), bitLength(this.domainSize - count)];
    this.reveal(SCALE - upwards((own << BigInt(planes)) * ONE, other * expLower(this.epsilon)), 1, 2);
  }

  /** Throw the bits and one more after them, which says whether a value that is not sensitive is named. */
  override perturb(value: number, words: DataView): Report {
    const { planes, own, other } = this.#coins;
    const [hidden, place] = this.placeOf(value);
    const count = this.sensitive.length;
    const row = below(words, 1, planes, other, count + 1);
    const one = wordOf(words, 0) < (hidden ? own : this.shown);
    settle(row, count, false);
    if (hidden) settle(row, place, one);
    return [...row.slice(0, Math.ceil(count / 8)), !hidden && one ? place + 1 : 0];
  }

  override check(report: Report): boolean {
    return (report.at(-1) as number) <= this.domainSize - this.sensitive.length;
  }

  override likely(report: Report): (value: number) => number {
    const [one, zero] = oddsOf(this.#coins, this.#coins.planes);
    const named = report.at(-1);
    return (value) => {
      const [hidden, place] = this.placeOf(value);
      if (named) return Number(!hidden && place + 1 === named);
      if (!hidden) return Number(SCALE - this.shown) / Number(SCALE);
      return ((report[place >> 3] as number) >> (place & 7)) & 1 ? one : zero;
    };
  }
}
