// Copies the bundles to where the collector serves them from; a test compares them.
import { copyFileSync, mkdirSync } from "node:fs";

const target = new URL("../src/fldp/collector/static/", import.meta.url);
mkdirSync(target, { recursive: true });
for (const name of ["fldp.js", "fldp_unequal.js", "fldp_oblivious.js", "fldp_passes.js"])
  copyFileSync(new URL(`dist/${name}`, import.meta.url), new URL(name, target));
