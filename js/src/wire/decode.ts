/** Reading: what a batch of bytes holds, every report of it checked. */

import { unpack } from "../data/packing.js";
import type { Oracle, OracleClass, Report } from "../oracles/base/oracle.js";
import { type Bytes, sha256 } from "../support/canonical_json.js";
import { BATCH_START, CHECKSUM_BYTES, MAX_HEADER } from "../support/constants.js";
import { FldpError, WireError } from "../support/errors.js";
import { build, chunkSize, headerText } from "./encode.js";

/** What a batch holds. */
export interface Batch {
  readonly oracle: Oracle;
  readonly survey: string | null;
  readonly reports: Report[];
}

function refuse(why: string): never {
  throw new WireError(`wire: ${why}`);
}

/** Bytes that are read from the front. */
class Reader {
  place = 0;
  declare readonly bytes: Bytes;

  constructor(bytes: Bytes) {
    this.bytes = bytes;
  }

  take(size: number): Bytes {
    if (this.place + size > this.bytes.length) refuse("the input ends too early");
    this.place += size;
    return this.bytes.subarray(this.place - size, this.place);
  }

  number(size: number): number {
    return this.take(size).reduceRight((sum, byte) => sum * 256 + byte, 0);
  }

  async check(): Promise<void> {
    const expected = await sha256(this.bytes.slice(0, this.place));
    if (this.take(CHECKSUM_BYTES).some((byte, k) => byte !== expected[k])) refuse("a checksum does not match");
  }
}

/** Return what a batch holds, every report checked, or throw `WireError`. It must be of one of the oracles. */
export async function decode(bytes: Bytes, oracles: readonly OracleClass[]): Promise<Batch> {
  const reader = new Reader(bytes);
  if (reader.take(BATCH_START.length).some((byte, k) => byte !== BATCH_START[k]))
    refuse("this is not a batch of reports");
  const { oracle, survey } = headerOf(reader, oracles);
  const reports: Report[] = [];
  for (let count = reader.number(4); count; count = reader.number(4)) {
    if (reports.length % 8) refuse("a chunk after one that ends within a byte");
    if (count > chunkSize(oracle)) refuse(`a chunk of ${count} reports`);
    const packed = reader.take(Math.ceil((count * oracle.reportBits) / 8));
    await reader.check();
    const chunk = unpack(oracle.widths, packed, count) ?? refuse("padding bits that are not zero");
    if (!chunk.every((report) => oracle.check(report))) refuse("a report that no value gives");
    for (const report of chunk) reports.push(report);
  }
  if (reader.number(8) !== reports.length) refuse("not as many reports as the end says");
  await reader.check();
  if (reader.place < bytes.length) refuse("bytes after the end");
  return { oracle, survey, reports };
}

function headerOf(reader: Reader, oracles: readonly OracleClass[]): { oracle: Oracle; survey: string | null } {
  const length = reader.number(2);
  if (length > MAX_HEADER) refuse(`a header of ${length} bytes`);
  const text = reader.take(length);
  try {
    const header = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(text);
    const { oracle: fields, survey = null, ...rest } = JSON.parse(header);
    const known = survey === null || /^[0-9a-f]{64}$/.test(survey);
    const oracle = build(fields, oracles);
    if (known && !Object.keys(rest).length && header === headerText(oracle, survey)) return { oracle, survey };
  } catch (error) {
    if (error instanceof FldpError) refuse(`the header's oracle: ${error.message}`);
  }
  return refuse("the header is not canonical");
}
