// Builds dist/: one ES module and its types for each source file, and six minified files: fldp.js with all that is public
// in index.js, and five that take from it what they share. fldp_telemetry_view.js is loaded when somebody looks.
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
rmSync(join(here, "dist"), { recursive: true, force: true });
execFileSync(process.execPath, [join(here, "node_modules/typescript/bin/tsc"), "-p", here], { stdio: "inherit" });

const options = {
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  legalComments: "none",
  charset: "utf8",
};
const dist = join(here, "dist");
const names = Object.keys(await import("./dist/bundle_shared.js"));

/** What several files need is in the first one, as a list: the others take it from there, and have no copy of it. */
const shared = {
  name: "shared",
  setup({ onResolve, onLoad }) {
    const contents = `import { shared } from "./fldp.js"; export const [${names}] = shared;`;
    onResolve({ filter: /\/bundle_shared\.js$/ }, () => ({ path: "bundle_shared", namespace: "shared" }));
    onResolve({ filter: /\/index\.js$/ }, () => ({ path: "./fldp.js", external: true }));
    onResolve({ filter: /^\.\.\/oblivious\.js$/ }, () => ({ path: "./fldp_oblivious.js", external: true }));
    onResolve({ filter: /^\.\/view\.js$/ }, () => ({ path: "./fldp_telemetry_view.js", external: true }));
    onResolve({ filter: /^\.\/fldp\.js$/ }, ({ path }) => ({ path, external: true }));
    onLoad({ filter: /./, namespace: "shared" }, () => ({ contents, resolveDir: dist }));
  },
};

const contents = `export * from "./index.js"; import { ${names} } from "./bundle_shared.js"; export const shared = [${names}];`;
await build({ ...options, stdin: { contents, resolveDir: dist }, outfile: join(dist, "fldp.js") });
for (const name of ["unequal", "oblivious", "passes", "telemetry", "telemetry/view"]) {
  await build({
    ...options,
    entryPoints: [join(dist, `${name}.js`)],
    outfile: join(dist, `fldp_${name.replace("/", "_")}.js`),
    plugins: [shared],
  });
}
