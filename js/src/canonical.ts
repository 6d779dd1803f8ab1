/** Canonical JSON (RFC 8785): one text for one meaning, so that its hash can be an identifier. */
import { FldpError } from "./errors.js";

/** Return the canonical text of a JSON value: keys in order, no white space. */
export function dumps(thing: unknown): string {
  if (Array.isArray(thing)) return `[${thing.map(dumps)}]`;
  if (typeof thing !== "object" || thing === null) return JSON.stringify(thing);
  const fields = thing as Record<string, unknown>;
  return `{${Object.keys(fields)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${dumps(fields[key])}`)}}`;
}

/** Return the SHA-256 of bytes, from WebCrypto, which browsers offer to safe pages only. */
export async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const source = globalThis.crypto?.subtle;
  if (!source) {
    throw new FldpError("sha256: crypto.subtle is missing here; a browser has it on https pages, and from this machine");
  }
  return new Uint8Array(await source.digest("SHA-256", bytes));
}

/** Return the SHA-256 of the canonical text, as hexadecimal digits. */
export async function identifier(thing: unknown): Promise<string> {
  const digest = await sha256(new TextEncoder().encode(dumps(thing)));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
