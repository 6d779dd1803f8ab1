/** fldp: answer surveys under local differential privacy, in the browser and in Node. */
export { dumps, identifier } from "./canonical.js";
export * from "./errors.js";
export { every } from "./every.js";
export { expLower } from "./exponential.js";
export { FHR } from "./fhr.js";
export { FWR, HRR } from "./fwr.js";
export { Grouped } from "./grouped.js";
export { GRR, RR } from "./grr.js";
export { HR } from "./hadamard.js";
export { OLH } from "./hashing.js";
export { type Fields, Oracle, type OracleClass, type Report } from "./oracle.js";
export { PGR } from "./projective.js";
export { SS } from "./subset.js";
export { OUE, SUE } from "./unary.js";
export { type Batch, build, decode, encode } from "./wire.js";
