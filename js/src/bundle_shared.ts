/** What `unequal.js` takes from `fldp.js`, so that no line is loaded twice. Public only where `index.ts` says so too. */
export { SCALE, degenerate, respond, symbolCoin, unaryCoins, upwards } from "./randomness/coins.js";
export { fail } from "./support/errors.js";
export { ONE, expLower } from "./randomness/exp_lower.js";
export { Oracle, bitLength, integer, wordOf } from "./oracles/base/oracle.js";
export { below, byteWidths, settle } from "./oracles/plain/unary.js";
