/** The unary encoding for values that have budgets of their own. */

import {
  below,
  byteWidths,
  degenerate,
  expLower,
  fail,
  integer,
  ONE,
  Oracle,
  settle,
  wordOf,
} from "../../bundle_shared.js";
import { bestBalance, type Level, levelCoins, oddsOf } from "../../randomness/budget_coins.js";
import type { Fields, Report } from "../base/oracle.js";
import { type Budget, budgets, inOrder } from "../base/treatment.js";

const MIN_POWER = ONE + (ONE >> 60n);
const balance = integer(512, 1023);

/**
 * A bit for each value, thrown by the budget of that value: two values are protected by the smaller of their budgets.
 *
 * `budgets` are pairs of a value and its budget, which is below epsilon; all other values have epsilon. `balance` says
 * how much accuracy goes from the values with the least budget to the others; left out, it is the best one.
 */
export class IDUE extends Oracle {
  static override readonly id = "idue";
  static override readonly rules = {
    ...Oracle.rules,
    budgets,
    balance: { ...balance, initial: null, check: (value: unknown) => value === null || balance.check(value) },
  };
  declare readonly words: number;
  declare readonly widths: readonly number[];
  readonly #planes: number;
  /** The coins of the values that have a budget of their own, and the coins of all others. */
  readonly #own: ReadonlyMap<number, Level>;
  readonly #usual: Level;

  constructor(fields: Fields) {
    super(fields);
    const { name, epsilon, settings, domainSize: size } = this;
    const budgets = inOrder<Budget>(settings.budgets);
    settings.budgets = budgets;
    for (const [value, budget] of budgets) {
      if (value >= size) throw fail(name, "a value in budgets", `below ${size}`, value);
      if (budget >= epsilon) throw fail(name, "a budget in budgets", `below epsilon, ${epsilon}`, budget);
    }
    if (epsilon >= 64) throw degenerate(this.name, epsilon);
    const all = [...new Set([...budgets.map(([, budget]) => budget), epsilon])].sort((a, b) => a - b);
    const powers = all.map(expLower);
    if (powers[0] < MIN_POWER) throw degenerate(name, all[0]);
    const sizes = all.map((budget) => budgets.filter((pair) => pair[1] === budget).length);
    settings.balance ??= bestBalance(powers, [...sizes.slice(0, -1), size - budgets.length]);
    const { planes, levels } = levelCoins(name, all[0], powers, settings.balance as number);
    this.#planes = planes;
    this.#own = new Map(budgets.map(([value, budget]) => [value, levels[all.indexOf(budget)]]));
    this.#usual = levels[levels.length - 1];
    this.words = 1 + planes * Math.ceil(size / 64);
    this.widths = byteWidths(size);
  }

  /** Throw all bits alike, then anew those with a budget of their own, from the same numbers; the true one by word 0. */
  override perturb(value: number, words: DataView): Report {
    const row = below(words, 1, this.#planes, this.#usual.other, this.domainSize);
    for (const [named, { other }] of this.#own) settle(row, named, this.#numberOf(named, words) < other);
    settle(row, value, wordOf(words, 0) < this.#level(value).own);
    return [...row];
  }

  override likely(report: Report): (value: number) => number {
    return (value) => {
      const [one, zero] = oddsOf(this.#level(value), this.#planes);
      return ((report[value >> 3] as number) >> (value & 7)) & 1 ? one : zero;
    };
  }

  #level(value: number): Level {
    return this.#own.get(value) ?? this.#usual;
  }

  /** Return the number that the column of a value makes in the planes. */
  #numberOf(value: number, words: DataView): bigint {
    const blocks = Math.ceil(this.domainSize / 64);
    let number = 0n;
    for (let plane = 0; plane < this.#planes; plane++) {
      const word = wordOf(words, 1 + plane * blocks + Math.floor(value / 64));
      number |= ((word >> BigInt(value % 64)) & 1n) << BigInt(plane);
    }
    return number;
  }
}
