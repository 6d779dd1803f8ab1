/** The oracles that a collector can serve, but for those by sensitive values, budgets or a distance: see `unequal.ts`. */
import { FHR } from "./fhr.js";
import { FWR, HRR } from "./fwr.js";
import { Grouped } from "./grouped.js";
import { GRR, RR } from "./grr.js";
import { HR } from "./hadamard.js";
import { OLH } from "./hashing.js";
import type { OracleClass } from "./oracle.js";
import { PGR } from "./projective.js";
import { RAPPOR } from "./rappor.js";
import { CMS, HCMS } from "./sketch.js";
import { SS } from "./subset.js";
import { OUE, SUE } from "./unary.js";

/** What to give to `load` if any survey is to be answered that names no sensitive values, budgets or distance. */
export const every: readonly OracleClass[] = [
  CMS,
  FHR,
  FWR,
  GRR,
  Grouped,
  HCMS,
  HR,
  HRR,
  OLH,
  OUE,
  PGR,
  RAPPOR,
  RR,
  SS,
  SUE,
];
