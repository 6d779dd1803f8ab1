/**
 * A way to a collector through a relay that somebody else runs: the relay sees who asks and not what, the collector what
 * and not who. Every request of a client takes it, or none is made.
 *
 * The relay hands out the collector's keys, the same bytes to everybody: a key for one person alone would need relay and
 * collector to collude. They are remembered for a day, and fetched again where the collector refuses them.
 */

import {
  addressOf,
  databaseStore,
  hex,
  isPrivate,
  memoryStore,
  ParameterError,
  readBytes,
  unhex,
  WireError,
} from "../bundle_shared.js";
import type { Relay } from "../client/retry.js";
import type { Store } from "../participant/store.js";
import type { Bytes } from "../support/canonical_json.js";
import { MAX_KEYS_BYTES, MAX_REPLY_BYTES, RELAYED_HEADERS } from "../support/constants.js";
import { type BinaryReply, replyOf, requestOf } from "./bhttp.js";
import { encapsulate, keyOf } from "./ohttp.js";

const DAY = 86_400_000;

/** The keys that the relay at an address handed out, as hexadecimal digits, and when. */
interface Remembered {
  readonly address?: string;
  readonly keys?: string;
  readonly at?: number;
}

/** Asks for something on the network, as `fetch` does. */
export type Fetch = (url: string, request: RequestInit) => Promise<Response>;

/** A relay, by its address, with what is remembered of its keys. */
class Way implements Relay {
  readonly address: string;
  /** Whether the collector's keys were replaced within a day, which is rare: ask its operator why. */
  hasNewKeys = false;
  readonly #store: Store;
  readonly #fetch: Fetch;

  constructor(url: string, store: Store, fetch: Fetch) {
    const { origin, path } = addressOf(url);
    if (!isPrivate(origin)) throw new ParameterError(`relay: must be reached by https, got ${origin}`);
    this.address = origin + path;
    this.#store = store;
    this.#fetch = fetch;
  }

  async ask(route: string, request: RequestInit): Promise<Response> {
    const { keys } = await this.#last();
    const reply = await this.#asked(route, request, keys);
    return keys && reply.status === 400 ? this.#asked(route, request) : reply; // the collector has another key
  }

  /** Return what was handed out within a day; a store that cannot be read has nothing. */
  async #last(): Promise<Remembered> {
    try {
      const last: Remembered = JSON.parse((await this.#store.read()) ?? "{}");
      if (last.address === this.address && Math.abs(Date.now() - (last.at ?? 0)) < DAY) return last;
    } catch {
      // as if there were nothing
    }
    return {};
  }

  /** Remember keys, where that can be done. */
  async #remember(keys: string): Promise<void> {
    const last = (await this.#last()).keys ?? keys;
    this.hasNewKeys ||= last !== keys;
    const text = JSON.stringify({ address: this.address, keys, at: Date.now() });
    await this.#store.replace(await this.#store.read(), text);
  }

  /** Ask once. What the relay itself answers is returned as it is, to be tried again or shown. */
  async #asked(route: string, { method = "GET", headers, body, ...how }: RequestInit, known?: string) {
    const message = requestOf(method, route, lines(headers), new Uint8Array((body as Bytes | undefined) ?? []));
    let keys = known;
    if (!keys) {
      const handed = await this.#fetch(`${this.address}/keys`, how);
      if (handed.status !== 200) return handed;
      keys = hex(await readBytes(handed, MAX_KEYS_BYTES));
    }
    const exchange = await encapsulate(keyOf(unhex(keys)), message);
    if (!known) await this.#remember(keys).catch(() => null);
    const sent = { ...how, method: "POST", body: exchange.body, headers: { "Content-Type": "message/ohttp-req" } };
    const reply = await this.#fetch(`${this.address}/`, sent);
    if (reply.status !== 200) return reply;
    return responseOf(await exchange.read(await readBytes(reply, MAX_REPLY_BYTES)).then(replyOf, foreign));
  }
}

function foreign(): never {
  throw new WireError("relay: the reply that it brought is not the collector's");
}

/** Return the headers that a relay carries; nothing else of a request is about who sends it. */
function lines(headers: RequestInit["headers"]): string[][] {
  return [...new Headers(headers)].filter(([name]) => RELAYED_HEADERS.includes(name));
}

function responseOf({ status, headers, content }: BinaryReply): Response {
  const wait = headers.find(([name]) => name === "retry-after")?.[1];
  return new Response(content.length ? content : null, { status, headers: wait ? { "Retry-After": wait } : {} });
}

/**
 * Return the way through the relay at an address, for `load`, `participant` and `flush`. Its keys are remembered in the
 * browser's database; elsewhere, as long as what is returned lives, unless a store is given (not the ledger's). Another
 * `fetch` can be given, too.
 */
export function through(
  address: string,
  {
    store = globalThis.indexedDB ? databaseStore("fldp-relays") : memoryStore(),
    fetch = (url, request) => globalThis.fetch(url, request),
  }: { readonly store?: Store; readonly fetch?: Fetch } = {},
): Relay & { readonly hasNewKeys: boolean } {
  return new Way(address, store, fetch);
}
