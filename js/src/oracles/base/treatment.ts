/** Treatment: parameters that make values differ in the protection that they have; as in `fldp/oracles/base/treatment.py`. */

import { integer, Oracle } from "../../bundle_shared.js";
import { MAX_BUDGETS, MAX_SENSITIVE } from "../../support/constants.js";
import type { Rule } from "./oracle.js";

/** A value and its budget. */
export type Budget = readonly [number, number];

const { check: isValue } = integer(0, Infinity); // those that a domain does not have are refused by the oracle
const isBudget = (pair: unknown): boolean =>
  Array.isArray(pair) && pair.length === 2 && isValue(pair[0]) && Oracle.rules.epsilon.check(pair[1]);

/** Accept a list that names values, none of them twice; few enough for the header of a batch. */
function listOf(most: number, what: string, isGood: (each: unknown) => boolean): Rule {
  const check = (list: unknown): boolean =>
    Array.isArray(list) &&
    list.length >= 1 &&
    list.length <= most &&
    list.every(isGood) &&
    new Set(list.map(named)).size === list.length;
  return { rule: `a list of 1 to ${most} ${what}`, check };
}

const named = (each: number | Budget): number => (typeof each === "number" ? each : each[0]);

/** The values that are sensitive. */
export const sensitive = listOf(MAX_SENSITIVE, "different values", isValue);

/** The values that have a budget of their own, each with it. */
export const budgets = listOf(MAX_BUDGETS, "pairs of a value and its budget, all of different values", isBudget);

/** Put what a list says into the order of the values. */
export function inOrder<T extends number | Budget>(list: unknown): readonly T[] {
  return [...(list as T[])].sort((a, b) => named(a) - named(b));
}
