// Copies the bundle to where the collector serves it from; a test compares the two.
import { copyFileSync, mkdirSync } from "node:fs";

const target = new URL("../src/fldp/collector/static/", import.meta.url);
mkdirSync(target, { recursive: true });
copyFileSync(new URL("dist/fldp.js", import.meta.url), new URL("fldp.js", target));
