// What one report tells anybody who sees it.
import { decode } from "../fldp.js";

/** @import { Bytes, OracleClass, Survey } from "../fldp.js" */

const SUPPOSED = 1000; // strings; their fingerprints are as good as any others

/**
 * What a report tells: for every value whether it is ruled out for certain, how many are left, how probable each is to
 * somebody who knew nothing before, and how often the best guess of such a person is right, before and after.
 *
 * @typedef {{
 *   ruledOut: boolean[],
 *   left: number,
 *   probability: Float64Array,
 *   guess: { before: number, after: number },
 * }} Explanation
 */

/**
 * Return what the report of an answer (`answer.batch`) tells. Strings cannot be listed: of them, what it tells somebody
 * who knows that the answer is one of 1,000.
 *
 * @param {Pick<Survey, "oracle" | "version" | "domain" | "specification">} survey
 * @param {Bytes} bytes
 * @returns {Promise<Explanation>}
 */
export async function explain({ oracle, version, domain, specification }, bytes) {
  const Kind = /** @type {OracleClass} */ (/** @type {unknown} */ (oracle.constructor));
  const { survey, reports } = await decode(bytes, [Kind]);
  if (survey !== version || reports.length !== 1) {
    throw new Error("the batch must be an answer to this version of the survey");
  }
  const isOpen = domain && !specification.search; // values of strings are fingerprints
  const size = isOpen ? SUPPOSED : oracle.domainSize;
  const likelihood = oracle.likely(reports[0]);
  const likely = Float64Array.from(Array(size).keys(), (value) => likelihood(isOpen ? BigInt(value) : value));
  const total = likely.reduce((sum, part) => sum + part, 0);
  return {
    ruledOut: Array.from(likely, (part) => part === 0),
    left: likely.reduce((sum, part) => sum + Number(part > 0), 0),
    probability: likely.map((part) => part / total),
    guess: { before: 1 / size, after: likely.reduce((most, part) => Math.max(most, part), 0) / total },
  };
}
