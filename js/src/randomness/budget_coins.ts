/**
 * The coins of a unary encoding whose values have different budgets, as in `fldp/randomness/budget_coins.py`.
 *
 * All is done in integers: `powers` are `floor(2^128 e^budget)` of the levels, the least first.
 */

import { degenerate, ONE, SCALE, upwards } from "../bundle_shared.js";
import { BALANCE_STEPS } from "../support/constants.js";

/** For each level the words of `2^64` that make a true bit 1, and the numbers of `2^planes` for any other bit. */
export interface LevelCoins {
  readonly planes: number;
  readonly levels: readonly Level[];
}

export interface Level {
  readonly own: bigint;
  readonly other: bigint;
}

/** Return how much more likely a bit is 1, and how much less likely it is 0, under its own value than under another. */
export function oddsOf({ own, other }: Level, planes: number): [number, number] {
  const whole = 1n << BigInt(planes);
  const ratio = (a: bigint, b: bigint): number => Number(a * whole) / Number(b * SCALE);
  return [ratio(own, other), ratio(SCALE - own, whole - other)];
}

/** What the ratios of a level may be, both over `unit`: for a bit that is 1, and for one that is 0. */
interface Ratios {
  readonly unit: bigint;
  readonly up: bigint;
  readonly down: bigint;
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const most = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/** Round the other bits up, then take the largest true bit that neither ratio forbids; as few planes as will do. */
export function levelCoins(owner: string, epsilon: number, powers: readonly bigint[], balance: number): LevelCoins {
  const ratios = ratiosOf(powers, BigInt(balance));
  for (let planes = 20n; planes <= 64n; planes += 1n) {
    const whole = 1n << planes;
    const levels = ratios.map((each) => levelOf(each, whole));
    if (levels.every((level, k) => isNear(level, ratios[k], whole))) return { planes: Number(planes), levels };
  }
  throw degenerate(owner, epsilon);
}

/** Return what the ratios may be: of the least level by the balance, the others as much as its ratios leave. */
function ratiosOf(powers: readonly bigint[], balance: bigint): Ratios[] {
  const [first] = powers;
  const extra = (first - ONE) * balance;
  const [high, low] = [BALANCE_STEPS * ONE + extra, BALANCE_STEPS * first - extra]; // over BALANCE_STEPS * ONE, and over BALANCE_STEPS * first
  return powers.map((power) => ({
    unit: BALANCE_STEPS * ONE * first * power,
    up: least(high * first * power, low * power * power),
    down: most(low * ONE * power, high * ONE * first),
  }));
}

function levelOf({ unit, up, down }: Ratios, whole: bigint): Level {
  const other = upwards(whole * (unit - down), up - down);
  const own = (SCALE * least(up * other, whole * unit - (whole - other) * down)) / (unit * whole);
  return { own, other };
}

/** Whether both ratios are within what was asked, and not below it by more than 1/1024. */
function isNear({ own, other }: Level, { unit, up, down }: Ratios, whole: bigint): boolean {
  const [one, rest] = [SCALE * other, SCALE * (whole - other)]; // of another value, as `own * whole` is of the true one
  const gap = 1024n * (own * whole - one) * unit;
  const within = own * whole * unit <= up * one && down * rest <= (SCALE - own) * whole * unit;
  return gap > 0n && own < SCALE && within && gap >= 1023n * (up - unit) * one && gap >= 1023n * (unit - down) * rest;
}

/** Return the balance with the least sum of the variances of all values, none of them frequent. */
export function bestBalance(powers: readonly bigint[], sizes: readonly number[]): number {
  const totals = Array.from({ length: 512 }, (_, k) => total(powers, sizes, BigInt(512 + k)));
  return 512 + totals.indexOf(totals.reduce(least));
}

/** Return the sum of the variances in units of `2^-128`. */
function total(powers: readonly bigint[], sizes: readonly number[], balance: bigint): bigint {
  const [first] = powers;
  const high = ONE + ((first - ONE) * balance) / BALANCE_STEPS;
  const low = ONE - ((ONE - (ONE * ONE) / first) * balance) / BALANCE_STEPS;
  return powers.reduce((sum, power, k) => {
    const [up, down] = [least(high, (power * low) / ONE), most(low, (high * ONE) / power)];
    return sum + (BigInt(sizes[k]) * ONE ** 3n) / ((ONE - down) * (up - ONE));
  }, 0n);
}
