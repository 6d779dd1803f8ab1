/** Which point of `F_2^r` stands for which value of FWR: the same map as `fldp/oracles/flexible/fwr_items.py`, and its bias. */
import { SCATTER_SEEDS } from "../../support/constants.js";
import { bitLength, parity } from "../base/oracle.js";

/** Return the map of values to items on a domain. */
export function scatter(domainSize: number): (value: number) => number {
  const bits = bitLength(domainSize - 1);
  const size = 1 << bits;
  if (domainSize === size) return (value) => value;
  const seed = domainSize < 256 ? parseInt(SCATTER_SEEDS.slice(2 * domainSize - 4, 2 * domainSize - 2), 16) : 0;
  const constants = BigInt.asUintN(64, 0x9e3779b97f4a7c15n * BigInt(2 * seed + 1));
  const part = (shift: bigint): number => Number((constants >> shift) % BigInt(size));
  const rounds = [0n, 16n, 32n].map((shift) => [part(shift) | 1, part(shift + 8n)]);
  return (value) => {
    let item = value;
    for (const [factor, offset] of rounds) {
      item = (item * factor + offset) % size; // below 2^41, so exact
      item ^= item >> ((bits + 1) >> 1);
    }
    return item;
  };
}

/** Return the parities of an item under masks as the bits of a number. */
export function paritiesOf(item: number, masks: readonly number[]): number {
  return masks.reduce((bits, mask, j) => bits | (parity(mask & item) << j), 0);
}

/** Return the largest difference between the two sides of any hyperplane, where both have values. */
function largestBias(domainSize: number): number {
  const size = 1 << bitLength(domainSize - 1);
  if (domainSize === size) return 0;
  const used = new Int32Array(size);
  const item = scatter(domainSize);
  for (let value = 0; value < domainSize; value++) used[item(value)] = 1;
  for (let step = 1; step < size; step *= 2) {
    for (let k = 0; k < size; k++) {
      if (!(k & step)) [used[k], used[k + step]] = [used[k] + used[k + step], used[k] - used[k + step]];
    }
  }
  return used.slice(1).reduce((most, sum) => (Math.abs(sum) < domainSize ? Math.max(most, Math.abs(sum)) : most), 0);
}

/** Return a lower bound of the number of values that any leak of `leaks` parities leaves possible. */
export function leftBy(domainSize: number, leaks: number): number {
  const bias = leaks ? largestBias(domainSize) : 0;
  let least = domainSize;
  for (let parts = 2; parts <= 1 << leaks; parts *= 2) {
    least = Math.min(least, Math.ceil((domainSize - (parts - 1) * bias) / parts));
  }
  return Math.max(1, least);
}
