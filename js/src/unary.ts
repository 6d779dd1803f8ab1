/** Unary encodings: one bit per value, each thrown by itself. A report is the bits as bytes, value 0 lowest. */
import { type UnaryCoins, unaryCoins } from "./coins.js";
import { type Fields, Oracle, type Report, wordOf } from "./oracle.js";

/** Return the widths of bits as bytes. */
export function byteWidths(bits: number): number[] {
  return Array.from({ length: Math.ceil(bits / 8) }, (_, k) => Math.min(8, bits - 8 * k));
}

abstract class Unary extends Oracle {
  readonly words: number;
  readonly widths: readonly number[];
  private readonly coins: UnaryCoins;

  constructor(fields: Fields, symmetric: boolean) {
    super(fields);
    this.coins = unaryCoins(this.name, this.epsilon, symmetric);
    this.words = 1 + this.coins.planes * Math.ceil(this.domainSize / 64);
    this.widths = byteWidths(this.domainSize);
  }

  /** A bit is 1 where the number that its column of the planes makes is below `other`; the true one by word 0. */
  override perturb(value: number, words: DataView): Report {
    const { planes, own, other } = this.coins;
    const stride = (words.byteLength / 8 - 1) / planes;
    const row = new Uint8Array(this.widths.length);
    for (let plane = 0; plane < planes; plane++) {
      const start = 8 * (1 + plane * stride);
      const set = (other >> BigInt(plane)) & 1n;
      for (let k = 0; k < row.length; k++) {
        const below = ~words.getUint8(start + k);
        row[k] = set ? row[k] | below : row[k] & below;
      }
    }
    row[row.length - 1] &= 255 >> (8 - this.widths[row.length - 1]);
    const bit = 1 << (value % 8);
    if (wordOf(words, 0) < own) row[value >> 3] |= bit;
    else row[value >> 3] &= ~bit;
    return [...row];
  }

  override likely(report: Report): (value: number) => number {
    return (value) => (((report[value >> 3] as number) >> (value % 8)) & 1 ? 1 : 1 / this.coins.ratio);
  }
}

/** Symmetric unary encoding, the core of basic RAPPOR: every bit is flipped alike. */
export class SUE extends Unary {
  static override readonly id = "sue";

  constructor(fields: Fields) {
    super(fields, true);
  }
}

/** Optimised unary encoding: the true bit is a fair coin, and the others are rarely 1. */
export class OUE extends Unary {
  static override readonly id = "oue";

  constructor(fields: Fields) {
    super(fields, false);
  }
}
