// The store in files: as the other stores, and through kills, damage and other processes.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { fileStore as fromPackage } from "fldp/node";
import { GRR, memoryStore, Participant, Survey } from "../dist/index.js";
import { fileStore } from "../dist/node.js";

const FIELDS = { name: "browser", question: "Which?", labels: [..."abcdef"], oracle: { name: "grr", epsilon: 1 } };
const survey = await Survey.of(FIELDS, "https://collector.example", [GRR]);
const CHILD = fileURLToPath(new URL("file_store_child.js", import.meta.url));

function folder(t) {
  const path = mkdtempSync(join(tmpdir(), "fldp-store-"));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Start a process that works on the store; give it and the lines that it writes. */
function child(...parameters) {
  const process_ = spawn(process.execPath, [CHILD, ...parameters], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  process_.stdout.setEncoding("utf8").on("data", (more) => {
    text += more;
  });
  return { process: process_, ended: once(process_, "close"), lines: () => text.split("\n").slice(0, -1) };
}

test("it is part of the package", () => assert.equal(fromPackage, fileStore));

test("a bundle for browsers holds nothing of it", async () => {
  const contents = 'const { fileStore } = await import("fldp/node"); export { fileStore };';
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: fileURLToPath(new URL("..", import.meta.url)) },
    bundle: true,
    write: false,
    format: "esm",
    platform: "browser",
  });
  const { text } = outputFiles[0];
  assert.ok(!text.includes("node:") && text.length < 6000, text);
  assert.match(text, /fileStore is for Node; in a browser use databaseStore/);
});

for (const [name, make] of Object.entries({
  memory: () => memoryStore(),
  file: (t) => fileStore(join(folder(t), "l")),
})) {
  test(`${name}: a text is replaced as a whole, by whoever knows it`, async (t) => {
    const store = make(t);
    assert.equal(await store.read(), null);
    assert.equal(await store.replace("x", "a"), false);
    assert.equal(await store.replace(null, "a"), true);
    assert.equal(await store.replace(null, "b"), false);
    assert.equal(await store.read(), "a");
    assert.equal(await store.replace("a", 'b\n"ü🦊'), true);
    assert.equal(await store.read(), 'b\n"ü🦊');
    const tries = await Promise.all(Array.from({ length: 8 }, (_, k) => store.replace('b\n"ü🦊', `c${k}`)));
    assert.equal(tries.filter(Boolean).length, 1);
    assert.equal(await store.read(), `c${tries.indexOf(true)}`);
  });

  test(`${name}: one answer for good`, async (t) => {
    const store = make(t);
    const first = await new Participant(survey, { store }).prepare("a");
    const again = await new Participant(survey, { store }).prepare("f");
    assert.deepEqual([first.repeated, again.repeated, again.key], [false, true, first.key]);
  });
}

test("one file, for its owner alone, and no answer in it", async (t) => {
  const place = folder(t);
  const store = fileStore(join(place, "ledger"));
  await new Participant(survey, { store }).prepare("a");
  await store.replace(await store.read(), "x");
  assert.deepEqual(readdirSync(place), ["ledger.2"]);
  assert.equal(statSync(join(place, "ledger.2")).mode & 0o777, 0o600);
});

test("a file that was cut or changed is refused and stays", async (t) => {
  const place = folder(t);
  const store = fileStore(join(place, "ledger"));
  await new Participant(survey, { store }).prepare("a");
  const file = join(place, "ledger.1");
  const good = readFileSync(file);
  const damages = [0, 1, 40, good.length - 1].map((length) => good.subarray(0, length));
  for (let at = 0; at < good.length; at += 37) {
    const flipped = Buffer.from(good);
    flipped[at] ^= 1;
    damages.push(flipped);
  }
  for (const damaged of damages) {
    writeFileSync(file, damaged);
    const refused = { name: "FldpError", message: /^store: \S+ledger\.1 is damaged; restore a copy$/ };
    await assert.rejects(new Participant(survey, { store }).prepare("a"), refused);
    await assert.rejects(store.replace(null, "x"), refused);
    assert.deepEqual(readFileSync(file), damaged);
  }
  writeFileSync(file, good);
  assert.equal((await new Participant(survey, { store }).prepare("f")).repeated, true);
});

