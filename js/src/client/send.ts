/** Sending: queued answers of the ledger go to their collectors, and are taken back from them. */

import { clock } from "../participant/epochs.js";
import { change, intact, type Row, readLedger, type Sent } from "../participant/ledger.js";
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

/** Whether an answer may be tried again as it is: nobody has refused it. */
const isOpen = (error: unknown): boolean =>
  error instanceof WireError || (error instanceof CollectorError && !error.refused);

/** Whether there is no way to the relay that an answer must go through. */
const hasNoWay = ({ relay }: Row, relays?: Relays): boolean => relay !== undefined && !relays;

/** Return the relay that an answer goes through, if it is not sent directly. */
const wayOf = ({ relay }: Row, relays?: Relays): Relay | undefined =>
  relay === undefined ? undefined : relays?.(relay);

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

/** Whether the time to send an answer has not come; a clock that was ahead on its day makes nobody wait for years. */
const waits = ({ day, last = day, due = "" }: Row): boolean => due > clock(24) && last <= clock(10);

/** Send a queued answer. It stays queued while the collector cannot be reached; if it is refused, it is no longer. */
export async function post(store: Store, row: Row, relays?: Relays, token?: string): Promise<Row> {
  const { ticket, version, origin } = await intact(row);
  if (hasNoWay(row, relays) || waits(row)) return row;
  checkSecret(token, origin);
  try {
    const request = requestOf(row, ticket, token);
    const reply = await exchange(row, `/v1/versions/${version}/reports`, request, wayOf(row, relays));
    if (Object(reply).accepted !== 1) throw new CollectorError(`${origin}: the report was not accepted`, 200);
  } catch (error) {
    if (isOpen(error)) return row;
    await mark(store, row, { state: "drawn" });
    throw error;
  }
  return mark(store, row, { state: "sent" });
}

/**
 * Have an answer taken out of the count, and all that was sent in its place before. While the collector cannot be
 * reached it is to be withdrawn; a refusal is an error, and leaves it so, but does not keep the others.
 */
export async function takeBack(store: Store, row: Row, relays?: Relays, token?: string): Promise<Row> {
  const { ticket, version, origin, earlier = [] } = await intact(row);
  if (hasNoWay(row, relays)) return row;
  checkSecret(token, origin);
  let refusal: unknown;
  for (const sent of [row, ...earlier]) {
    try {
      const request = requestOf(sent, ticket, token);
      const reply = await exchange(row, `/v1/versions/${version}/withdrawals`, request, wayOf(row, relays));
      if (!(Object(reply).withdrawn >= 0)) throw new CollectorError(`${origin}: the report was not taken back`, 200);
    } catch (error) {
      if (isOpen(error)) return row;
      refusal ??= error;
    }
  }
  if (refusal) throw refusal;
  return mark(store, row, { state: "withdrawn" });
}

/**
 * Send all queued answers to all collectors, take back what is to be withdrawn, and return how many are left to do; one
 * that is refused is not.
 */
export async function flush({ store = databaseStore(), relays }: Flushing = {}): Promise<number> {
  let left = 0;
  const work: Record<string, typeof post> = { queued: post, withdrawing: takeBack };
  for (const row of readLedger(await store.read()).answers) {
    const done = await work[row.state]?.(store, row, relays).catch(() => null);
    left += Number(done?.state === row.state);
  }
  return left;
}

/** Send what is queued, or to be taken back, now and whenever the browser is online again; call what it returns to stop that. */
export function flushWhenOnline(options: Flushing = {}): () => void {
  const again = (): void => void flush(options).catch(() => 0);
  globalThis.addEventListener?.("online", again);
  again();
  return () => globalThis.removeEventListener?.("online", again);
}
