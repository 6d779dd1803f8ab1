/**
 * What `unequal.js`, `oblivious.js`, `passes.js` and `telemetry.js` take from `fldp.js`, so that no line is loaded twice.
 * Public only where `index.ts` says so too.
 */

export { exchange, readBytes } from "./client/retry.js";
export { checkSecret } from "./client/send.js";
export { bitLength, integer, Oracle, wordOf } from "./oracles/base/oracle.js";
export { below, byteWidths, settle } from "./oracles/plain/unary.js";
export { clock } from "./participant/epochs.js";
export { readLedger, spentOn } from "./participant/ledger.js";
export { databaseStore, memoryStore } from "./participant/store.js";
export { degenerate, respond, SCALE, symbolCoin, unaryCoins, upwards } from "./randomness/coins.js";
export { expLower, ONE } from "./randomness/exp_lower.js";
export { randomBytes, uniform } from "./randomness/random.js";
export { hex, sha256, unhex, utf8 } from "./support/canonical_json.js";
export { FldpError, fail, ParameterError, WireError } from "./support/errors.js";
export { webCrypto } from "./support/web_crypto.js";
export { addressOf, isPrivate } from "./support/web_origin.js";
