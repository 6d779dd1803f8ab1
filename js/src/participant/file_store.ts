/// <reference types="node" />
/**
 * A store in files, for Node: `fldp/node`.
 *
 * The text of generation 7 is the file `PATH.7`, and the file of the highest number counts. A file is complete and on the
 * disk before it gets its name, and a name is given by a hard link, which fails where there is one: of two processes that
 * replace the same text, one wins. Nothing is locked, so a process that is killed leaves nothing that has to be freed.
 */
import { createHash, randomUUID } from "node:crypto";
import { link, open, readdir, readFile, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { FldpError } from "../support/errors.js";
import type { Store } from "./store.js";

const FORMAT = "fldp-store-1";

/** A text and the number of its file; 0 and null before there is any. */
interface Generation {
  readonly number: number;
  readonly text: string | null;
}

/** Whether an error of the system has one of these codes. */
const isA = (error: unknown, ...codes: string[]): boolean =>
  codes.includes((error as NodeJS.ErrnoException)?.code ?? "");

/** Run a step, and say in one line what the system has against it; what is written stays out of it. */
async function said<T>(path: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (error instanceof FldpError) throw error;
    throw new FldpError(`store: ${path} cannot be used: ${(error as NodeJS.ErrnoException)?.code ?? "unknown"}`);
  }
}

const checksum = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Put a format and a checksum before a text. */
const framed = (text: string): string => `${FORMAT} ${checksum(text)}\n${text}`;

/** Return the text of a file; one that was cut or changed is refused: over a fresh one all is answered again. */
function unframed(file: string, content: string): string {
  const text = content.slice(content.indexOf("\n") + 1);
  if (content === framed(text)) return text;
  throw new FldpError(`store: ${file} is damaged; restore a copy`);
}

/** Remove a file that may be gone. */
const remove = (file: string): Promise<void> => unlink(file).catch(() => undefined);

/** Have the system write a file, or the names in a folder, to the disk; some systems cannot do so with a folder. */
export async function synchronize(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync().catch((error) => {
      if (!isA(error, "EINVAL", "EPERM", "ENOTSUP")) throw error;
    });
  } finally {
    await handle.close();
  }
}

/**
 * Keep answers in files that begin with this path, which only their owner can read. They are on the disk when they are
 * stored, whatever becomes of the process, and any number of processes may share them.
 */
export function fileStore(path: string): Store {
  const [folder, name] = [dirname(path), basename(path)];
  const fileOf = (number: number): string => join(folder, `${name}.${number}`);

  /** Return the numbers of all files, the highest first. */
  async function numbers(): Promise<number[]> {
    const digits = (await readdir(folder))
      .filter((file) => file.startsWith(`${name}.`))
      .map((file) => file.slice(name.length + 1));
    return digits
      .filter((text) => /^[1-9]\d{0,14}$/.test(text))
      .map(Number)
      .sort((a, b) => b - a);
  }

  /** Return the newest text. Its file may be gone when it is opened: then there is a newer one. */
  async function newest(): Promise<Generation> {
    for (;;) {
      const [number = 0] = await numbers();
      if (!number) return { number, text: null };
      try {
        return { number, text: unframed(fileOf(number), await readFile(fileOf(number), "utf8")) };
      } catch (error) {
        if (!isA(error, "ENOENT")) throw error;
      }
    }
  }

  /** Write a text into a new file, and have it on the disk. */
  async function write(file: string, text: string): Promise<void> {
    const handle = await open(file, "wx", 0o600);
    try {
      await handle.writeFile(framed(text));
      await handle.sync();
    } finally {
      await handle.close();
    }
  }

  /** Name a file as the next generation; false if another has that place, or there was one after it already. */
  async function publish(file: string, number: number): Promise<boolean> {
    try {
      await link(file, fileOf(number));
    } catch (error) {
      if (isA(error, "EEXIST")) return false;
      throw error;
    }
    await synchronize(folder);
    const [highest, ...older] = await numbers();
    // Older files are removed only after a newer one is there, so the place of an old one is seen to be taken here.
    // If others have added to this text meanwhile, it is not lost: a second attempt finds it in theirs.
    if (highest !== number) return false;
    await Promise.all(older.map((each) => remove(fileOf(each))));
    return true;
  }

  return {
    read: () => said(path, async () => (await newest()).text),
    replace: (before, after) =>
      said(path, async () => {
        const { number, text } = await newest();
        if (text !== before) return false;
        const file = join(folder, `.${name}.${randomUUID()}`); // nobody looks for it
        try {
          await write(file, after);
          return await publish(file, number + 1);
        } finally {
          await remove(file);
        }
      }),
  };
}