test("what the system refuses is one line, without the text", async (t) => {
  const missing = fileStore(join(folder(t), "none", "ledger"));
  await assert.rejects(missing.read(), { name: "FldpError", message: /^store: \S+ cannot be used: ENOENT$/ });
  await assert.rejects(missing.replace(null, "secret"), (error) => !error.message.includes("secret"));
  if (process.getuid?.() === 0) return; // whom nothing is forbidden
  const place = folder(t);
  chmodSync(place, 0o500);
  await assert.rejects(fileStore(join(place, "ledger")).replace(null, "x"), /cannot be used: EACCES/);
});

test("a full disk leaves the last text, and nothing beside it", async (t) => {
  const path = join(folder(t), "answers");
  const store = fileStore(path);
  assert.equal(await store.replace(null, "before"), true);
  const handle = await open(`${path}.1`);
  const full = Object.assign(new Error("no space is left"), { code: "ENOSPC" });
  for (const step of ["writeFile", "sync"]) {
    const mocked = t.mock.method(Object.getPrototypeOf(handle), step, () => Promise.reject(full));
    await assert.rejects(store.replace("before", "after"), { message: `store: ${path} cannot be used: ENOSPC` });
    mocked.mock.restore();
  }
  await handle.close();
  assert.deepEqual(readdirSync(join(path, "..")), ["answers.1"]);
  assert.equal(await store.read(), "before");
});

test("other files in the folder are let alone", async (t) => {
  const place = folder(t);
  for (const name of ["ledger", "ledger.old", "ledger.01", "ledger.1x", "other.9"])
    writeFileSync(join(place, name), "x");
  const store = fileStore(join(place, "ledger"));
  assert.equal(await store.read(), null);
  assert.ok((await store.replace(null, "a")) && (await store.replace("a", "b")));
  assert.deepEqual(readdirSync(place).sort(), [
    "ledger",
    "ledger.01",
    "ledger.1x",
    "ledger.2",
    "ledger.old",
    "other.9",
  ]);
});

test("processes that answer at once draw once", async (t) => {
  const path = join(folder(t), "ledger");
  const children = [..."abcdef"].map((label) => child("answer", path, label));
  await Promise.all(children.map(({ ended }) => ended));
  const answers = children.map(({ lines }) => JSON.parse(lines()[0]));
  assert.equal(new Set(answers.map(({ key }) => key)).size, 1);
  assert.equal(answers.filter(({ repeated }) => !repeated).length, 1);
});

test("processes that count at once lose nothing", async (t) => {
  const path = join(folder(t), "ledger");
  const children = [1, 2, 3].map(() => child("count", path, "30"));
  await Promise.all(children.map(({ ended }) => ended));
  const stored = JSON.parse(await fileStore(path).read());
  const acknowledged = children.flatMap(({ lines }) => lines());
  assert.equal(acknowledged.length, 90);
  assert.deepEqual([...stored].sort(), acknowledged.sort());
});

test("a process that is killed loses nothing that it acknowledged, and stops nobody", async (t) => {
  const path = join(folder(t), "ledger");
  const acknowledged = [];
  for (let round = 0; round < 8; round++) {
    const running = child("count", path, "1000000");
    const wanted = 1 + ((round * 5) % 13);
    while (running.lines().length < wanted) await once(running.process.stdout, "data");
    running.process.kill("SIGKILL");
    await running.ended;
    acknowledged.push(...running.lines());
    const stored = new Set(JSON.parse(await fileStore(path).read()));
    assert.deepEqual(
      acknowledged.filter((mark) => !stored.has(mark)),
      [],
    );
  }
});
