/**
 * The pass to a survey, for a ticket. Its secrets are stored before anybody is asked: without them the answer is of no
 * use, and a ticket is spent on one request alone. The pass then takes their place.
 */

import {
  addressOf,
  checkSecret,
  databaseStore,
  exchange,
  ParameterError,
  readBytes,
  WireError,
} from "../bundle_shared.js";
import type { Relay } from "../client/retry.js";
import type { Store } from "../participant/store.js";
import type { Survey } from "../survey/survey.js";
import { KEY_BYTES } from "./blind_rsa.js";
import { drawSecret, PASS, passOf, requestOf, SECRET, surveyTerms } from "./token.js";

/** What gets a pass. */
export interface PassOptions {
  /** What it is got for; of no use where it is here already. */
  readonly ticket?: string;
  /** Where passes are kept, in the browser's database unless given; not the ledger's. */
  readonly store?: Store;
  /** The way to the collector. Where somebody else issues, they are asked directly: they see no report. */
  readonly relay?: Relay;
}

type Kept = Record<string, string>;

/** Replace what is kept in a place by what a step makes of it, and return that. */
async function keep(
  store: Store,
  place: string,
  step: (text?: string) => string | undefined,
): Promise<string | undefined> {
  for (;;) {
    const before = await store.read();
    const kept = read(before);
    const text = step(kept[place]);
    if (text === kept[place] || (await store.replace(before, JSON.stringify({ ...kept, [place]: text })))) return text;
  }
}

/** Read what is kept; a damaged text is refused, since over a fresh one a spent ticket would be of no use. */
function read(text: string | null): Kept {
  try {
    const kept: Kept = JSON.parse(text ?? "{}");
    if (Object.values(kept).every((each) => PASS.test(each) || SECRET.test(each))) return kept;
  } catch {
    // refused below
  }
  throw new WireError("pass: what is stored of passes is damaged; restore a copy");
}

/**
 * Return the pass to a survey that takes passes: the one that is kept, or a new one for a ticket; undefined without
 * either. Give it to `answer` in place of a ticket. The issuer signs it blindly: when it comes back, nobody can tell
 * that it is the one of this ticket. Get it as soon as the ticket is there; whatever happens on the way, do it again.
 */
export async function obtainPass(
  survey: Survey,
  { ticket, store = databaseStore("fldp-passes"), relay }: PassOptions = {},
): Promise<string | undefined> {
  const { origin, path, version, name, collect } = survey;
  if (collect.submit !== "pass") throw new ParameterError(`pass: survey ${name} takes none`);
  if (collect.oblivious && !relay)
    throw new ParameterError(`pass: survey ${name} takes answers through a relay only; give one`);
  const terms = await surveyTerms(collect.issuer_key ?? "", collect.issuer, version);
  const place = `${origin}${path} ${version}`;
  const kept = await keep(store, place, (text) => text ?? (ticket ? drawSecret(terms) : undefined));
  if (!kept || PASS.test(kept) || !ticket) return kept && PASS.test(kept) ? kept : undefined;
  const named = collect.issuer ? addressOf(collect.issuer) : null;
  // The collector says who issues: where it names itself, nobody goes past the relay to it.
  const way = named && named.origin !== origin ? undefined : relay;
  const issuer = way || !named ? { origin, path } : named;
  checkSecret(ticket, way?.address ?? issuer.origin);
  const headers = { "Content-Type": "application/private-token-request", "Fldp-Ticket": ticket };
  const request = { method: "POST", headers, body: await requestOf(terms, kept) };
  const bytes = (response: Response) => readBytes(response, KEY_BYTES);
  const reply = await exchange(issuer, `/v1/versions/${version}/passes`, request, way, bytes);
  const pass = await passOf(terms, kept, reply);
  return keep(store, place, () => pass);
}
