/** Sending: queued answers of the ledger go to their collectors, and are taken back from them. */

import { change, intact, type Row, readLedger, type Sent } from "../participant/ledger.js";
import { databaseStore, type Store } from "../participant/store.js";
import { unhex } from "../support/canonical_json.js";
import { CollectorError, ParameterError } from "../support/errors.js";
import { isPrivate } from "../support/web_origin.js";
import { exchange } from "./retry.js";

/**
 * Change an answer that was not sent yet; a ticket is kept only as long as the answer is queued. The key says which
 * answer: the row of a survey that is answered daily may hold another day's report by now.
 */
export function mark(store: Store, answer: Row, changes: Partial<Row>): Promise<Row> {
  const isAnswer = ({ key }: Row): boolean => key === answer.key;
  return change(store, async (rows) => {
    const { ticket: _, ...rest } = rows.find(isAnswer) ?? answer;
    const marked: Row = isFinal(rest.state, changes.state) ? rest : { ...rest, ...changes };
    return [{ answers: rows.map((row) => (isAnswer(row) ? marked : row)) }, marked];
  });
}

const STATES = ["sent", "withdrawing", "withdrawn"]; // from the first on, they only follow each other

const isFinal = (now: string, next = ""): boolean =>
  STATES.includes(now) && STATES.indexOf(next) <= STATES.indexOf(now);

/** Refuse a secret that no header can hold, and one that others could read on the way; it is never shown. */
export function checkSecret(secret: string | undefined, origin: string): void {
  if (secret === undefined || (/^[\w.~+/=-]{1,512}$/.test(secret) && isPrivate(origin))) return;
  throw new ParameterError(
    `participant: a token or ticket must be plain characters, and not go over http to ${origin}`,
  );
}

/** Return the request that sends a batch, or takes it back: the same key and bytes. */
function requestOf({ key, batch }: Sent, ticket?: string, token?: string): RequestInit {
  const headers = {
    "Content-Type": "application/octet-stream",
    "Idempotency-Key": key,
    ...(ticket && { "Fldp-Ticket": ticket }),
    ...(token && { Authorization: `Bearer ${token}` }),
  };
  return { method: "POST", body: unhex(batch), headers };
}

/** Send a queued answer. It stays queued while the collector cannot be reached; if it is refused, it is no longer. */
export async function post(store: Store, row: Row, token?: string): Promise<Row> {
  const { ticket, version, origin } = await intact(row);
  checkSecret(token, origin);
  try {
    const reply = await exchange(row, `/v1/versions/${version}/reports`, requestOf(row, ticket, token));
    if (Object(reply).accepted !== 1) throw new CollectorError(`${origin}: the report was not accepted`, 200);
  } catch (error) {
    if (!(error instanceof CollectorError && error.refused)) return row;
    await mark(store, row, { state: "drawn" });
    throw error;
  }
  return mark(store, row, { state: "sent" });
}

/**
 * Have an answer taken out of the count, and all that was sent in its place before. While the collector cannot be
 * reached it is to be withdrawn; a refusal is an error, and leaves it so.
 */
export async function takeBack(store: Store, row: Row, token?: string): Promise<Row> {
  const { ticket, version, origin, earlier = [] } = await intact(row);
  checkSecret(token, origin);
  for (const sent of [row, ...earlier]) {
    try {
      const reply = await exchange(row, `/v1/versions/${version}/withdrawals`, requestOf(sent, ticket, token));
      if (!(Object(reply).withdrawn >= 0)) throw new CollectorError(`${origin}: the report was not taken back`, 200);
    } catch (error) {
      if (error instanceof CollectorError && error.refused) throw error;
      return row;
    }
  }
  return mark(store, row, { state: "withdrawn" });
}

/**
 * Send all queued answers to all collectors, take back what is to be withdrawn, and return how many are left to do; one
 * that is refused is not.
 */
export async function flush({ store = databaseStore() }: { readonly store?: Store } = {}): Promise<number> {
  let left = 0;
  const work: Record<string, typeof post> = { queued: post, withdrawing: takeBack };
  for (const row of readLedger(await store.read()).answers) {
    const done = await work[row.state]?.(store, row).catch(() => null);
    left += Number(done?.state === row.state);
  }
  return left;
}

/** Send what is queued, or to be taken back, now and whenever the browser is online again; call what it returns to stop that. */
export function flushWhenOnline(options: { readonly store?: Store } = {}): () => void {
  const again = (): void => void flush(options).catch(() => 0);
  globalThis.addEventListener?.("online", again);
  again();
  return () => globalThis.removeEventListener?.("online", again);
}
