/** All oracles but those with sensitive values, budgets or a distance, which are in `unequal.ts`. */

import type { OracleClass } from "./base/oracle.js";
import { FHR } from "./flexible/fhr.js";
import { FWR, HRR } from "./flexible/fwr.js";
import { LWR } from "./flexible/lwr.js";
import { Grouped } from "./grouped.js";
import { GRR, RR } from "./plain/grr.js";
import { HR } from "./plain/hadamard_response.js";
import { OLH } from "./plain/olh.js";
import { PGR } from "./plain/pgr.js";
import { SS } from "./plain/subset_selection.js";
import { OUE, SUE } from "./plain/unary.js";
import { Wave } from "./plain/wave.js";
import { Sampled } from "./sampled.js";
import { CMS, HCMS } from "./strings/count_mean_sketch.js";
import { RAPPOR } from "./strings/rappor.js";

/** For `load`: with these, it reads any survey without sensitive values, budgets or a distance. */
export const every: readonly OracleClass[] = [
  CMS,
  FHR,
  FWR,
  GRR,
  Grouped,
  HCMS,
  HR,
  HRR,
  LWR,
  OLH,
  OUE,
  PGR,
  RAPPOR,
  RR,
  SS,
  SUE,
  Sampled,
  Wave,
];
