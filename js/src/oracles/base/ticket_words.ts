/** Tickets that decide what is public in a report, so that nobody can choose it; as in `fldp/oracles/base/ticket_words.py`. */

import { randomWords } from "../../randomness/random.js";
import { sha256, utf8 } from "../../support/canonical_json.js";
import { fail } from "../../support/errors.js";
import type { Fields, Oracle, Report, Value } from "./oracle.js";

/** Return the first public words of a ticket for a version of a survey, as bytes. */
export async function publicWords(ticket: string, version: string, count: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(8 * count);
  for (let at = 0; at < bytes.length; at += 32) {
    const block = await sha256(utf8(`fldp public words 1\0${ticket}\0${version}\0${at / 32}`));
    bytes.set(block.subarray(0, bytes.length - at), at);
  }
  return bytes;
}

/** What surveys of oracles whose reports can be derived from tickets may ask for. */
export const DERIVES: Fields = { derive: true };

/** Draw a report whose first `count` words, which decide its public part, are those of a ticket for a version. */
export async function drawDerived(
  oracle: Oracle,
  count: number,
  value: Value,
  version: string,
  ticket?: string,
): Promise<Report> {
  if (!ticket) throw fail(oracle.name, "a ticket", "given", ticket);
  const words = randomWords(oracle.words);
  new Uint8Array(words.buffer).set(await publicWords(ticket, version, count));
  return oracle.draw(value, words);
}
