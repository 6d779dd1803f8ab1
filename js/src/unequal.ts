/** Oracles that do not protect all values alike: for surveys that name sensitive values, budgets or a distance. */
import { Exponential } from "./condensed.js";
import { IDUE } from "./discriminative.js";
import type { OracleClass } from "./oracle.js";
import { URAPPOR, URR } from "./utility.js";

export { Exponential, IDUE, URAPPOR, URR };

/** All of them: `[...every, ...unequal]` is every oracle that a collector can serve. */
export const unequal: readonly OracleClass[] = [Exponential, IDUE, URAPPOR, URR];
