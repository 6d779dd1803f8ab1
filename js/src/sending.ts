/** Sending: the ledger in its store, and what of it goes to a collector. */
import type { Limits } from "./amounts.js";
import { identifier, unhex } from "./canonical.js";
import { CollectorError, FldpError, ParameterError } from "./errors.js";
import { exchange } from "./exchange.js";
import { type Row, answers, readLedger, writeLedger } from "./ledger.js";
import { isPrivate } from "./origin.js";
import { type Store, databaseStore } from "./store.js";

/** What a participant works with. */
export interface Options {
  /** Where answers are kept: the browser's database unless it is given. */
  readonly store?: Store;
  /** The person's own limits; no survey can change them. */
  readonly limits?: Limits;
  /** For surveys that take reports with a token only. It is not stored. */
  readonly token?: string;
}

/** Change the ledger in a store by replacing it as a whole, as often as others come in between. */
export async function change<T>(
  store: Store,
  step: (rows: readonly Row[]) => Promise<[readonly Row[], T]>,
): Promise<T> {
  for (;;) {
    const before = await store.read();
    const rows = readLedger(before);
    const [changed, result] = await step(rows);
    if (changed === rows || (await store.replace(before, writeLedger(changed)))) return result;
  }
}

/** Change an answer; a ticket is kept only as long as the answer is queued. */
export function mark(store: Store, answer: Row, changes: Partial<Row>): Promise<Row> {
  const isIt = answers(answer);
  return change(store, async (rows) => {
    const { ticket: _, ...rest } = rows.find(isIt) ?? answer;
    const marked: Row = { ...rest, ...changes };
    return [rows.map((row) => (isIt(row) ? marked : row)), marked];
  });
}

/** Return the check of a key and a batch. */
export const checkOf = (key: string, batch: string): Promise<string> => identifier([key, batch]);

/** Refuse an answer that was damaged in the store; it is never replaced. */
export async function intact(row: Row): Promise<Row> {
  if ((await checkOf(row.key, row.batch)) === row.check) return row;
  throw new FldpError(`participant: the stored answer on topic ${row.topic} is damaged; restore it from a copy`);
}

/** Refuse a secret that no header can hold, and one that others could read on the way; it is never shown. */
export function checkSecret(secret: string | undefined, origin: string): void {
  if (secret === undefined || (/^[\w.~+/=-]{1,512}$/.test(secret) && isPrivate(origin))) return;
  throw new ParameterError(`participant: a token or ticket must be one, and must not go over plain http to ${origin}`);
}

/** Send a queued answer. It stays queued while the collector cannot be reached; if it is refused, it is no longer. */
export async function post(store: Store, row: Row, token?: string): Promise<Row> {
  const { key, batch, ticket, version, origin } = await intact(row);
  checkSecret(token, origin);
  const headers = {
    "Content-Type": "application/octet-stream",
    "Idempotency-Key": key,
    ...(ticket && { "Fldp-Ticket": ticket }),
    ...(token && { Authorization: `Bearer ${token}` }),
  };
  try {
    const request = { method: "POST", body: unhex(batch), headers };
    const found = await exchange(row, `/v1/versions/${version}/reports`, request);
    if (Object(found).accepted !== 1) throw new CollectorError(`${origin}: it must accept 1 report`, 200);
  } catch (error) {
    if (!(error instanceof CollectorError && error.refused)) return row;
    await mark(store, row, { state: "drawn" });
    throw error;
  }
  return mark(store, row, { state: "sent" });
}

/** Send all queued answers to all collectors, and return how many are still queued; one that is refused is not. */
export async function flush({ store = databaseStore(), token }: Options = {}): Promise<number> {
  let left = 0;
  for (const row of readLedger(await store.read()).filter(({ state }) => state === "queued")) {
    const sent = await post(store, row, token).catch(() => null);
    left += Number(sent?.state === "queued");
  }
  return left;
}

/** Send queued answers now and whenever the browser is online again; call what it returns to stop that. */
export function flushWhenOnline(options: Options = {}): () => void {
  const again = (): void => void flush(options).catch(() => 0);
  globalThis.addEventListener?.("online", again);
  again();
  return () => globalThis.removeEventListener?.("online", again);
}
