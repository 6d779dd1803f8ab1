/** WebCrypto: the source of all randomness and of all hashes. */
import { FldpError } from "./errors.js";

/** Return WebCrypto, all of which browsers offer to safe pages only; there is nothing to fall back to. */
export function webCrypto(): Crypto {
  const source = globalThis.crypto as Partial<Crypto> | undefined;
  if (source?.subtle && source.getRandomValues) return source as Crypto;
  throw new FldpError("fldp: WebCrypto needs https");
}
