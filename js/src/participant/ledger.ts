/** Ledger: all answers of a person as one text, and whether one more is within the person's limits. */

import type { Chance, Report } from "../oracles/base/oracle.js";
import { identifier } from "../support/canonical_json.js";
import { MAX_LISTED } from "../support/constants.js";
import { FldpError } from "../support/errors.js";
import { breaches, type FullLimits } from "./limits.js";
import type { Store } from "./store.js";

const FORMAT = "fldp-ledger-1";

/** What an answer costs: to whom it goes, on what, at which cost, over which labels, on which day. */
export interface Charge {
  readonly origin: string;
  readonly path: string;
  /** Of the survey; rows of earlier releases have none. */
  readonly name?: string;
  readonly topic: string;
  readonly version: string;
  readonly epsilon: number;
  readonly eta: number;
  /** Identifies the set of labels. */
  readonly labels: string;
  readonly size: number;
  /** In UTC. */
  readonly day: string;
}

/**
 * What is sent. It is `drawn` until its owner wants it sent, then `queued` until the collector has acknowledged it, and
 * then `sent`.
 */
export interface Drawn {
  /** The key that the batch is sent under, always the same one, so that it counts once. */
  readonly key: string;
  /** The batch, as hexadecimal digits. */
  readonly batch: string;
  /** What all reports are made of, where there is one each day; the day of the last one. */
  readonly basis?: Report;
  readonly last?: string;
  /** A hash of key, batch and basis. */
  readonly check: string;
  readonly state: "drawn" | "queued" | "sent";
  /** What a queued answer is sent with, where the survey asks for it. */
  readonly ticket?: string;
}

/** One answer: what it costs, and what is repeated. Never the truth. */
export type Row = Charge & Drawn;

/** How often surveys were refused, by origin; a ledger without any refusal has none. */
export type Refusals = Readonly<Record<string, number>>;

/** All that is stored. */
interface Book {
  readonly answers: readonly Row[];
  readonly refusals?: Refusals;
  /** Of surveys that ask less; a ledger without any has none. */
  readonly chances?: readonly Chance[];
}

const damaged = (): FldpError => new FldpError("participant: the ledger is damaged; restore a copy");

/** Read a ledger; none yet is an empty one, and a damaged one is refused: over a fresh one all is answered again. */
export function readLedger(text: string | null): Book {
  if (text === null) return { answers: [] };
  try {
    const { format, ...book } = JSON.parse(text);
    const counts = Object.values(book.refusals ?? {}).every((count) => (count as number) > 0);
    if (format === FORMAT && book.answers.every(isRow) && counts) return book;
  } catch {
    // refused below
  }
  throw damaged();
}

function isRow({ epsilon, eta, size, day, origin, topic, version, labels, check }: Row): boolean {
  const texts = [day, origin, topic, version, labels, check].every((text) => typeof text === "string");
  return texts && epsilon > 0 && epsilon < Infinity && eta >= 0 && eta <= 1 && size > 1;
}

/** Return a test of rows: whether one is that answer. */
export function answers(to: Pick<Row, "origin" | "version">): (row: Row) => boolean {
  return ({ origin, version }) => origin === to.origin && version === to.version;
}

/** Return a test of rows: whether one is on that topic, to that origin. */
export function concerns(to: Pick<Row, "origin" | "topic">): (row: Row) => boolean {
  return ({ origin, topic }) => origin === to.origin && topic === to.topic;
}

/**
 * Return a test of rows: whether one is of that origin, and shares the survey's name or topic. The collector chooses
 * the topic, which is the name where none is given: renaming one of the two makes no new survey.
 */
export function related({ origin, name, topic }: Charge): (row: Row) => boolean {
  return (row) => row.origin === origin && [row.name, row.topic].some((text) => text && [name, topic].includes(text));
}

/** Say why one more answer is not within the limits; nothing if it is. */
export function refusals(rows: readonly Row[], row: Charge, limits: FullLimits): string[] {
  const { origin, topic } = row;
  const scopes = [
    [`answers on topic ${topic} to ${origin}`, limits.topic, concerns(row)],
    [`answers to ${origin}`, limits.origin, (other: Charge) => other.origin === origin],
    ["all answers", limits.total, () => true],
  ] as const;
  return scopes.flatMap(([name, limit, counts]) =>
    breaches(limit, [...rows.filter(counts), row]).map((breach) => `${name} must have ${breach}`),
  );
}

/** Say what the person must know before answering: few labels, or others than the last time. */
export function noticesOf(rows: readonly Row[], row: Charge, { minLabels }: FullLimits): string[] {
  const notices = [];
  if (row.size < minLabels) notices.push(`it has ${row.size} labels, fewer than ${minLabels}`);
  const last = rows.filter(related(row)).pop();
  if (last && last.labels !== row.labels) {
    const notice = `its labels have changed since ${last.day}: ${last.size} then, ${row.size} now`;
    notices.push(notice.replaceAll(String(MAX_LISTED), "any text"));
  }
  return notices;
}

/** Change the ledger in a store by replacing it as a whole, as often as others come in between; null changes nothing. */
export async function change<T>(
  store: Store,
  step: (rows: readonly Row[], refusals?: Refusals, chances?: readonly Chance[]) => Promise<[Partial<Book> | null, T]>,
): Promise<T> {
  for (;;) {
    const before = await store.read();
    const book = readLedger(before);
    const [changes, result] = await step(book.answers, book.refusals, book.chances);
    if (!changes || (await store.replace(before, JSON.stringify({ format: FORMAT, ...book, ...changes }))))
      return result;
  }
}

/** Count a refusal. A failure to count must not hide the refusal. */
export async function countRefusal(store: Store, origin: string): Promise<void> {
  await change(store, async (_, before = {}) => [
    { refusals: { ...before, [origin]: (before[origin] ?? 0) + 1 } },
    null,
  ]).catch(() => null);
}

/** Return the checksum of a key, a batch, and its basis. */
export const checkOf = (key: string, batch: string, basis: Report = []): Promise<string> =>
  identifier([key, batch, ...basis]);

/** Refuse an answer that was damaged in the store; it is never replaced. */
export async function intact(row: Row): Promise<Row> {
  if ((await checkOf(row.key, row.batch, row.basis)) === row.check) return row;
  throw damaged();
}
