/** Wire: batches of reports as bytes, as `docs/wire.md` of the project specifies. `decode.ts` is the way back. */

import { pack } from "../data/packing.js";
import type { Fields, Oracle, OracleClass, Report } from "../oracles/base/oracle.js";
import { type Bytes, dumps, sha256, utf8 } from "../support/canonical_json.js";
import { BATCH_START, CHECKSUM_BYTES, CHUNK_BYTES } from "../support/constants.js";
import { fail } from "../support/errors.js";

/** Return the most reports that one chunk holds. */
export const chunkSize = (oracle: Oracle): number => Math.max(8, Math.floor(CHUNK_BYTES / oracle.reportBits) * 8);

/** Return the text of a header. */
export const headerText = (oracle: Oracle, survey?: string | null): string =>
  dumps({ oracle: oracle.description, ...(survey && { survey }) });

/** Return a number as little-endian bytes. */
const little = (value: number, size: number): number[] =>
  Array.from({ length: size }, (_, k) => Math.floor(value / 256 ** k) % 256);

/** Return everything so far, some more, and a checksum of all of it. */
async function withChecksum(start: ArrayLike<number>, ...parts: readonly ArrayLike<number>[]): Promise<Bytes> {
  const all = [start, ...parts];
  const bytes = new Uint8Array(all.reduce((sum, part) => sum + part.length, CHECKSUM_BYTES));
  let place = 0;
  for (const part of all) {
    bytes.set(part, place);
    place += part.length;
  }
  bytes.set((await sha256(bytes.slice(0, place))).subarray(0, CHECKSUM_BYTES), place);
  return bytes;
}

/** Return a batch of reports as bytes; `survey` is the version that they answer. */
export async function encode(oracle: Oracle, reports: readonly Report[], survey?: string): Promise<Bytes> {
  const header = utf8(headerText(oracle, survey));
  let bytes: ArrayLike<number> = [...BATCH_START, ...little(header.length, 2), ...header];
  const whole = reports.length - (reports.length % 8); // only a chunk at the end may stop within a byte
  for (let start = 0, end = 0; start < reports.length; start = end) {
    end = start < whole ? Math.min(start + chunkSize(oracle), whole) : reports.length;
    bytes = await withChecksum(bytes, little(end - start, 4), pack(oracle.widths, reports.slice(start, end)));
  }
  return withChecksum(bytes, little(0, 4), little(reports.length, 8));
}

/** Build an oracle from its description; it must be one of those that are offered. */
export function build(fields: unknown, oracles: readonly OracleClass[]): Oracle {
  const { name, ...parameters } = Object(fields) as Fields;
  const Kind = oracles.find(({ id }) => id === name);
  if (!Kind) throw fail("oracle", "name", `one of ${oracles.map(({ id }) => id)}`, name);
  return new Kind(parameters);
}
