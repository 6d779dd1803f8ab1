/**
 * Ledger: all answers of a person as one text, and whether one more is within the person's limits.
 *
 * A ledger that was cleared knows nothing of what was given away before, so nothing is charged to the month in which it
 * began: what was spent before lies in that month or in earlier ones.
 */

import type { Chance, Report } from "../oracles/base/oracle.js";
import { identifier } from "../support/canonical_json.js";
import { MAX_LISTED } from "../support/constants.js";
import { FldpError } from "../support/errors.js";
import { clock, epochOf, isDay, isEpoch, lastMonthOf, monthOf, monthText } from "./epochs.js";
import { breaches, type FullLimits, type Limit, type Spent, shareText, together } from "./limits.js";
import type { Store } from "./store.js";

const [FORMAT, EARLIER] = ["fldp-ledger-2", "fldp-ledger-1"];

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
  /** The week or the month of the answer, where the survey is repeated by those. */
  readonly epoch?: string;
  /** Whether it was charged to the limits of that month; else to those that last. */
  readonly renews?: boolean;
}

/** A batch that was sent, and its key: what it takes to withdraw it. */
export type Sent = Pick<Drawn, "key" | "batch">;

/**
 * What is sent. It is `drawn` until its owner wants it sent, then `queued` until the collector has acknowledged it, and
 * then `sent`. Taken back, it is `withdrawing` until the collector has acknowledged that, and then `withdrawn`.
 */
export interface Drawn {
  /** The key that the batch is sent under, always the same one, so that it counts once. */
  readonly key: string;
  /** The batch, as hexadecimal digits. */
  readonly batch: string;
  /** What all reports are made of, where there is one each period; the first day of the last one's. */
  readonly basis?: Report;
  readonly last?: string;
  /** A hash of key, batch and basis. */
  readonly check: string;
  readonly state: "drawn" | "queued" | "sent" | "withdrawing" | "withdrawn";
  /** What was sent before it in its place, the newest first: on other days. */
  readonly earlier?: readonly Sent[];
  /** What a queued answer is sent with, where the survey asks for it. */
  readonly ticket?: string;
  /** The address of the relay that it goes through; without one, it goes to the collector directly. */
  readonly relay?: string;
  /** When it may be sent, where that is not at once: a time that was drawn at random, in UTC. */
  readonly due?: string;
}

/** One answer: what it costs, and what is repeated. Never the truth. */
export type Row = Charge & Drawn;

/** How often surveys were refused, by origin; a ledger without any refusal has none. */
export type Refusals = Readonly<Record<string, number>>;

/** All that is stored. */
interface Book {
  /** The day on which it began, in UTC. */
  readonly born: string;
  readonly answers: readonly Row[];
  readonly refusals?: Refusals;
  /** Of surveys that ask less; a ledger without any has none. */
  readonly chances?: readonly Chance[];
}

const damaged = (): FldpError => new FldpError("participant: the ledger is damaged; restore a copy");

/**
 * Read a ledger; none yet is an empty one, and a damaged one is refused: over a fresh one all is answered again. One of
 * the format before begins now, as far as anybody knows.
 */
export function readLedger(text: string | null): Book {
  const born = clock(10);
  if (text === null) return { born, answers: [] };
  try {
    const { format, ...rest } = JSON.parse(text);
    const book: Book = format === EARLIER ? { born, ...rest } : rest;
    const counts = Object.values(book.refusals ?? {}).every((count) => (count as number) > 0);
    const known = [FORMAT, EARLIER].includes(format) && isDay(book.born);
    if (known && book.answers.every(isRow) && counts) return book;
  } catch {
    // refused below
  }
  throw damaged();
}

function isRow({ epsilon, eta, size, day, origin, topic, version, labels, check, epoch, renews }: Row): boolean {
  const texts = [day, origin, topic, version, labels, check].every((text) => typeof text === "string");
  const numbers = epsilon > 0 && epsilon < Infinity && eta >= 0 && eta <= 1 && size > 1;
  return texts && numbers && (epoch === undefined ? renews === undefined : isEpoch(epoch) && renews === !!renews);
}

/** Return a test of rows: whether one is that answer, in its epoch or in any. */
export function answers(to: Pick<Row, "origin" | "version">, epoch?: string): (row: Row) => boolean {
  return (row) =>
    row.origin === to.origin && row.version === to.version && (epoch ?? row.epoch ?? "") === (row.epoch ?? "");
}

