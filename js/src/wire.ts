/** Wire: batches of reports as bytes. The specification is `docs/wire.md` of the project. */
import { dumps, sha256 } from "./canonical.js";
import { FldpError, WireError, shown } from "./errors.js";
import type { Fields, Oracle, OracleClass, Report } from "./oracle.js";
import { pack, unpack } from "./packing.js";

const START = [70, 76, 68, 80, 1, 1]; // FLDP, format 1, reports
const CHECK = 8;
const MOST_HEADER = 4096;
const CHUNK_BYTES = 1 << 22;

type Bytes = Uint8Array<ArrayBuffer>;

const chunkSize = (oracle: Oracle): number => Math.max(8, Math.floor(CHUNK_BYTES / oracle.reportBits) * 8);

function join(...parts: readonly ArrayLike<number>[]): Bytes {
  const made = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let place = 0;
  for (const part of parts) {
    made.set(part, place);
    place += part.length;
  }
  return made;
}

/** Return a number as little-endian bytes. */
function little(value: number, size: number): Bytes {
  return Uint8Array.from({ length: size }, (_, k) => Math.floor(value / 256 ** k));
}

async function checked(bytes: Bytes): Promise<Bytes> {
  return join(bytes, (await sha256(bytes)).subarray(0, CHECK));
}

/** Return a batch of reports as bytes; `survey` is the version that they answer. */
export async function encode(oracle: Oracle, reports: readonly Report[], survey?: string): Promise<Bytes> {
  const header = new TextEncoder().encode(dumps({ oracle: oracle.description, ...(survey && { survey }) }));
  let made = join(START, little(header.length, 2), header);
  const whole = reports.length - (reports.length % 8); // only a chunk at the end may stop within a byte
  for (let start = 0, end; start < reports.length; start = end) {
    end = start < whole ? Math.min(start + chunkSize(oracle), whole) : reports.length;
    const chunk = reports.slice(start, end);
    made = await checked(join(made, little(chunk.length, 4), pack(oracle.widths, chunk)));
  }
  return checked(join(made, little(0, 4), little(reports.length, 8)));
}

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
  readonly bytes: Bytes;

  constructor(bytes: Bytes) {
    this.bytes = bytes;
  }

  take(size: number): Bytes {
    if (this.place + size > this.bytes.length) refuse("the input ends too early");
    return this.bytes.subarray(this.place, (this.place += size));
  }

  number(size: number): number {
    return this.take(size).reduceRight((sum, byte) => sum * 256 + byte, 0);
  }

  async check(): Promise<void> {
    const expected = await sha256(this.bytes.slice(0, this.place));
    if (this.take(CHECK).some((byte, k) => byte !== expected[k])) refuse("a check does not match");
  }
}

/** Return what a batch holds, every report checked, or throw `WireError`. It must be of one of the oracles. */
export async function decode(bytes: Bytes, oracles: readonly OracleClass[]): Promise<Batch> {
  const reader = new Reader(bytes);
  if (reader.take(START.length).some((byte, k) => byte !== START[k])) refuse("this is not a batch of reports");
  const { oracle, survey } = headerOf(reader, oracles);
  const reports: Report[] = [];
  for (let count; (count = reader.number(4)); ) {
    if (reports.length % 8) refuse("a chunk after one that ends within a byte");
    if (count > chunkSize(oracle)) refuse(`a chunk of ${count} reports`);
    const packed = reader.take(Math.ceil((count * oracle.reportBits) / 8));
    await reader.check();
    const found = unpack(oracle.widths, packed, count) ?? refuse("padding bits that are not zero");
    if (!found.every((report) => oracle.check(report))) refuse("a report that no value gives");
    for (const report of found) reports.push(report);
  }
  if (reader.number(8) !== reports.length) refuse("another number of reports than the end says");
  await reader.check();
  if (reader.place < bytes.length) refuse("bytes after the end");
  return { oracle, survey, reports };
}

function headerOf(reader: Reader, oracles: readonly OracleClass[]): { oracle: Oracle; survey: string | null } {
  const length = reader.number(2);
  if (length > MOST_HEADER) refuse(`a header of ${length} bytes`);
  const text = reader.take(length);
  try {
    const header = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(text);
    const { oracle: fields, survey = null, ...rest } = JSON.parse(header);
    const known = survey === null || /^[0-9a-f]{64}$/.test(survey);
    const oracle = build(fields, oracles);
    const again = dumps({ oracle: oracle.description, ...(survey && { survey }) });
    if (known && !Object.keys(rest).length && header === again) return { oracle, survey };
  } catch (error) {
    if (error instanceof FldpError) refuse(`the header's oracle: ${error.message}`);
  }
  return refuse("the header is not canonical JSON of an oracle and a survey");
}

/** Make an oracle from its description: one of those that are offered. */
export function build(fields: unknown, oracles: readonly OracleClass[]): Oracle {
  const { name, ...parameters } = Object(fields) as Fields;
  const Kind = oracles.find(({ id }) => id === name);
  if (!Kind) refuse(`an oracle must be one of ${oracles.map(({ id }) => id)}, got ${shown(name)}`);
  return new Kind(parameters);
}
