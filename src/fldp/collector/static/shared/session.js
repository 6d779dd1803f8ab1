// A session with the collector: the token, for as long as the tab is open, and requests with it.

/** @typedef {{ detail?: string, type?: string, mistakes?: string[] }} Problem */

const TOKEN_KEY = "fldp-token";
const MAX_REPLIES = 16;

/** @type {Map<string, { tag: string, body: unknown }>} */
const replies = new Map(); // the last reply to each request, by its entity tag

export const collector = new URL(".", location.href).href;

/** The collector refused a request. */
export class Refused extends Error {
  /**
   * @param {number} status
   * @param {Problem} problem
   */
  constructor(status, { detail = "", type = "", mistakes = [] }) {
    super(detail);
    this.name = "Refused";
    this.status = status;
    this.kind = type.replace("urn:fldp:", "");
    this.mistakes = mistakes;
  }
}

/** The collector did not answer, or not to the end. */
export class Unreachable extends Error {
  constructor() {
    super("the collector cannot be reached");
    this.name = "Unreachable";
  }
}

const unreachable = () => {
  throw new Unreachable();
};

/**
 * Return the kind of a refusal, null of any other error.
 *
 * @param {unknown} error
 */
export const kindOf = (error) => (error instanceof Refused ? error.kind : null);

/**
 * Return the message of what was thrown.
 *
 * @param {unknown} error
 */
export const messageOf = (error) => (error instanceof Error ? error.message : String(error));

export const token = () => sessionStorage.getItem(TOKEN_KEY);
export const isAdmin = () => Boolean(token()?.startsWith("fldp_admin_"));

/**
 * Keep a token for this tab; null forgets it, and all that was learned with it.
 *
 * @param {string | null} secret
 */
export function keep(secret) {
  replies.clear();
  if (secret === null) sessionStorage.clear();
  else sessionStorage.setItem(TOKEN_KEY, secret);
}

/**
 * @param {string} path
 * @param {RequestInit} [options]
 */
async function exchange(path, options = {}) {
  const headers = { Authorization: `Bearer ${token()}`, ...options.headers };
  /** @type {RequestInit} */
  const request = { cache: "no-store", credentials: "omit", redirect: "error", ...options, headers };
  const response = await fetch(collector + path, request).catch(unreachable);
  if (response.ok || response.status === 304) return response;
  throw new Refused(response.status, await response.json().catch(() => ({})));
}

/**
 * Fetch JSON. A reply that has not changed since the last time is the same object.
 *
 * @template Reply
 * @param {string} path
 * @returns {Promise<Reply>}
 */
export async function get(path) {
  const before = replies.get(path);
  const response = await exchange(path, before ? { headers: { "If-None-Match": before.tag } } : {});
  if (before && response.status === 304) return /** @type {Reply} */ (before.body);
  const [tag, body] = [response.headers.get("ETag"), await response.json().catch(unreachable)];
  if (tag) remember(path, tag, body);
  return body;
}

/**
 * @param {string} path
 * @param {string} tag
 * @param {unknown} body
 */
function remember(path, tag, body) {
  const [oldest] = replies.keys();
  if (replies.size >= MAX_REPLIES) replies.delete(oldest);
  replies.set(path, { tag, body });
}

/**
 * @param {unknown} body
 * @returns {RequestInit}
 */
const posted = (body) => ({
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(body),
});

/**
 * Send JSON, and return the reply.
 *
 * @template Reply
 * @param {string} path
 * @param {unknown} body
 * @returns {Promise<Reply>}
 */
export async function post(path, body) {
  return (await exchange(path, posted(body))).json().catch(unreachable);
}

/**
 * Have something done that needs no body and no reply.
 *
 * @param {"POST" | "DELETE"} method
 * @param {string} path
 */
export async function act(method, path) {
  await exchange(path, { method });
}

/**
 * Save something as a file.
 *
 * @param {Blob} blob
 * @param {string} name
 */
export function save(blob, name) {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  Object.assign(link, { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/**
 * Save a reply of the collector, to a body if there is one, as a file.
 *
 * @param {string} path
 * @param {string} name
 * @param {unknown} [body]
 */
export async function download(path, name, body = null) {
  const response = await exchange(path, body ? posted(body) : {});
  save(await response.blob().catch(unreachable), name);
}
