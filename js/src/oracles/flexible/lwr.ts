/** LWR, lasting Walsh response: masks and answers that are kept for ever, and a fresh coin for every report. */

import {
  closeTo,
  degenerate,
  quotient,
  respond,
  SCALE,
  type SymbolCoin,
  symbolCoin,
  upwards,
} from "../../randomness/coins.js";
import { expLower, ONE } from "../../randomness/exp_lower.js";
import { randomWords } from "../../randomness/random.js";
import { MAX_KEPT_BITS } from "../../support/constants.js";
import { fail } from "../../support/errors.js";
import { bitLength, type Fields, integer, Oracle, positive, type Report, wordOf } from "../base/oracle.js";
import { paritiesOf, scatter } from "./fwr_items.js";

/** The coin of what is kept, and the coin of a report: see `fldp/randomness/kept_coins.py`. */
interface KeptCoins {
  readonly first: SymbolCoin;
  readonly second: SymbolCoin;
  /** How likely another symbol than the true one is reported, compared with that one. */
  readonly less: number;
  /** How likely a change of value can be seen at all. */
  readonly visible: number;
}

/** Choose the coins: of the second, the fewest words for another symbol that keep `epsilon`. */
function keptCoins(owner: string, epsilon: number, permanent: number, symbols: number): KeptCoins {
  if (epsilon >= permanent) throw fail(owner, "epsilon", `below epsilon_permanent, ${permanent}`, epsilon);
  const first = symbolCoin(owner, permanent, symbols);
  const power = expLower(epsilon);
  const others = BigInt(symbols) - 1n;
  const gap = first.keep - first.other;
  const other = upwards(SCALE * (first.keep * ONE - power * first.other), gap * (power + others * ONE));
  const keep = SCALE - others * other;
  const [own, another] = [first.keep * SCALE - others * other * gap, first.other * SCALE + other * gap];
  if (other < 1n || keep <= other || !closeTo(power, own, another)) throw degenerate(owner, epsilon);
  const same = 2n * first.keep * first.other + (others - 1n) * first.other ** 2n; // two symbols have one answer
  const visible = quotient(others * (SCALE * SCALE - same), (others + 1n) * SCALE * SCALE);
  return { first, second: { keep, other }, less: quotient(another, own), visible };
}

/**
 * Lasting Walsh response, for people who report again and again about a value that may change.
 *
 * One report keeps `epsilon`. All reports of a value that does not change keep `epsilon_permanent`; all reports keep
 * `lastingEpsilon` between histories whose symbols are equal on the same days. That a value changed is covered by
 * neither, and may show.
 */
export class LWR extends Oracle {
  static override readonly id = "lwr";
  static override readonly rules = {
    ...Oracle.rules,
    epsilon_permanent: positive,
    hash_bits: integer(1, MAX_KEPT_BITS, 1),
  };
  override readonly follows = true;
  declare readonly lastingEpsilon: number;
  declare readonly changeVisible: number;
  declare readonly words: number;
  declare readonly widths: readonly number[];
  readonly #bits: number;
  readonly #keepWords: number;
  readonly #item: (value: number) => number;
  readonly #coins: KeptCoins;

  constructor(fields: Fields) {
    super(fields);
    const { epsilon, epsilon_permanent, hash_bits } = this.settings as Record<string, number>;
    this.#bits = hash_bits;
    this.#coins = keptCoins(this.name, epsilon, epsilon_permanent, 1 << hash_bits);
    this.changeVisible = this.#coins.visible;
    this.lastingEpsilon = (1 << hash_bits) * epsilon_permanent;
    this.#keepWords = Math.ceil(hash_bits / 2) + (1 << hash_bits);
    this.words = this.#keepWords + 1;
    this.widths = [...Array<number>(hash_bits).fill(bitLength(this.domainSize - 1)), hash_bits];
    this.#item = scatter(this.domainSize);
  }

  override get collects(): Fields {
    return { repeat: "daily" };
  }

  override perturb(value: number, words: DataView): Report {
    return this.#responded(this.#kept(words), value, wordOf(words, this.#keepWords));
  }

  /** Draw what is kept, before any value is known: the masks, then the answers to all symbols as one number. */
  override keep(_value?: unknown, words = randomWords(this.#keepWords)): Report {
    return this.#kept(words);
  }

  override respond(kept: Report, value: number, words = randomWords(1)): Report {
    if (!this.holds(value)) throw fail(this.name, "a value", "one of its domain", typeof value);
    return this.#responded(kept, value, wordOf(words, 0));
  }

  override likely(report: Report): (value: number) => number {
    const masks = report.slice(0, -1) as number[];
    return (value) => (paritiesOf(this.#item(value), masks) === report[this.#bits] ? 1 : this.#coins.less);
  }

  /** Two masks from each word, then a word for the answer to each symbol. */
  #kept(words: DataView): Report {
    const most = (1 << this.widths[0]) - 1;
    const masks = Array.from({ length: this.#bits }, (_, j) => words.getUint32(4 * j, true) & most);
    let table = 0;
    for (let symbol = 0, place = Math.ceil(this.#bits / 2); symbol < 1 << this.#bits; symbol++, place++) {
      table |= respond(symbol, wordOf(words, place), this.#coins.first) << (this.#bits * symbol);
    }
    return [...masks, table];
  }

  /** The answer that is kept for the symbol of the value, through the second coin. */
  #responded(kept: Report, value: number, word: bigint): Report {
    const masks = kept.slice(0, -1) as number[];
    const symbol = paritiesOf(this.#item(value), masks);
    const answer = ((kept[this.#bits] as number) >> (this.#bits * symbol)) & ((1 << this.#bits) - 1);
    return [...masks, respond(answer, word, this.#coins.second)];
  }
}
