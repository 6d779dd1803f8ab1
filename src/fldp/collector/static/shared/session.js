// A session with the collector: the token, for as long as the tab is open, and requests with it.
const KEPT = "fldp-token";
const known = new Map(); // the last answer to each question, by its entity tag

export const collector = new URL(".", location.href).href;

/** What the collector refused, and why. */
export class Refused extends Error {
  constructor(status, { detail = "", type = "", mistakes = [] }) {
    super(detail);
    Object.assign(this, { name: "Refused", status, kind: type.replace("urn:fldp:", ""), mistakes });
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

export const token = () => sessionStorage.getItem(KEPT);
export const isAdmin = () => Boolean(token()?.startsWith("fldp_admin_"));

/** Keep a token for this tab; null forgets it, and all that was learned with it. */
export function keep(secret) {
  known.clear();
  if (secret === null) sessionStorage.clear();
  else sessionStorage.setItem(KEPT, secret);
}

async function exchange(path, options = {}) {
  const headers = { Authorization: `Bearer ${token()}`, ...options.headers };
  const how = { cache: "no-store", credentials: "omit", redirect: "error", ...options, headers };
  const answer = await fetch(collector + path, how).catch(unreachable);
  if (answer.ok || answer.status === 304) return answer;
  throw new Refused(answer.status, await answer.json().catch(() => ({})));
}

/** Ask for JSON. What has not changed since the last time is the same object. */
export async function get(path) {
  const before = known.get(path);
  const answer = await exchange(path, before ? { headers: { "If-None-Match": before.tag } } : {});
  if (answer.status === 304) return before.body;
  const [tag, body] = [answer.headers.get("ETag"), await answer.json().catch(unreachable)];
  if (tag) remember(path, { tag, body });
  return body;
}

function remember(path, found) {
  if (known.size >= 16) known.delete(known.keys().next().value);
  known.set(path, found);
}

const posted = (body) => ({
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(body),
});

/** Send JSON, and return the answer. */
export async function post(path, body) {
  return (await exchange(path, posted(body))).json().catch(unreachable);
}

/** Save what the collector answers, to a body if there is one, as a file. */
export async function download(path, name, body = null) {
  const url = URL.createObjectURL(await (await exchange(path, body ? posted(body) : {})).blob().catch(unreachable));
  const link = document.createElement("a");
  Object.assign(link, { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
