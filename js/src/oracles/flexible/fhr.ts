/** FHR, the flexible Hadamard response of the paper. */
import { quotient, type SymbolCoin, symbolCoin } from "../../randomness/coins.js";
import { bitLength, type Fields, flag, Oracle, parity, type Report, settleExposure, wordOf } from "../base/oracle.js";

/** Return the least and the greatest number of `t < n` with an odd `parity(w & t)`, over masks `w != 0`. */
function oddCounts(n: number, bits: number): [number, number] {
  if (bits === 0) return [n, 0]; // no mask at all: neutral in what follows
  const half = 1 << (bits - 1);
  const rest = Math.max(n - half, 0);
  const [least, most] = oddCounts(rest || Math.min(n, half), bits - 1);
  const shifted = [least, most, rest - least, rest - most].map((count) => half / 2 + count);
  const counts = [rest, ...(bits > 1 ? (rest ? shifted : [least, most]) : [])];
  return [Math.min(...counts), Math.max(...counts)];
}

/**
 * Flexible Hadamard response: two positions of opposite sign in the value's row of a matrix, swapped by a coin.
 *
 * It is (eps, 1/2)-FLDP, which is weaker than eps-LDP: the exclusive or of the two positions rules out about half of
 * the domain with certainty, at every eps.
 */
export class FHR extends Oracle {
  static override readonly id = "fhr";
  static override readonly rules = {
    ...Oracle.rules,
    items: {
      rule: "spread or paper",
      initial: "spread",
      check: (value: unknown) => value === "spread" || value === "paper",
    },
    allow_exposure: flag,
  };
  override eta = 0.5;
  readonly words = 2;
  declare readonly widths: readonly number[];
  readonly #rows: number;
  readonly #first: number;
  readonly #coin: SymbolCoin;

  constructor(fields: Fields) {
    super(fields);
    this.#coin = symbolCoin(this.name, this.epsilon, 2);
    const bits = bitLength(this.domainSize);
    this.widths = [bits, bits];
    this.#rows = 1 << bits;
    const { items } = this.settings;
    this.#first = items === "paper" ? 1 : this.#rows - this.domainSize;
    const last = this.#first + this.domainSize;
    this.anonymity = last === this.#rows ? this.#rows / 2 - oddCounts(this.#first, bits)[1] : oddCounts(last, bits)[0];
    settleExposure(this);
  }

  /** Word 0 holds a position and a mask, which is made odd; word 1 is the coin. */
  override perturb(value: number, words: DataView): Report {
    const item = value + this.#first;
    const position = words.getUint32(0, true) & (this.#rows - 1);
    let mask = words.getUint32(4, true) & (this.#rows - 1);
    if (!parity(mask & item)) mask ^= item & -item;
    const swap = parity(position & item) !== Number(wordOf(words, 1) >= this.#coin.keep);
    return swap ? [position ^ mask, position] : [position, position ^ mask];
  }

  override check([plus, minus]: Report): boolean {
    return plus !== minus;
  }

  override likely([plus, minus]: Report): (value: number) => number {
    const less = quotient(this.#coin.other, this.#coin.keep);
    const [at, mask] = [plus as number, (plus as number) ^ (minus as number)];
    return (value) => {
      const item = value + this.#first;
      return parity(mask & item) && (parity(at & item) ? less : 1);
    };
  }
}
