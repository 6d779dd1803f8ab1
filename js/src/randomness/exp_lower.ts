/** The exponential function, rounded down exactly; no floating-point number decides anything. */

export const ONE = 1n << 128n;

/** The double as an exact fraction: `[numerator, k]` for `numerator / 2^k`. */
export function dyadic(number: number): [bigint, bigint] {
  let power = 0n;
  let scaled = number;
  while (!Number.isInteger(scaled)) {
    scaled *= 2; // exact: only the exponent changes, since the number is below 2^53
    power += 1n;
  }
  return [BigInt(scaled), power];
}

/**
 * Return a lower bound of `2^bits e^x` that is less than `2^105` below it.
 *
 * The terms of the series are positive and each is rounded down, so the sum is a lower bound. A term inherits the error
 * of the one before times `x/n` and adds less than 1, so every error, and the sum of those that one rounding causes, is
 * at most `e^x` for each term. Up to `n = 2x` no term is below a quarter of the first. So where the loop ends at a term
 * of 0, each that follows is at most half of the one before, and all of them at most twice the last error. That is
 * `3 N e^x` in all for `N` terms; with `x <= 64` and `N < 2^10`, less than `2^105`.
 */
function seriesBelow(numerator: bigint, power: bigint, bits: bigint): bigint {
  let term = 1n << bits;
  let sum = term;
  for (let n = 1n; term > 0n; n += 1n) {
    term = (term * numerator) / (n << power);
    sum += term;
  }
  return sum;
}

/**
 * Return `floor(2^128 e^epsilon)` for `0 <= epsilon <= 64`.
 *
 * If both ends of the bound have the same floor, that is it; else more bits are taken. `e^epsilon` is irrational
 * except for `e^0 = 1`, where the lower bound is exact, so this ends.
 */
export function expLower(epsilon: number): bigint {
  const [numerator, power] = dyadic(epsilon);
  for (let bits = 320n; ; bits += 128n) {
    const below = seriesBelow(numerator, power, bits);
    const unit = bits - 128n;
    if (below >> unit === (below + (1n << 105n)) >> unit) return below >> unit;
  }
}
