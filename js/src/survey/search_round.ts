/** Search: the round of a search for frequent strings that a survey asks, as in `fldp/search/rounds.py`. */

import type { Value } from "../data/reports.js";
import { bitLength, type Fields, integer } from "../oracles/base/oracle.js";
import { type Charge, type Row, related } from "../participant/ledger.js";
import { bytesOf, utf8 } from "../support/canonical_json.js";
import { MAX_STEP } from "../support/constants.js";
import { fail } from "../support/errors.js";

/** A round of a search: how many values it has, what a string is among them, who was asked. */
export interface Round {
  readonly size: number;
  read(text: string): Value;
  /** What is hashed as the set of labels, the same in all rounds. */
  readonly set: unknown;
  /** Say that the person was asked before. */
  before(rows: readonly Row[], row: Charge): string[];
}

const binary = (number: number, width: number): string => number.toString(2).padStart(width, "0");

/**
 * Return the code of a string, a text of 0 and 1 that no other string's code begins: a symbol for each byte of the
 * alphabet, an escape before other bytes, and one for the end; in truncated binary, as in `fldp/search/prefix_code.py`.
 */
function codeOf(alphabet: string, bytes: Uint8Array): string {
  const letters = [...new Set(utf8(alphabet))];
  const last = letters.length + 1;
  const width = bitLength(last);
  const short = (1 << width) - last - 1;
  const symbol = (n: number): string => (n < short ? binary(n, width - 1) : binary(n + short, width));
  const write = (byte: number): string => {
    const place = letters.indexOf(byte) + 1;
    return place ? symbol(place) : symbol(last) + binary(byte, 8);
  };
  return Array.from(bytes, write).join("") + symbol(0);
}

/** Return the round that the specification of a survey asks; give it to `load` if searches are to be answered. */
export function search({ name, search: table, domain }: Fields): Round {
  const { round: _, found: __, step, prefixes, ...same } = Object(table);
  const good = Array.isArray(prefixes) && /^[01,]*$/.test(prefixes.join()) && integer(0, MAX_STEP).check(step);
  if (!good || domain !== "strings") throw fail("survey", "search", "a round, over strings", table);
  const none = prefixes.length << step;
  return {
    size: none + 1,
    set: { search: same },
    /** The value of a string: which prefix it has and the bits after it, or the last value if it has none. */
    read(text) {
      const bytes = bytesOf(text);
      const code = bytes ? codeOf(same.alphabet, bytes) : "";
      // all prefixes are compared: it must take the same time for every string
      const place = prefixes.reduce((last, bits: string, k) => (code.startsWith(bits) ? k : last), -1);
      if (!bytes || place < 0) return bytes ? none : -1;
      const more = code.slice(prefixes[place].length).slice(0, step).padEnd(step, "0");
      return (place << step) | parseInt(more || "0", 2);
    },
    /** A search asks everybody once, in one of its rounds, whatever the limits. */
    before(rows, row) {
      const earlier = rows.find((other) => related(row)(other) && other.labels === row.labels);
      return earlier ? [`search ${name} was answered on ${earlier.day}: one round only`] : [];
    },
  };
}
