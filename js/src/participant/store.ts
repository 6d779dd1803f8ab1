/**
 * Where a participant keeps its answers: one text, in the browser's database, in localStorage, in memory, or where the
 * caller likes.
 *
 * A store has two methods. What was written is durable when `replace` is done, and no two callers, in whatever tabs or
 * processes, replace the same text.
 */
import { FldpError } from "../support/errors.js";

/** A text that is replaced as a whole. */
export interface Store {
  /** Return the text, or null if there never was one. */
  read(): Promise<string | null>;
  /** Put `after` in place of `before`, and return true; if something else is there by now, return false. */
  replace(before: string | null, after: string): Promise<boolean>;
}

/** Keep answers in memory: for tests, and for callers that keep them elsewhere. They are forgotten with the process. */
export function memoryStore(): Store {
  let text: string | null = null;
  return {
    read: async () => text,
    replace: async (before, after) => {
      if (text !== before) return false;
      text = after;
      return true;
    },
  };
}

const UNUSABLE = "store: the browser's database cannot be used; give another store (in Node, fileStore of fldp/node)";

/**
 * Keep answers in the browser's database (IndexedDB). This is the default.
 *
 * A transaction that writes has the database to itself, across all tabs and processes of the browser, and what it wrote
 * is on the disk when it is complete.
 */
export function databaseStore(name = "fldp"): Store {
  return {
    read: async () => (await transact(name, "readonly")).text,
    replace: async (before, after) => (await transact(name, "readwrite", before, after)).replaced,
  };
}

/** Look at the text in one transaction, and replace it if it is the one before. */
function transact(
  name: string,
  mode: IDBTransactionMode,
  before?: string | null,
  after?: string,
): Promise<{ text: string | null; replaced: boolean }> {
  return new Promise((resolve, reject) => {
    const refuse = (): void => reject(new FldpError(UNUSABLE));
    if (!globalThis.indexedDB) return refuse();
    const opening = indexedDB.open(name, 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(name);
    opening.onerror = refuse;
    opening.onsuccess = () => {
      const database = opening.result;
      const transaction = database.transaction(name, mode, { durability: "strict" });
      const table = transaction.objectStore(name);
      const reading = table.get(0);
      let text: string | null = null;
      let replaced = false;
      reading.onsuccess = () => {
        text = reading.result ?? null;
        replaced = text === before;
        if (replaced) table.put(after, 0);
      };
      transaction.oncomplete = () => resolve({ text, replaced });
      transaction.onabort = refuse;
      database.close(); // once the transaction is over
    };
  });
}

/**
 * Keep answers in localStorage, where Web Locks keep tabs apart; without them it is refused.
 *
 * A browser may show another process a change of localStorage a moment late, and write it to the disk seconds later.
 * `databaseStore` has neither weakness.
 */
export function localStore(key = "fldp"): Store {
  const locks = globalThis.navigator?.locks;
  if (!locks || !globalThis.localStorage)
    throw new FldpError("store: localStorage or Web Locks are missing; give another");
  return {
    read: async () => localStorage.getItem(key),
    replace: (before, after) =>
      locks.request(`fldp ${key}`, () => {
        if (localStorage.getItem(key) !== before) return false;
        localStorage.setItem(key, after);
        return true;
      }),
  };
}
