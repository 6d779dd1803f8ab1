// Copies the bundles to where the collector serves them from; a test compares them.
import { copyFileSync, mkdirSync } from "node:fs";

const target = new URL("../src/fldp/collector/static/", import.meta.url);
mkdirSync(target, { recursive: true });
const more = ["unequal", "oblivious", "passes", "telemetry", "telemetry_view"].map((name) => `fldp_${name}.js`);
for (const name of ["fldp.js", ...more]) copyFileSync(new URL(`dist/${name}`, import.meta.url), new URL(name, target));
