// The oracles that a survey is built with. Those that do not protect all answers alike are fetched where one is asked for.
import { every } from "../fldp.js";

const UNEQUAL = ["exponential", "idue", "urappor", "urr"];

/** Return all oracles that a survey of this specification may need: what `load`, `Survey.of` and `build` are given. */
export async function known({ oracle }) {
  return UNEQUAL.includes(oracle?.name) ? [...every, ...(await import("../fldp_unequal.js")).unequal] : every;
}
