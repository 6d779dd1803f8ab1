/** fldp/node: what only Node has. */
export { fileStore } from "./participant/file_store.js";
