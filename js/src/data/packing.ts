/** Packing: numbers of given widths into a row of bits, lowest bit first, and back. */
import type { Report } from "./reports.js";

/** Pack reports without gaps; what is left of the last byte is zero. */
export function pack(widths: readonly number[], reports: readonly Report[]): Uint8Array<ArrayBuffer> {
  const bits = widths.reduce((sum, width) => sum + width, 0) * reports.length;
  const out = new Uint8Array(Math.ceil(bits / 8));
  let place = 0;
  for (const report of reports) {
    widths.forEach((width, j) => {
      let number = BigInt(report[j]);
      for (let left = width; left > 0; left--, place++, number >>= 1n) {
        if (number & 1n) out[place >> 3] |= 1 << (place & 7);
      }
    });
  }
  return out;
}

/** Return reports, not yet checked, or null if the padding after them is not zero. */
export function unpack(widths: readonly number[], packed: Uint8Array, count: number): Report[] | null {
  let place = 0;
  const bit = (): bigint => BigInt((packed[place >> 3] >> (place++ & 7)) & 1);
  const number = (width: number): number | bigint => {
    let bits = 0n;
    for (let k = 0n; k < width; k++) bits |= bit() << k;
    return width > 53 ? bits : Number(bits);
  };
  const reports = Array.from({ length: count }, () => widths.map(number));
  return place & 7 && packed[place >> 3] >> (place & 7) ? null : reports;
}
