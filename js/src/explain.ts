/** Explain: what one report tells anybody who sees it. */
import type { Bytes } from "./canonical.js";
import { WireError } from "./errors.js";
import { type OracleClass, each } from "./oracle.js";
import { decode } from "./reading.js";
import type { Survey } from "./survey.js";

const SUPPOSED = 1000; // strings; their fingerprints are as good as any others

/** What one report tells anybody who sees it; of strings, which cannot be listed, who knows that it is one of 1,000. */
export interface Explanation {
  /** For every value whether the report rules it out for certain. */
  readonly ruledOut: readonly boolean[];
  /** How many values it leaves possible. */
  readonly left: number;
  /** For every value how probable it is to somebody who knew nothing before and sees the report. */
  readonly probability: Float64Array;
  /** How often the best guess of somebody who knows nothing else is right: before, and with this report. */
  readonly guess: { readonly before: number; readonly after: number };
}

/** Return what the report of an answer (`answer.batch`) tells anybody who sees it. */
export async function explain({ oracle, version, domain }: Survey, batch: Bytes): Promise<Explanation> {
  const found = await decode(batch, [oracle.constructor as unknown as OracleClass]);
  if (found.survey !== version || found.reports.length !== 1) {
    throw new WireError("explain: the batch must be an answer to this version of the survey");
  }
  const likely = each(domain ? SUPPOSED : oracle.domainSize, oracle.likely(found.reports[0]));
  const total = likely.reduce((sum, part) => sum + part, 0);
  const probability = likely.map((part) => part / total);
  return {
    ruledOut: Array.from(likely, (part) => part === 0),
    left: likely.reduce((sum, part) => sum + Number(part > 0), 0),
    probability,
    guess: { before: 1 / likely.length, after: probability.reduce((most, part) => Math.max(most, part), 0) },
  };
}
