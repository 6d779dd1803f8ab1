/** Requests to a collector, repeated where that may help. */

import { randomWords } from "../randomness/random.js";
import type { Bytes } from "../support/canonical_json.js";
import { FIRST_DELAY, MAX_DELAY, MAX_JSON, MAX_RETRIES, RETRY_STATUSES } from "../support/constants.js";
import { CollectorError, FldpError, shown } from "../support/errors.js";
import type { Address } from "../support/web_origin.js";

/** A way to a collector on which nobody sees both who sends and what: `through` of `fldp/oblivious` makes one. */
export interface Relay {
  /** Where it is. */
  readonly address: string;
  /** Bring a request to the collector that the relay works for, and its answer back. */
  ask(route: string, request: RequestInit): Promise<Response>;
}

const AGAIN: readonly (number | null)[] = [null, ...RETRY_STATUSES]; // null: there was no answer

/** Return how long an answer asks to wait, which it may say as a number of seconds or as a time. */
function retryAfter(text: string | null): number {
  return text ? Math.max(0, (/^\d+$/.test(text) ? 1000 * Number(text) : Date.parse(text) - Date.now()) || 0) : 0;
}

/** Return a time of at most so long, all equally likely. */
export const anyTime = (most: number): number => (most * randomWords(1).getUint32(0)) / 2 ** 32;

/** Return how long to wait: at random up to a limit that doubles, and at least what the collector asks for. */
function delay(attempt: number, asked: number): number {
  return Math.min(MAX_DELAY, asked + anyTime(FIRST_DELAY * 2 ** attempt));
}

/** Return the bytes of an answer; one that never ends is cut off. */
export async function readBytes(response: Response, most: number): Promise<Bytes> {
  const reader = response.body?.getReader();
  const parts: Bytes[] = [];
  for (let size = 0; reader && size < most; size += parts[parts.length - 1].length) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
  }
  await reader?.cancel();
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/** Return the JSON of an answer, undefined if it is none. */
async function readJson(response: Response): Promise<unknown> {
  const bytes = await readBytes(response, MAX_JSON);
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

/** Ask once: return the JSON of a good answer, or why there is none, and how long to wait before asking again. */
async function attempt<Reply>(
  { origin, path }: Address,
  route: string,
  post: RequestInit,
  relay: Relay | undefined,
  read: Reading<Reply>,
): Promise<{ reply: Reply } | { why: string; status: number | null; wait: number }> {
  try {
    const request: RequestInit = {
      ...post,
      cache: "no-store",
      credentials: "omit",
      redirect: "manual", // never followed
      referrerPolicy: "no-referrer",
      signal: AbortSignal.timeout(MAX_DELAY),
    };
    const response = await (relay ? relay.ask(route, request) : fetch(origin + path + route, request));
    const { status, ok, headers } = response;
    if (!ok && status < 400) {
      // Elsewhere; a browser hides the status of such an answer.
      const who = relay ? `relay ${relay.address}` : origin + path;
      throw new CollectorError(`${who}: answers with a redirect, which is not followed; use its new address`, status);
    }
    const reply = ok ? await read(response) : undefined;
    if (reply !== undefined) return { reply };
    const problem = ok ? {} : await readJson(response);
    const { detail, title = ok ? "the answer is not JSON" : "no reason given" } = Object(problem);
    return { why: shown(detail ?? title, 500), status, wait: retryAfter(headers.get("retry-after")) };
  } catch (error) {
    if (error instanceof FldpError) throw error; // of a relay's, or a redirect
    return { why: "cannot be reached", status: null, wait: 0 };
  }
}

/** What is made of a good answer; undefined where it is none. */
type Reading<Reply> = (response: Response) => Promise<Reply>;

/**
 * Ask a collector, again where that may help, and return the JSON of its answer, or what else is to be read: through a relay where one is given, and
 * then never in another way. An error names the collector, and no secret.
 */
export async function exchange<Reply = unknown>(
  address: Address,
  route: string,
  post: RequestInit = {},
  relay?: Relay,
  read: Reading<Reply> = readJson as Reading<Reply>,
): Promise<Reply> {
  const { origin, path } = address;
  for (let count = 0; ; count++) {
    const result = await attempt(address, route, post, relay, read);
    if ("reply" in result) return result.reply;
    const { why, status, wait } = result;
    if (!AGAIN.includes(status) || globalThis.navigator?.onLine === false || count >= MAX_RETRIES || wait > MAX_DELAY) {
      throw new CollectorError(`${origin}${path}: ${why} (status ${status || "none"})`, status);
    }
    await new Promise((resolve) => setTimeout(resolve, delay(count, wait)));
  }
}
