/** Randomized response: report the value itself, or another one. */
import { quotient, respond, type SymbolCoin, symbolCoin } from "../../randomness/coins.js";
import { bitLength, type Fields, integer, Oracle, positive, type Report, wordOf } from "../base/oracle.js";

/** Generalised randomized response: the true value with `e^eps/(e^eps+d-1)`, each other one with `1/(e^eps+d-1)`. */
export class GRR extends Oracle {
  static override readonly id: string = "grr";
  readonly words = 1;
  declare readonly widths: readonly number[];
  readonly #coin: SymbolCoin;

  constructor(fields: Fields) {
    super(fields);
    this.#coin = symbolCoin(this.name, this.epsilon, this.domainSize);
    this.widths = [bitLength(this.domainSize - 1)];
  }

  override perturb(value: number, words: DataView): Report {
    return [respond(value, wordOf(words, 0), this.#coin)];
  }

  override check([symbol]: Report): boolean {
    return symbol < this.domainSize;
  }

  override likely([symbol]: Report): (value: number) => number {
    const less = quotient(this.#coin.other, this.#coin.keep);
    return (value) => (value === symbol ? 1 : less);
  }
}

/** Randomized response on two values. */
export class RR extends GRR {
  static override readonly id = "rr";
  static override readonly rules = { epsilon: positive, domain_size: integer(2, 2, 2) };
}
