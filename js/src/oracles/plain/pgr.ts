/** Projective geometry response: a point of a finite geometry, more often one that is opposite to the value's own. */

import { quotient, type SetCoin, setCoin } from "../../randomness/coins.js";
import { expLower, ONE } from "../../randomness/exp_lower.js";
import { MAX_POINTS } from "../../support/constants.js";
import { bitLength, type Fields, Oracle, type Report, wordOf } from "../base/oracle.js";

/** The projective space of vectors modulo a prime. */
interface Space {
  readonly order: number;
  readonly dimension: number;
  /** The number of points; of those opposite to one; of those opposite to both of two. */
  readonly size: number;
  readonly inside: number;
  readonly both: number;
}

const pointsOf = (order: number, digits: number): number => (order ** digits - 1) / (order - 1);

/** Return the space of this order with the least dimension that has enough points. */
function spaceOver(order: number, least: number): Space {
  let dimension = 2;
  while (pointsOf(order, dimension) < least) dimension++;
  const [size, inside, both] = [0, 1, 2].map((less) => pointsOf(order, dimension - less));
  return { order, dimension, size, inside, both };
}

function isPrime(number: number): boolean {
  for (let divisor = 2; divisor * divisor <= number; divisor++) if (number % divisor === 0) return false;
  return true;
}

/** Return `(E-1)^2` times the variance of the count of a rare value, as numerator and denominator. */
function rareVariance(power: bigint, { size, inside, both }: Space): [bigint, bigint] {
  const [all, own, shared] = [BigInt(size), BigInt(inside), BigInt(both)];
  const hit = (power - ONE) * shared + ONE * own;
  return [hit * (power * own + ONE * (all - own) - hit), (own - shared) ** 2n];
}

/** Return the space in which a rare value has the least variance, of those that are not too large. */
function bestSpace(epsilon: number, least: number): Space {
  const power = expLower(Math.min(epsilon, 64));
  const limit = Math.min(64 * least + 64, MAX_POINTS);
  const orders = [];
  for (let order = 2; order * order <= limit; order++) if (isPrime(order)) orders.push(order);
  let line = Math.max(2, least - 1);
  while (!isPrime(line)) line++;
  const spaces = [...orders, line].map((order) => spaceOver(order, least)).filter(({ size }) => size <= limit);
  return spaces.reduce((best, space) => {
    const [[a, b], [c, d]] = [rareVariance(power, space), rareVariance(power, best)];
    return a * d < c * b || (a * d === c * b && space.order < best.order) ? space : best;
  });
}

/** Return the digit that makes a point, once it is appended, opposite to 1 followed by the digits of `tail`. */
function oppositeDigit(point: number, tail: number, top: number, order: number): number {
  let product = 0;
  let [left, rest, power] = [point, tail, top];
  while (left > 0) {
    power /= order;
    product = (product + ((left - 1) % order) * Math.floor(rest / power)) % order;
    rest %= power;
    left = Math.floor((left - 1) / order);
  }
  product += Math.floor(rest / (power / order));
  return (order - (product % order)) % order;
}

/** Projective geometry response: a point, with `e^eps` to 1 for those opposite to the point of the value. */
export class PGR extends Oracle {
  static override readonly id = "pgr";
  readonly words = 1;
  declare readonly widths: readonly number[];
  readonly #space: Space;
  readonly #coin: SetCoin;

  constructor(fields: Fields) {
    super(fields);
    this.#space = bestSpace(this.epsilon, this.domainSize);
    const { size, inside } = this.#space;
    this.#coin = setCoin(this.name, this.epsilon, BigInt(inside), BigInt(size - inside));
    this.widths = [bitLength(size - 1)];
  }

  override perturb(value: number, words: DataView): Report {
    const { own, other, keep } = this.#coin;
    const word = wordOf(words, 0);
    const near = word < keep;
    return [this.#point(value, Number(near ? word / own : (word - keep) / other), near)];
  }

  /** Return point number `rank` of those that are opposite to a value, or of those that are not. */
  #point(value: number, rank: number, near: boolean): number {
    const { order, size, inside } = this.#space;
    let [tail, top] = [value, 1]; // the digits of the value after its leading 1, and their number as a power
    for (; tail >= top; top *= order) tail -= top;
    const width = (size - inside) / top;
    const first = (width - 1) / (order - 1);
    if (near && rank < first) return rank;
    const from = near ? rank - first : rank;
    let high = Math.floor(from / width);
    if (near) high = 1 + high * order + oppositeDigit(high, tail, top, order);
    else if (high > 0) {
      const above = Math.floor((high - 1) / (order - 1));
      const digit = (high - 1) % (order - 1);
      high = 1 + above * order + digit + Number(digit >= oppositeDigit(above, tail, top, order));
    }
    return first + high * width + (from % width);
  }

  override check([point]: Report): boolean {
    return point < this.#space.size;
  }

  override likely([point]: Report): (value: number) => number {
    const less = quotient(this.#coin.other, this.#coin.own);
    const { order } = this.#space;
    const own = this.#digits(point as number).reverse();
    return (value) => {
      const product = this.#digits(value).reduce((sum, digit, k) => (sum + digit * own[k]) % order, 0);
      return product === 0 ? 1 : less;
    };
  }

  #digits(point: number): number[] {
    const { order, dimension } = this.#space;
    const digits = Array<number>(dimension).fill(0);
    let left = point;
    let place = dimension - 1;
    for (; left > 0; left = Math.floor((left - 1) / order)) digits[place--] = (left - 1) % order;
    digits[place] = 1;
    return digits;
  }
}
