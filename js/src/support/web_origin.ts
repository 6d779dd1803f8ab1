/** Origins: whom an answer is given to, as scheme, host and port in one form. */
import { fail } from "./errors.js";

const MAPPED = /^\[::ffff:(\w+):(\w+)\]$/;

/** A collector's address: an origin, and a path where it does not live at the top. */
export interface Address {
  readonly origin: string;
  readonly path: string;
}

/**
 * Read a URL; one with a user, a query or a fragment is refused.
 *
 * `URL` has one form for every spelling of a host but two: a final dot, and an address of IPv4 within one of IPv6.
 */
export function addressOf(url: string): Address {
  try {
    if (/^https?:\/\/[^?#@\\\s]+$/i.test(url)) return read(new URL(url));
  } catch {
    // refused below
  }
  const hidden = String(url).replace(/\/\/.*@/, "//...@"); // a password is not shown
  throw fail("collector", "address", "like https://collector.example", hidden);
}

function read({ protocol, hostname, port, pathname }: URL): Address {
  const mapped =
    MAPPED.exec(hostname)
      ?.slice(1)
      .map((part) => parseInt(part, 16)) ?? [];
  const host = mapped.flatMap((part) => [part >> 8, part & 255]).join(".") || hostname.replace(/\.+$/, "");
  return { origin: `${protocol}//${host}${port && `:${port}`}`, path: pathname.replace(/\/+$/, "") };
}

/** Whether a value is an origin in the one form that browsers send: another would never match. */
export function isOrigin(value: unknown): boolean {
  try {
    return /^https?:\/\/[\w.:[\]-]+(?<!:0)$/.test(String(value)) && addressOf(value as string).origin === value;
  } catch {
    return false;
  }
}

/** Whether nobody can listen on the way: TLS, or this machine. */
export function isPrivate(origin: string): boolean {
  return /^https:|^http:\/\/(localhost|127\.[\d.]+|\[::1\])(:|$)/.test(origin);
}
