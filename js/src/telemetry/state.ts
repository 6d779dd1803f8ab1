/**
 * State: what a program keeps on this device, as one text that is replaced as a whole.
 *
 * One aggregate for each metric and period; the lot of each period; every report that was drawn. Never what happened one
 * by one, and nothing at all in mode `off`. The ledger is another text, the person's.
 */
import { FldpError } from "../bundle_shared.js";
import type { Store } from "../participant/store.js";
import { type Aggregate, merge } from "./aggregates.js";
import type { AppMetric } from "./metrics.js";
import type { Choice } from "./modes.js";

const FORMAT = "fldp-telemetry-1";
const MAX_SAVES = 64; // remembered, so that none is stored twice

/** What became of a report. */
export type ReportState = "waiting" | "sent" | "refused" | "dropped" | "withdrawing" | "withdrawn";

/** A report that was drawn. Times are in UTC. */
export interface StoredReport {
  /** Which it is about; there is one report of a period at most. */
  readonly period: string;
  readonly metric: string;
  readonly version: string;
  readonly drawn: string;
  due: string;
  readonly key: string;
  /** What is sent, as hexadecimal digits. */
  readonly body: string;
  state: ReportState;
  sent: string;
  tries: number;
  /** Why it was not sent. */
  said: string;
}

/** A period in which the program ran. */
export interface StoredPeriod {
  readonly period: string;
  /** What the lot drew when it was over. */
  metric?: string;
  done?: true;
  /** Why nothing was reported, if so. */
  why?: string;
  /** The aggregates by metric. */
  values?: [string, [string, number][]][];
}

/** All that is stored of one program. */
export interface Book {
  readonly format: string;
  /** What the person chose, where that is kept here: in a browser. */
  choice?: Choice;
  /** When the notice was given. */
  noticed?: string;
  /** What was stored last. */
  saves: string[];
  periods: StoredPeriod[];
  reports: StoredReport[];
}

/** Read what is stored; nothing yet is an empty book, and one that is damaged is refused, never replaced. */
export function readBook(text: string | null): Book {
  if (text === null) return { format: FORMAT, saves: [], periods: [], reports: [] };
  try {
    const book: Book = JSON.parse(text);
    const lists = [book.saves, book.periods, book.reports].every(Array.isArray);
    if (book.format === FORMAT && lists) return book;
  } catch {
    // refused below
  }
  throw new FldpError("telemetry: what is stored is damaged, or of a later version");
}

/** Change what is stored, as often as others come in between; a step that changes nothing writes nothing. */
export async function change<T>(store: Store, step: (book: Book) => T): Promise<T> {
  for (;;) {
    const before = await store.read();
    const book = readBook(before);
    const unchanged = JSON.stringify(book);
    const result = step(book);
    const after = JSON.stringify(book);
    if (after === unchanged || (await store.replace(before, after))) return result;
  }
}

/** Return a period; one that is new is noted: the program ran in it. */
export function seen(book: Book, period: string): StoredPeriod {
  const known = book.periods.find((each) => each.period === period);
  if (known) return known;
  book.periods = [...book.periods, { period }].sort((a, b) => (a.period < b.period ? -1 : 1));
  return seen(book, period);
}

/** Return what is kept of a metric in a period. */
export const aggregateIn = ({ values = [] }: StoredPeriod, metric: string): Aggregate =>
  new Map(values.find(([name]) => name === metric)?.[1]);

/** Merge an aggregate into the stored one; a period that is done takes nothing more. */
export function add(period: StoredPeriod, metric: AppMetric, later: Aggregate): void {
  if (period.done) return;
  const held = aggregateIn(period, metric.name);
  merge(metric, held, later);
  const others = (period.values ?? []).filter(([name]) => name !== metric.name);
  period.values = [...others, [metric.name, [...held]]];
}

/** Delete the aggregates of a period, which is then over for good. */
export function finish(period: StoredPeriod, why = ""): void {
  delete period.values;
  Object.assign(period, { done: true, ...(why && { why }) });
}

/** Delete all aggregates. */
export function forgetAggregates(book: Book): void {
  for (const period of book.periods) delete period.values;
}

/** Return whether a step with this mark was stored before, and remember it. A store may store, and say that it did not. */
export function isAgain(book: Book, mark: string): boolean {
  if (book.saves.includes(mark)) return true;
  book.saves = [mark, ...book.saves].slice(0, MAX_SAVES);
  return false;
}

/** Note what became of sending a report; one that is being taken back stays so, whoever was sending it. */
export function tried(book: Book, key: string, changes: Partial<StoredReport>): void {
  const report = book.reports.find((each) => each.key === key);
  if (report && !report.state.startsWith("withdr")) Object.assign(report, changes, { tries: report.tries + 1 });
}
