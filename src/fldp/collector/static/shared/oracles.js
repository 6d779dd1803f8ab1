// The oracles that a survey is built with. Those that do not protect all answers alike are fetched where one is needed.
import { every } from "../fldp.js";

/** @import { Fields, OracleClass } from "../fldp.js" */

const UNEQUAL = ["exponential", "idue", "urappor", "urr"];

/**
 * Return all oracles that a survey of this specification may need: what `load`, `Survey.of` and `build` take.
 *
 * @param {Fields} specification
 * @returns {Promise<readonly OracleClass[]>}
 */
export async function oraclesOf({ oracle }) {
  if (!UNEQUAL.includes(Object(oracle).name)) return every;
  return [...every, ...(await import("../fldp_unequal.js")).unequal];
}
