/**
 * Sending: a report to its collector, or through the relay where one is declared.
 *
 * Where a relay is declared nothing ever goes directly. A report has one key for ever, so sending it again counts nothing
 * twice.
 */
import { addressOf, FldpError, isPrivate, readBytes, unhex } from "../bundle_shared.js";
import type { Fetch } from "../oblivious/relay.js";
import type { AppMetrics } from "./metrics.js";
import type { StoredReport } from "./state.js";

const [TIMEOUT, MAX_REPLY] = [10_000, 1 << 17]; // milliseconds, bytes
const LATER = [408, 425, 429];
const NO_KEY = 400; // of a relay: the collector cannot read what was encrypted for another key

/** What came of a request: nothing if it was done, or what went wrong, and whether asking again would be no better. */
export interface Trouble {
  readonly said: string;
  readonly refused: boolean;
}

/** Ask for a report to be counted, or to be taken back. */
export async function send(
  metrics: AppMetrics,
  report: StoredReport,
  what: "reports" | "withdrawals",
  fetch: Fetch,
): Promise<Trouble | null> {
  try {
    const response = await asked(metrics, `/v1/versions/${report.version}/${what}`, report, fetch);
    const { status } = response;
    const body = new TextDecoder().decode(await readBytes(response, MAX_REPLY));
    if (status === 200 && confirms(body, what === "reports" ? "accepted" : "withdrawn")) return null;
    const refused = status >= 400 && status < 500 && !LATER.includes(status) && !(metrics.relay && status === NO_KEY);
    return { said: `the collector answers ${status}`, refused };
  } catch (error) {
    if (error instanceof RelayError) return { said: error.message, refused: false };
    const said = `${error instanceof FldpError ? "not sent" : "not reached"}: ${(error as Error)?.name}`;
    return { said, refused: false };
  }
}

/** Whether a collector says that it has done this; somebody in between may answer anything with status 200. */
function confirms(body: string, what: string): boolean {
  try {
    return Number.isInteger(Object(JSON.parse(body))[what]);
  } catch {
    return false;
  }
}

/** What a relay answers itself: the collector has said nothing, so the report waits. */
class RelayError extends FldpError {}

/** Ask a relay; it may answer that the collector has another key, and then is asked again. */
const carried =
  (fetch: Fetch): Fetch =>
  async (url, request) => {
    const response = await fetch(url, request);
    if ([200, NO_KEY].includes(response.status)) return response;
    throw new RelayError(`the relay answers ${response.status || "with a redirect"}`);
  };

async function asked(
  { collector, relay }: AppMetrics,
  route: string,
  { key, body }: StoredReport,
  fetch: Fetch,
): Promise<Response> {
  const request: RequestInit = {
    method: "POST",
    body: unhex(body),
    headers: { "Content-Type": "application/octet-stream", "Idempotency-Key": key },
    cache: "no-store",
    credentials: "omit",
    redirect: "manual", // never followed
    referrerPolicy: "no-referrer",
    signal: AbortSignal.timeout(TIMEOUT),
  };
  if (relay) return (await import("../oblivious.js")).through(relay, { fetch: carried(fetch) }).ask(route, request);
  const { origin, path } = addressOf(collector);
  if (!isPrivate(origin)) throw new FldpError("telemetry: reports go over https");
  return fetch(origin + path + route, request);
}
