/// <reference types="node" />
/**
 * Node: state and ledger in files that only their owner can read, where the programs in Python keep theirs; the person's
 * choice is one for both languages. No program waits at its end for the network.
 */

import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdir, readdir, rename, writeFile } from "node:fs/promises";
import http from "node:http";
import https from "node:https";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";
import { Readable } from "node:stream";
import { FldpError } from "../bundle_shared.js";
import { fileStore, synchronize } from "../participant/file_store.js";
import type { Place, Platform } from "./agent.js";
import { type Choices, choicesOf, choicesText } from "./choices.js";
import type { ModeName } from "./metrics.js";
import type { Choice } from "./modes.js";

/** Return a folder of the person's, by the variable that names it. */
function folder(variable: string, otherwise: string): string {
  const folder = process.env[variable] ?? "";
  return join(isAbsolute(folder) ? folder : join(homedir(), otherwise), "fldp");
}

/** Return a place in files; the folder is made when something is first written. */
function files(path: string): Place {
  const store = fileStore(path);
  const exists = async (): Promise<boolean> => {
    const names = await readdir(dirname(path)).catch(() => []);
    return names.some((name) => name.startsWith(`${basename(path)}.`));
  };
  return {
    name: path,
    exists,
    store: {
      read: async () => ((await exists()) ? store.read() : null),
      replace: async (before, after) => {
        await mkdir(dirname(path), { recursive: true, mode: 0o700 });
        return store.replace(before, after);
      },
    },
  };
}

const choicesPath = (): string => join(folder("XDG_CONFIG_HOME", ".config"), "telemetry.toml");

/** Return what the person chose for all programs in both languages; null if there is a file that says something else. */
function choices(): Choices | null {
  try {
    return choicesOf(readFileSync(choicesPath(), "utf8"));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? { apps: new Map() } : null;
  }
}

async function choose(app: string, mode: ModeName, day: string): Promise<void> {
  // A file that cannot be read means off, and must go on meaning that for the other programs.
  const { all, apps } = choices() ?? { all: { mode: "off" }, apps: new Map<string, Choice>() };
  const before = apps.get(app);
  const since = before?.mode === mode ? (before.since ?? day) : day;
  const text = choicesText({ all, apps: new Map([...apps, [app, { mode, since }]]) });
  await mkdir(dirname(choicesPath()), { recursive: true });
  const hidden = `${choicesPath()}.${randomUUID()}`;
  await writeFile(hidden, text, { flush: true } as object);
  await rename(hidden, choicesPath());
  await synchronize(dirname(choicesPath()));
}

/** Ask without keeping the program alive: one that ends meanwhile sends again at its next start, under the same key. */
function ask(url: string, { method = "GET", headers, body, signal }: RequestInit): Promise<Response> {
  return new Promise((resolve, reject) => {
    const { request } = url.startsWith("https:") ? https : http;
    const asked = request(url, {
      method,
      headers: Object.fromEntries(new Headers(headers)),
      signal: signal ?? undefined,
      agent: false,
    });
    asked.on("socket", (socket) => socket.unref());
    asked.on("error", reject);
    asked.on("response", (reply) => {
      const status = reply.statusCode ?? 0;
      if (status < 200 || status > 599) return void asked.destroy(new FldpError("telemetry: no status"));
      const known = Object.entries(reply.headers).filter(([, value]) => typeof value === "string");
      const isEmpty = [204, 205, 304].includes(status);
      const stream = isEmpty ? null : (Readable.toWeb(reply) as ReadableStream<Uint8Array>);
      resolve(new Response(stream, { status, headers: known as [string, string][] }));
    });
    asked.end(body ?? undefined);
  });
}

/** What a program in Node stands on. */
export const node: Platform = {
  get variables() {
    return process.env;
  },
  get wishes() {
    return globalThis.navigator ?? {};
  },
  fetch: ask,
  state: (app) => files(join(folder("XDG_STATE_HOME", ".local/state"), "telemetry", `${app}.state`)),
  get ledger() {
    return files(join(folder("XDG_STATE_HOME", ".local/state"), "answers.ledger"));
  },
  choice: async (app) => {
    const known = choices();
    if (!known) return { mode: "unreadable" };
    return known.apps.get(app) ?? (known.all ? { ...known.all, all: true } : null);
  },
  choose,
  atEnd(work) {
    const leave = (): void => void work();
    process.on("beforeExit", leave);
    return () => void process.off("beforeExit", leave);
  },
};
