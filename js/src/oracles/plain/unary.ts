/** Unary encodings: one bit per value, each thrown by itself. A report is the bits as bytes, value 0 lowest. */
import { type UnaryCoins, unaryCoins } from "../../randomness/coins.js";
import { type Fields, Oracle, type Report, wordOf } from "../base/oracle.js";

/** Return the widths of bits as bytes. */
export function byteWidths(bits: number): number[] {
  return Array.from({ length: Math.ceil(bits / 8) }, (_, k) => Math.min(8, bits - 8 * k));
}

/** Return a row of bits: 1 where the number that a column of the planes makes, from word `start` on, is below. */
export function below(words: DataView, start: number, planes: number, threshold: bigint, bits: number): Uint8Array {
  const row = new Uint8Array(Math.ceil(bits / 8));
  for (let plane = 0; plane < planes; plane++) {
    const first = 8 * (start + plane * Math.ceil(bits / 64));
    const set = (threshold >> BigInt(plane)) & 1n;
    for (let k = 0; k < row.length; k++) {
      const unset = ~words.getUint8(first + k);
      row[k] = set ? row[k] | unset : row[k] & unset;
    }
  }
  row[row.length - 1] &= 255 >> (-bits & 7);
  return row;
}

/** Set a bit of a row, or unset it. */
export function settle(row: Uint8Array, place: number, one: boolean): void {
  const bit = 1 << (place & 7);
  if (one) row[place >> 3] |= bit;
  else row[place >> 3] &= ~bit;
}

/** Symmetric unary encoding, the core of basic RAPPOR: every bit is flipped alike. */
export class SUE extends Oracle {
  static override readonly id: string = "sue";
  declare readonly words: number;
  declare readonly widths: readonly number[];
  readonly #coins: UnaryCoins;

  constructor(fields: Fields, symmetric = true) {
    super(fields);
    this.#coins = unaryCoins(this.name, this.epsilon, symmetric);
    this.words = 1 + this.#coins.planes * Math.ceil(this.domainSize / 64);
    this.widths = byteWidths(this.domainSize);
  }

  /** The others are 1 where their number is below `other`; the true one is drawn by word 0. */
  override perturb(value: number, words: DataView): Report {
    const { planes, own, other } = this.#coins;
    const row = below(words, 1, planes, other, this.domainSize);
    settle(row, value, wordOf(words, 0) < own);
    return [...row];
  }

  override likely(report: Report): (value: number) => number {
    return (value) => (((report[value >> 3] as number) >> (value % 8)) & 1 ? 1 : 1 / this.#coins.ratio);
  }
}

/** Optimised unary encoding: the true bit is a fair coin, and the others are rarely 1. */
export class OUE extends SUE {
  static override readonly id = "oue";

  constructor(fields: Fields) {
    super(fields, false);
  }
}
