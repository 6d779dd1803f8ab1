/** What `unequal.js` takes from `fldp.js`, so that no line is loaded twice. Public only where `index.ts` says so too. */

export { bitLength, integer, Oracle, wordOf } from "./oracles/base/oracle.js";
export { below, byteWidths, settle } from "./oracles/plain/unary.js";
export { degenerate, respond, SCALE, symbolCoin, unaryCoins, upwards } from "./randomness/coins.js";
export { expLower, ONE } from "./randomness/exp_lower.js";
export { fail } from "./support/errors.js";
