/** Requests to a collector, repeated where that may help. */

import { randomWords } from "../randomness/random.js";
import { FIRST_DELAY, MAX_DELAY, MAX_JSON, MAX_RETRIES, RETRY_STATUSES } from "../support/constants.js";
import { CollectorError, shown } from "../support/errors.js";
import type { Address } from "../support/web_origin.js";

const AGAIN: readonly (number | null)[] = [null, ...RETRY_STATUSES]; // null: there was no answer

/** Return how long an answer asks to wait, which it may say as a number of seconds or as a time. */
function retryAfter(text: string | null): number {
  return text ? Math.max(0, (/^\d+$/.test(text) ? 1000 * Number(text) : Date.parse(text) - Date.now()) || 0) : 0;
}

/** Return how long to wait: at random up to a limit that doubles, and at least what the collector asks for. */
function delay(attempt: number, asked: number): number {
  const share = randomWords(1).getUint32(0) / 2 ** 32;
  return Math.min(MAX_DELAY, asked + share * FIRST_DELAY * 2 ** attempt);
}

/** Return the JSON of an answer, undefined if it is none; one that never ends is cut off. */
async function readJson(response: Response): Promise<unknown> {
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  let text = "";
  while (reader && text.length < MAX_JSON) {
    const { done, value } = await reader.read();
    if (done) break;
    text += decoder.decode(value, { stream: true });
  }
  await reader?.cancel();
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Ask once: return the JSON of a good answer, or why there is none, and how long to wait before asking again. */
async function attempt(
  url: string,
  post: RequestInit,
): Promise<{ reply: unknown } | { why: string; status: number | null; wait: number }> {
  try {
    const response = await fetch(url, {
      ...post,
      cache: "no-store",
      credentials: "omit",
      redirect: "manual", // never followed
      referrerPolicy: "no-referrer",
      signal: AbortSignal.timeout(MAX_DELAY),
    });
    const { status, ok, headers } = response;
    const reply = await readJson(response);
    if (ok && reply !== undefined) return { reply };
    const { detail, title = ok ? "the answer is not JSON" : "no reason given" } = Object(reply);
    return { why: shown(detail ?? title, 500), status, wait: retryAfter(headers.get("retry-after")) };
  } catch {
    return { why: "cannot be reached", status: null, wait: 0 };
  }
}

/** Ask a collector, again where that may help, and return the JSON of its answer. An error names it, and no secret. */
export async function exchange({ origin, path }: Address, route: string, post: RequestInit = {}): Promise<unknown> {
  for (let count = 0; ; count++) {
    const result = await attempt(origin + path + route, post);
    if ("reply" in result) return result.reply;
    const { why, status, wait } = result;
    if (!AGAIN.includes(status) || globalThis.navigator?.onLine === false || count >= MAX_RETRIES || wait > MAX_DELAY) {
      throw new CollectorError(`${origin}${path}: ${why} (status ${status || "none"})`, status);
    }
    await new Promise((resolve) => setTimeout(resolve, delay(count, wait)));
  }
}
