// The types of the bundle beside this file: those of its sources.
export * from "../../../../js/src/passes.js";
