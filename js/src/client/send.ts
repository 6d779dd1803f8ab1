/** Sending: queued answers of the ledger go to their collectors. */

import { change, intact, type Row, readLedger } from "../participant/ledger.js";
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
    const reply = await exchange(row, `/v1/versions/${version}/reports`, request);
    if (Object(reply).accepted !== 1) throw new CollectorError(`${origin}: the report was not accepted`, 200);
  } catch (error) {
    if (!(error instanceof CollectorError && error.refused)) return row;
    await mark(store, row, { state: "drawn" });
    throw error;
  }
  return mark(store, row, { state: "sent" });
}

/** Send all queued answers to all collectors, and return how many are still queued; one that is refused is not. */
export async function flush({ store = databaseStore() }: { readonly store?: Store } = {}): Promise<number> {
  let left = 0;
  for (const row of readLedger(await store.read()).answers.filter(({ state }) => state === "queued")) {
    const sent = await post(store, row).catch(() => null);
    left += Number(sent?.state === "queued");
  }
  return left;
}

/** Send queued answers now and whenever the browser is online again; call what it returns to stop that. */
export function flushWhenOnline(options: { readonly store?: Store } = {}): () => void {
  const again = (): void => void flush(options).catch(() => 0);
  globalThis.addEventListener?.("online", again);
  again();
  return () => globalThis.removeEventListener?.("online", again);
}
