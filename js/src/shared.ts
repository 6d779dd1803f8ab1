/** What `unequal.js` takes from `fldp.js`, so that no line is loaded twice. Public only where `index.ts` says so too. */
export { SCALE, degenerate, respond, symbolCoin, unaryCoins, upwards } from "./coins.js";
export { fail } from "./errors.js";
export { ONE, expLower } from "./exponential.js";
export { Oracle, bitLength, integer, wordOf } from "./oracle.js";
export { below, byteWidths, settle } from "./unary.js";
