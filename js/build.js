// Builds dist/: one ES module and its types for each source file, and all of it in one minified file, fldp.js.
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
rmSync(join(here, "dist"), { recursive: true, force: true });
execFileSync(process.execPath, [join(here, "node_modules/typescript/bin/tsc"), "-p", here], { stdio: "inherit" });
await build({
  absWorkingDir: here,
  entryPoints: ["dist/index.js"],
  outfile: "dist/fldp.js",
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  legalComments: "none",
  charset: "utf8",
});
