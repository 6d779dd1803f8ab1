/** Sending: queued answers of the ledger go to their collectors. */

import { change, intact, type Row, readLedger } from "../participant/ledger.js";
import { databaseStore, type Store } from "../participant/store.js";
import { unhex } from "../support/canonical_json.js";
import { CollectorError, ParameterError, WireError } from "../support/errors.js";
import { isPrivate } from "../support/web_origin.js";
import { exchange, type Relay } from "./retry.js";

/** Finds the relay at an address: `through` of `fldp/oblivious`. */
export type Relays = (address: string) => Relay;

/** Where queued answers are, and how those that wait for a relay get there. */
export interface Flushing {
  readonly store?: Store;
  /** Without it, answers that go through a relay stay queued: nothing goes directly instead. */
  readonly relays?: Relays;
}

/**
 * Change an answer that was not sent yet; a ticket is kept only as long as the answer is queued. The key says which
 * answer: the row of a survey that is answered daily may hold another day's report by now.
 */
export function mark(store: Store, answer: Row, changes: Partial<Row>): Promise<Row> {
  const isAnswer = ({ key }: Row): boolean => key === answer.key;
  return change(store, async (rows) => {
    const { ticket: _, ...rest } = rows.find(isAnswer) ?? answer;
    const marked: Row = rest.state === "sent" ? rest : { ...rest, ...changes };
    return [{ answers: rows.map((row) => (isAnswer(row) ? marked : row)) }, marked];
  });
}

/** Refuse a secret that no header can hold, and one that others could read on the way; it is never shown. */
export function checkSecret(secret: string | undefined, origin: string): void {
  if (secret === undefined || (/^[\w.~+/=-]{1,512}$/.test(secret) && isPrivate(origin))) return;
  throw new ParameterError(
    `participant: a token or ticket must be plain characters, and not go over http to ${origin}`,
  );
}

/** Whether an answer may be tried again as it is: nobody has refused it. */
const isOpen = (error: unknown): boolean =>
  error instanceof WireError || (error instanceof CollectorError && !error.refused);

/** Whether its time has not come, or there is no way to the relay that it must go through. */
const mustWait = ({ due = "", relay }: Row, relays?: Relays): boolean =>
  due > new Date().toISOString() || (relay !== undefined && !relays);

/** Send a queued answer. It stays queued while the collector cannot be reached; if it is refused, it is no longer. */
export async function post(store: Store, row: Row, relays?: Relays, token?: string): Promise<Row> {
  const { key, batch, ticket, version, origin, relay } = await intact(row);
  if (mustWait(row, relays)) return row;
  checkSecret(token, origin);
  const headers = {
    "Content-Type": "application/octet-stream",
    "Idempotency-Key": key,
    ...(ticket && { "Fldp-Ticket": ticket }),
    ...(token && { Authorization: `Bearer ${token}` }),
  };
  try {
    const request = { method: "POST", body: unhex(batch), headers };
    const way = relay === undefined ? relay : relays?.(relay);
    const reply = await exchange(row, `/v1/versions/${version}/reports`, request, way);
    if (Object(reply).accepted !== 1) throw new CollectorError(`${origin}: the report was not accepted`, 200);
  } catch (error) {
    if (isOpen(error)) return row;
    await mark(store, row, { state: "drawn" });
    throw error;
  }
  return mark(store, row, { state: "sent" });
}

/** Send all queued answers to all collectors, and return how many are still queued; one that is refused is not. */
export async function flush({ store = databaseStore(), relays }: Flushing = {}): Promise<number> {
  let left = 0;
  for (const row of readLedger(await store.read()).answers.filter(({ state }) => state === "queued")) {
    const sent = await post(store, row, relays).catch(() => null);
    left += Number(sent?.state === "queued");
  }
  return left;
}

/** Send queued answers now and whenever the browser is online again; call what it returns to stop that. */
export function flushWhenOnline(options: Flushing = {}): () => void {
  const again = (): void => void flush(options).catch(() => 0);
  globalThis.addEventListener?.("online", again);
  again();
  return () => globalThis.removeEventListener?.("online", again);
}
