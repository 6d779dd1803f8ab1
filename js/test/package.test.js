// What is shipped: small, in parts that can be left out, and the same as what the collector serves.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { oraclesOf } from "../../src/fldp/collector/static/shared/oracles.js";
import * as fldp from "../dist/index.js";
import { unequal } from "../dist/unequal.js";

const here = new URL("..", import.meta.url);
const read = (name) => readFileSync(new URL(name, here), "utf8");

const compressed = (text) => gzipSync(text, { level: 9 }).length;

/** Return the bytes of a bundle of these names, and others of the second entry, minified and compressed by gzip -9. */
async function sizeOf(names, others = "") {
  const contents = `export { ${names} } from "./dist/index.js"; export { ${others} } from "./dist/unequal.js";`;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: here.pathname },
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    target: "es2022",
  });
  return compressed(outputFiles[0].contents);
}

test("the core with one oracle takes 9.2 kB: a survey and its version, the draw, its bytes, the ledger and the limits", async () => {
  for (const { id } of fldp.every) {
    const [name] = Object.entries(fldp).find(([, member]) => member?.id === id);
    const most =
      {
        fwr: 10_250,
        hrr: 10_250,
        lwr: 9950,
        pgr: 9600,
        cms: 9600,
        hcms: 10_750,
        rappor: 9950,
        grouped: 13_050,
        sampled: 15_250,
      }[id] ?? 9200; // some hold others
    const size = await sizeOf(`${name}, Survey, Participant`);
    assert.ok(size <= most, `${name}: ${size}`);
  }
  for (const { name } of unequal) {
    const size = await sizeOf("Survey, Participant", name);
    assert.ok(size <= 9950, `${name}: ${size}`);
  }
});

test("with a store and the network it takes 11.9 kB, with everything 24 kB, and the other files 3, 2.6, 1.9, 6 and 3 kB more", async () => {
  assert.ok((await sizeOf("FHR, load, participant")) <= 11_900);
  assert.ok(compressed(read("dist/fldp.js")) <= 24_000);
  assert.ok(compressed(read("dist/fldp_unequal.js")) <= 3000);
  assert.ok(compressed(read("dist/fldp_oblivious.js")) <= 2600);
  assert.ok(compressed(read("dist/fldp_passes.js")) <= 1900);
  assert.ok(compressed(read("dist/fldp_telemetry.js")) <= 6000);
  assert.ok(compressed(read("dist/fldp_telemetry_view.js")) <= 3000);
});

test("the second file has its oracles alone: the core is that of the first", async () => {
  const second = await import("../dist/fldp_unequal.js");
  const { Oracle, ParameterError } = await import("../dist/fldp.js");
  assert.deepEqual(Object.keys(second).sort(), [...unequal.map(({ name }) => name), "unequal"].sort());
  for (const Kind of second.unequal) {
    assert.ok(Kind.prototype instanceof Oracle);
    assert.throws(() => new Kind({ epsilon: -1 }), ParameterError);
  }
});

test("what is not used is left out", async () => {
  const [one, more] = [await sizeOf("FHR"), await sizeOf("FHR, PGR")];
  assert.ok(one < 3000 && more > one + 500, `${one} ${more}`);
});

test("the collector serves this build", () => {
  const more = ["unequal", "oblivious", "passes", "telemetry", "telemetry_view"].map((name) => `fldp_${name}.js`);
  for (const name of ["fldp.js", ...more]) {
    assert.equal(read(`../src/fldp/collector/static/${name}`), read(`dist/${name}`), "run: npm run vendor");
  }
});

test("the pages fetch the second file for its oracles, and for no other", async () => {
  const ids = fldp.every.map(({ id }) => id);
  for (const { id } of [...fldp.every, ...unequal]) {
    const loaded = (await oraclesOf({ oracle: { name: id } })).map((oracle) => oracle.id);
    assert.deepEqual(loaded, ids.includes(id) ? ids : [...ids, ...unequal.map((oracle) => oracle.id)]);
  }
});

test("the package holds the modules, their types and nothing else", () => {
  const [{ files }] = JSON.parse(
    execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
      cwd: here,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }),
  );
  const names = files.map(({ path }) => path);
  assert.ok(
    ["LICENSE", "README.md", "package.json", "dist/index.js", "dist/index.d.ts", "dist/fldp.js"]
      .concat(["dist/unequal.js", "dist/unequal.d.ts", "dist/fldp_unequal.js"])
      .concat(["dist/oblivious.js", "dist/oblivious.d.ts", "dist/fldp_oblivious.js"])
      .concat(["dist/passes.js", "dist/passes.d.ts", "dist/fldp_passes.js"])
      .concat(["dist/telemetry.js", "dist/telemetry.d.ts", "dist/telemetry_node.js", "dist/fldp_telemetry.js"])
      .every((name) => names.includes(name)),
  );
  assert.ok(
    names.every((name) => /^(dist\/(\w+\/){0,2}\w+(\.d\.ts|\.js)|LICENSE|README\.md|package\.json)$/.test(name)),
    String(names),
  );
  const { version, dependencies } = JSON.parse(read("package.json"));
  assert.equal(dependencies, undefined);
  assert.match(read("../src/fldp/__init__.py"), new RegExp(`__version__ = "${version}"`));
});

test("the lock file names no registry", () => {
  assert.ok(!read("package-lock.json").includes('"resolved"'));
  assert.match(read(".npmrc"), /^omit-lockfile-registry-resolved=true$/m);
});

test("the lock file has the programs of every platform, so that npm ci finds its own", () => {
  const { packages } = JSON.parse(read("package-lock.json"));
  const wanted = Object.values(packages).flatMap(({ optionalDependencies = {} }) => Object.keys(optionalDependencies));
  assert.ok(wanted.length > 30);
  assert.deepEqual(
    wanted.filter((name) => !packages[`node_modules/${name}`]),
    [],
  );
});

test("telemetry for browsers holds nothing of Node, and the view is loaded when somebody looks", async () => {
  const { outputFiles, metafile } = await build({
    stdin: { contents: 'export { setup } from "./dist/telemetry.js";', resolveDir: here.pathname },
    bundle: true,
    splitting: true,
    outdir: "none",
    metafile: true,
    write: false,
    format: "esm",
    target: "es2022",
  });
  assert.ok(outputFiles.every(({ text }) => !text.includes("node:")));
  const [start] = Object.values(metafile.outputs).filter(({ entryPoint }) => entryPoint === "<stdin>");
  assert.ok(!Object.keys(start.inputs).some((name) => name.endsWith("telemetry/view.js")));
});

test("the public names", () => {
  const names = Object.entries(fldp)
    .filter(([, member]) => !fldp.every.includes(member))
    .map(([name]) => name)
    .sort();
  assert.deepEqual(names, [
    "BudgetError",
    "CollectorError",
    "DomainError",
    "FldpError",
    "Oracle",
    "ParameterError",
    "Participant",
    "Respondent",
    "Survey",
    "WireError",
    "addressOf",
    "begin",
    "build",
    "databaseStore",
    "decode",
    "dumps",
    "encode",
    "epochOf",
    "every",
    "expLower",
    "firstDay",
    "flush",
    "flushWhenOnline",
    "identifier",
    "load",
    "localStore",
    "memoryStore",
    "monthOf",
    "number",
    "participant",
    "search",
  ]);
});