/** Whether an answer was taken back, or is to be: then it is neither sent nor drawn again. */
export const isTaken = ({ state }: Pick<Row, "state">): boolean => state.startsWith("withdr");

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
export function refusals(rows: readonly Row[], row: Charge, limits: FullLimits, born: string): string[] {
  if (row.renews) return [...tooYoung(row, born), ...byMonth(rows, row, limits)];
  const { origin, topic } = row;
  const lasting = rows.filter(({ renews }) => !renews);
  const scopes = [
    [`answers on topic ${topic} to ${origin}`, limits.topic, concerns(row)],
    [`answers to ${origin}`, limits.origin, (other: Charge) => other.origin === origin],
    ["all answers", limits.total, () => true],
  ] as const;
  return scopes.flatMap(([name, limit, counts]) =>
    breaches(limit, [...lasting.filter(counts), row]).map((breach) => `${name} must have ${breach}`),
  );
}

const monthOfRow = ({ epoch = "" }: Charge): number => monthOf(epoch);

/** Say that a ledger is too young: what was spent in this month before it began is not in it. */
function tooYoung(row: Charge, born: string): string[] {
  const last = lastMonthOf(born);
  if (monthOfRow(row) > last) return [];
  return [`the ledger began on ${born}: what is charged by the month begins with ${monthText(last + 1)}`];
}

/** Say why one more answer is not within the limits of its month and of the twelve months around it. */
function byMonth(rows: readonly Row[], row: Charge, { month, monthTotal, year }: FullLimits): string[] {
  if (row.eta !== 1) {
    const rule = "answers that are charged by the month must have an eta of 1, since etas multiply to nothing";
    return [`${rule}, got ${shareText(row.eta)}`];
  }
  const own = monthOfRow(row);
  const every = [...rows.filter(({ renews }) => renews), row];
  const here = every.filter(({ origin }) => origin === row.origin);
  const between = (charges: readonly Charge[], first: number, last: number): Charge[] =>
    charges.filter((charge) => monthOfRow(charge) >= first && monthOfRow(charge) <= last);
  const scopes = [
    [`answers to ${row.origin} in ${monthText(own)}`, month as Limit, between(here, own, own)],
    [`all answers in ${monthText(own)}`, monthTotal, between(every, own, own)],
    // a clock may have been ahead, so not only past months count
    ...Array.from({ length: 12 }, (_, number) => own - 11 + number).map(
      (first) =>
        [
          `answers to ${row.origin} from ${monthText(first)} to ${monthText(first + 11)}`,
          year,
          between(here, first, first + 11),
        ] as const,
    ),
  ] as const;
  const reasons = scopes.map(([name, limit, charges]) =>
    breaches(limit, charges).map((breach) => `${name} must have ${breach}`),
  );
  return [...reasons[0], ...reasons[1], ...(reasons.slice(2).find(({ length }) => length) ?? [])];
}

/** Return what answers give away together, and how much of that was charged by the month. */
export function spentOn(rows: readonly Row[]): Spent {
  const renewed = rows.filter(({ renews }) => renews);
  const now = monthOf(epochOf("monthly", clock(10)));
  const sum = (charges: readonly Row[]): string => together(charges).epsilon;
  const renewing = {
    epsilon: sum(renewed),
    months: new Set(renewed.map(monthOfRow)).size,
    thisMonth: sum(renewed.filter((row) => monthOfRow(row) === now)),
  };
  return { ...together(rows), ...(renewed.length && { renewing }) };
}

/** Say what the person must know before answering: few labels, or other labels than last time. */
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
  step: (rows: readonly Row[], book: Book) => Promise<[Partial<Book> | null, T]>,
): Promise<T> {
  for (;;) {
    const before = await store.read();
    const book = readLedger(before);
    const [changes, result] = await step(book.answers, book);
    if (!changes || (await store.replace(before, JSON.stringify({ format: FORMAT, ...book, ...changes }))))
      return result;
  }
}

/** Count a refusal. A failure to count must not hide the refusal. */
export async function countRefusal(store: Store, origin: string): Promise<void> {
  await change(store, async (_, { refusals: before = {} }) => [
    { refusals: { ...before, [origin]: (before[origin] ?? 0) + 1 } },
    null,
  ]).catch(() => null);
}

/**
 * Make the ledger if there is none, and return the day on which it began. Nothing is charged by the month in its first
 * one, so a program that reports by the month calls this when it may first store anything.
 */
export async function begin(store: Store): Promise<string> {
  const text = await store.read();
  const { born } = readLedger(text);
  if (text !== null && JSON.parse(text).format === FORMAT) return born;
  return change(store, async (_, book) => [{}, book.born]);
}

/** Return the checksum of a key, a batch, and its basis. */
export const checkOf = (key: string, batch: string, basis: Report = []): Promise<string> =>
  identifier([key, batch, ...basis]);

/** Refuse an answer that was damaged in the store; it is never replaced. */
export async function intact(row: Row): Promise<Row> {
  if ((await checkOf(row.key, row.batch, row.basis)) === row.check) return row;
  throw damaged();
}
