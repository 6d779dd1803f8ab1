/** fldp/passes: single-use passes that nobody can link to the ticket that they were got for. */
export { obtainPass, type PassOptions } from "./passes/obtain.js";
