/** Binary HTTP (RFC 9292), messages of known length: requests that are written, padded, and replies that are read. */

import { ParameterError, WireError } from "../bundle_shared.js";
import type { Bytes } from "../support/canonical_json.js";
import { MESSAGE_SIZES } from "../support/constants.js";
import { joined } from "./hpke.js";

/** The final reply to a request. */
export interface BinaryReply {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly content: Bytes;
}

/** Return a variable-length integer of QUIC: no length here needs more than four bytes. */
const integer = (value: number): number[] =>
  value < 64
    ? [value]
    : value < 16_384
      ? [64 | (value >> 8), value & 255]
      : [128, ...[16, 8, 0].map((bits) => (value >> bits) & 255)];

/** Put its length before something. */
function vector(part: string | ArrayLike<number>): Bytes {
  const bytes = joined(part);
  return joined(integer(bytes.length), bytes);
}

/** Return a request as bytes, filled up with zeros to the next size: one that is too large is refused. */
export function requestOf(method: string, path: string, headers: readonly string[][], content: Bytes): Bytes {
  const lines = joined(...headers.flat().map(vector));
  const message = joined([0], ...[method, "https", "", path, lines, content, ""].map(vector));
  const size = MESSAGE_SIZES.find((each) => message.length <= each);
  if (!size) throw new ParameterError(`relay: a message of ${message.length} bytes is too large; send it without one`);
  const padded = new Uint8Array(size);
  padded.set(message);
  return padded;
}

const malformed = (): WireError => new WireError("relay: the reply is malformed");

/** Reads forward; what is cut off is refused, before anything is made of a length that is merely claimed. */
class Reader {
  rest: Bytes;

  constructor(data: Bytes) {
    this.rest = data;
  }

  take(size: number): Bytes {
    if (size > this.rest.length) throw malformed();
    const taken = this.rest.slice(0, size);
    this.rest = this.rest.subarray(size);
    return taken;
  }

  integer(): number {
    const [first] = this.take(1);
    return this.take((1 << (first >> 6)) - 1).reduce((value, byte) => value * 256 + byte, first & 63);
  }

  /** Read a part with its length; from the headers on, a message may end before any of them. */
  part(): Bytes {
    return this.take(this.rest.length && this.integer());
  }

  /** Read one section of header or trailer lines. */
  fields(): [string, string][] {
    const lines = new Reader(this.part());
    const pairs: [string, string][] = [];
    const text = (): string => Array.from(lines.take(lines.integer()), (code) => String.fromCharCode(code)).join("");
    while (lines.rest.length) pairs.push([text(), text()]);
    return pairs;
  }
}

/** Read the final reply; informational ones before it are skipped. Padding must be zero. */
export function replyOf(data: Bytes): BinaryReply {
  const reader = new Reader(data);
  const framing = reader.integer();
  let status = reader.integer();
  for (; status >= 100 && status < 200; status = reader.integer()) reader.fields();
  const [headers, content] = [reader.fields(), reader.part()];
  reader.fields();
  if (framing !== 1 || status < 200 || status > 599 || reader.rest.some(Boolean)) throw malformed();
  return { status, headers, content };
}
