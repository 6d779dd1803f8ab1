// The ticket of a personal link: it leaves the address at once, and stays with the tab until it is spent.
import { isRelayed, nameHere } from "./place.js";

const HERE = location.pathname + (isRelayed ? `#${nameHere()}` : "");
const TICKET_KEY = `fldp-ticket ${HERE}`;

/** @type {string | undefined} */
let held; // where the browser refuses storage, this page alone knows it

/**
 * Use the storage of the tab, where the browser allows it.
 *
 * @template Result
 * @param {(storage: Storage) => Result} work
 */
function stored(work) {
  try {
    return work(sessionStorage);
  } catch {
    return undefined;
  }
}

/** Take the ticket out of the address and of the history of the tab; else return the one that was taken before. */
export function takeTicket() {
  const asked = new URLSearchParams(location.hash.slice(1));
  const brought = asked.get("ticket");
  if (!brought) return held ?? stored((storage) => storage.getItem(TICKET_KEY)) ?? undefined;
  const rest = location.hash
    .slice(1)
    .split("&")
    .filter((part) => !part.startsWith("ticket="));
  history.replaceState(null, "", location.pathname + location.search + (rest.length ? `#${rest.join("&")}` : ""));
  stored((storage) => storage.setItem(TICKET_KEY, brought));
  held = brought;
  return brought;
}

/** Return the version that a link names after #, of several that a survey has; without one it is the newest. */
export const askedVersion = () => new URLSearchParams(location.hash.slice(1)).get("version") ?? "";

/** Forget the ticket, once the report was sent with it. */
export function forgetTicket() {
  held = undefined;
  stored((storage) => storage.removeItem(TICKET_KEY));
}
