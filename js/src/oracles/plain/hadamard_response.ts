/** Hadamard response: report a position where the value's row of a Hadamard matrix is probably +1. */
import { quotient, respond, type SymbolCoin, symbolCoin } from "../../randomness/coins.js";
import { fail } from "../../support/errors.js";
import { bitLength, type Fields, Oracle, parity, powerOfTwo, type Report, wordOf } from "../base/oracle.js";

/** Hadamard response: a symbol from the half of the value's block where its row is +1, or from another half. */
export class HR extends Oracle {
  static override readonly id = "hr";
  static override readonly rules = {
    ...Oracle.rules,
    blocks: powerOfTwo(1, 1),
  };
  readonly words = 2;
  declare readonly widths: readonly number[];
  readonly #bits: number;
  readonly #blocks: number;
  readonly #coin: SymbolCoin;

  constructor(fields: Fields) {
    super(fields);
    this.#blocks = this.settings.blocks as number;
    if (this.#blocks > this.domainSize) throw fail(this.name, "blocks", "at most domain_size", this.#blocks);
    this.#coin = symbolCoin(this.name, this.epsilon, 2 * this.#blocks);
    this.#bits = bitLength(Math.ceil(this.domainSize / this.#blocks));
    this.widths = [bitLength(this.#blocks) - 1 + this.#bits];
  }

  /** Word 0 holds a position. Where it has the wrong sign, the lowest bit of the row's number is flipped in it. */
  override perturb(value: number, words: DataView): Report {
    const half = respond(2 * (value % this.#blocks), wordOf(words, 1), this.#coin);
    const row = this.#row(value);
    const position = words.getUint32(0, true) & ((1 << this.#bits) - 1);
    const wrong = parity(position & row) !== (half & 1);
    return [((half >> 1) << this.#bits) | (wrong ? position ^ (row & -row) : position)];
  }

  override likely([symbol]: Report): (value: number) => number {
    const less = quotient(this.#coin.other, this.#coin.keep);
    const block = (symbol as number) >> this.#bits;
    const position = (symbol as number) & ((1 << this.#bits) - 1);
    return (value) => (value % this.#blocks === block && !parity(position & this.#row(value)) ? 1 : less);
  }

  #row(value: number): number {
    return Math.floor(value / this.#blocks) + 1;
  }
}
