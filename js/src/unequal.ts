/** Oracles that do not protect all values alike: for surveys that name sensitive values, budgets or a distance. */

import type { OracleClass } from "./oracles/base/oracle.js";
import { Exponential } from "./oracles/unequal/exponential.js";
import { IDUE } from "./oracles/unequal/idue.js";
import { URAPPOR, URR } from "./oracles/unequal/utility.js";

export { Exponential, IDUE, URAPPOR, URR };

/** All of them: `[...every, ...unequal]` is every oracle that a collector can serve. */
export const unequal: readonly OracleClass[] = [Exponential, IDUE, URAPPOR, URR];
