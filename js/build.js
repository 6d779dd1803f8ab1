// Builds dist/: one ES module and its types for each source file, and four minified files: fldp.js with all that is public
// in index.js, and fldp_unequal.js, fldp_oblivious.js and fldp_passes.js, which take from fldp.js what they share with it.
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
    onResolve({ filter: /^\.\/bundle_shared\.js$|\/bundle_shared\.js$/ }, ({ path }) => ({
      path,
      namespace: "shared",
    }));
    onResolve({ filter: /^\.\/fldp\.js$/ }, ({ path }) => ({ path, external: true }));
    onLoad({ filter: /./, namespace: "shared" }, () => ({ contents, resolveDir: dist }));
  },
};

const contents = `export * from "./index.js"; import { ${names} } from "./bundle_shared.js"; export const shared = [${names}];`;
await build({ ...options, stdin: { contents, resolveDir: dist }, outfile: join(dist, "fldp.js") });
for (const name of ["unequal", "oblivious", "passes"]) {
  await build({
    ...options,
    entryPoints: [join(dist, `${name}.js`)],
    outfile: join(dist, `fldp_${name}.js`),
    plugins: [shared],
  });
}
