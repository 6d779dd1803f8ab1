/** What `fldp/node` is where there are no files, so that a bundle for browsers holds nothing of it. */
import type { Store } from "./participant/store.js";
import { FldpError } from "./support/errors.js";

/** Refuse: a browser has a database. */
export function fileStore(_path: string): Store {
  throw new FldpError("store: fileStore is for Node; in a browser use databaseStore");
}
