/** Wave: of values in order, a report that is probably near the true one. */

import { quotient, type SetCoin, setCoin } from "../../randomness/coins.js";
import { MAX_WAVE } from "../../support/constants.js";
import { fail } from "../../support/errors.js";
import { bitLength, type Fields, integer, Oracle, positive, type Report, wordOf } from "../base/oracle.js";

const divisor = (a: number, b: number): number => (b ? divisor(b, a % b) : a);

/** The discrete square wave: an output from `x` to `x + 2 width` is `e^eps` times as likely as any other. */
export class Wave extends Oracle {
  static override readonly id = "wave";
  static override readonly rules = {
    epsilon: positive,
    domain_size: integer(3, MAX_WAVE),
    width: integer(1, MAX_WAVE),
  };
  readonly words = 1;
  declare readonly widths: readonly number[];
  readonly #coin: SetCoin;
  readonly #inside: number;

  constructor(fields: Fields) {
    super(fields);
    const width = this.settings.width as number;
    this.#inside = 2 * width + 1;
    const others = this.domainSize - 1;
    if (width > others + 1 || divisor(this.#inside, others) > 1) {
      throw fail(this.name, "width", "one whose windows share no factor with the other outputs", width);
    }
    this.#coin = setCoin(this.name, this.epsilon, BigInt(this.#inside), BigInt(others));
    this.widths = [bitLength(others + this.#inside - 1)];
  }

  override perturb(value: number, words: DataView): Report {
    const { own, other, keep } = this.#coin;
    const word = wordOf(words, 0);
    const [step, rank] = [Number(word / own), Number((word - keep) / other)];
    return [word < keep ? value + step : rank + this.#inside * Number(rank >= value)];
  }

  override check([output]: Report): boolean {
    return output < this.domainSize - 1 + this.#inside;
  }

  override likely([output]: Report): (value: number) => number {
    const less = quotient(this.#coin.other, this.#coin.own);
    return (value) => (value <= output && output < value + this.#inside ? 1 : less);
  }
}
