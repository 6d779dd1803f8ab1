// What one report tells anybody who sees it.
import { decode } from "../fldp.js";

const SUPPOSED = 1000; // strings; their fingerprints are as good as any others

/**
 * Return what the report of an answer (`answer.batch`) tells: for every value whether it is ruled out for certain, how many
 * are left, how probable each is to somebody who knew nothing before, and how often the best guess of such a person is
 * right, before and after. Strings cannot be listed: of them, to somebody who knows that the answer is one of 1,000.
 */
export async function explain({ oracle, version, domain, specification }, batch) {
  const found = await decode(batch, [oracle.constructor]);
  if (found.survey !== version || found.reports.length !== 1)
    throw new Error("the batch must be an answer to this version of the survey");
  const size = domain && !specification.search ? SUPPOSED : oracle.domainSize;
  const likely = Float64Array.from(Array(size).keys(), oracle.likely(found.reports[0]));
  const total = likely.reduce((sum, part) => sum + part, 0);
  return {
    ruledOut: Array.from(likely, (part) => part === 0),
    left: likely.reduce((sum, part) => sum + Number(part > 0), 0),
    probability: likely.map((part) => part / total),
    guess: { before: 1 / size, after: likely.reduce((most, part) => Math.max(most, part), 0) / total },
  };
}
