/** Exchange: a request is asked until it is answered, or until there is no point in asking. */

import { randomWords } from "../randomness/random.js";
import { CollectorError, shown } from "../support/errors.js";
import type { Address } from "../support/web_origin.js";

const RETRIES = 5;
const FIRST_DELAY = 500; // milliseconds, as are the others
const LONGEST = 60_000;
const MAX_BYTES = 1 << 25;
const AGAIN = [408, 429, 502, 503, 504];

/** Return how long an answer asks to wait, which it may say as a number of seconds or as a time. */
function retryAfter(text: string | null): number {
  return text ? Math.max(0, (/^\d+$/.test(text) ? 1000 * Number(text) : Date.parse(text) - Date.now()) || 0) : 0;
}

/** Return how long to wait: at random up to a limit that doubles, and at least what the collector asks for. */
function delay(attempt: number, asked: number): number {
  const share = randomWords(1).getUint32(0) / 2 ** 32;
  return Math.min(LONGEST, asked + share * FIRST_DELAY * 2 ** attempt);
}

/** Return the JSON of an answer, undefined if it is none; one that never ends is cut off. */
async function readJson(response: Response): Promise<unknown> {
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  let text = "";
  for (let step; reader && !(step = await reader.read()).done && text.length < MAX_BYTES; ) {
    text += decoder.decode(step.value, { stream: true });
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
): Promise<{ found: unknown } | { why: string; status: number; wait: number }> {
  try {
    const response = await fetch(url, {
      ...post,
      cache: "no-store",
      credentials: "omit",
      redirect: "manual", // never followed
      referrerPolicy: "no-referrer",
      signal: AbortSignal.timeout(LONGEST),
    });
    const { status, ok, headers } = response;
    const found = await readJson(response);
    if (ok && found !== undefined) return { found };
    const { detail, title = ok ? "the answer is not JSON" : "no reason given" } = Object(found);
    return { why: shown(detail ?? title, 500), status, wait: retryAfter(headers.get("retry-after")) };
  } catch {
    return { why: "cannot be reached", status: NaN, wait: 0 };
  }
}

/** Ask a collector, again where that may help, and return the JSON of its answer. An error names it, and no secret. */
export async function exchange({ origin, path }: Address, route: string, post: RequestInit = {}): Promise<unknown> {
  for (let count = 0; ; count++) {
    const result = await attempt(origin + path + route, post);
    if ("found" in result) return result.found;
    const { why, status, wait } = result;
    const again = status !== status || AGAIN.includes(status);
    if (!again || globalThis.navigator?.onLine === false || count >= RETRIES || wait > LONGEST) {
      throw new CollectorError(
        `${origin}${path}: ${why} (status ${status || "none"})`,
        status === status ? status : null,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, delay(count, wait)));
  }
}
