/**
 * What answers give away together, and how much of that their owner allows.
 *
 * An epsilon counts as the decimal number that its survey writes: ten times 0.1 is 1. Sums are exact.
 */
import { LIMITS } from "../support/constants.js";
import { fail } from "../support/errors.js";

/** What independent answers give away together: `epsilon` is the exact sum, as decimal text. */
export interface Spent {
  readonly epsilon: string;
  readonly eta: number;
  readonly answers: number;
  /** The part of it that was charged by the month. The limits renew; what was given away stays given away. */
  readonly renewing?: Renewing;
}

/** What was charged by the month: its epsilon, in how many months, and in this one. */
export interface Renewing {
  readonly epsilon: string;
  readonly months: number;
  readonly thisMonth: string;
}

/** How much answers may give away together. */
export interface Limit {
  readonly maxEpsilon: number;
  readonly minEta: number;
  /** 100 unless it is given: it bounds what a server can make a device store. */
  readonly maxAnswers?: number;
}

/** Limits that are all there. */
export interface FullLimits {
  /** On one topic of one origin. */
  readonly topic: Limit;
  /** On all topics of one origin: a server can rename its topic. */
  readonly origin: Limit;
  /** On everybody together: one party can have many origins. */
  readonly total: Limit;
  /**
   * On one origin in each month, for surveys that are repeated weekly or monthly. Without it these are charged to the
   * limits above, which last. No survey can ask for it.
   */
  readonly month?: Limit;
  /** On everybody together in each month, where `month` is given. */
  readonly monthTotal: Limit;
  /** On one origin in any twelve months, where `month` is given. */
  readonly year: Limit;
  /** The least number of values that a report may leave possible. */
  readonly minAnonymity: number;
  /** A survey of fewer labels is shown to the person first. */
  readonly minLabels: number;
}

/** The person's limits; those that are not given are the defaults. */
export type Limits = Partial<FullLimits>;

/** Check a person's limits and add the defaults: each covers two of the one before. */
export function fullLimits(own: Limits = {}): FullLimits {
  const limits: FullLimits = { ...LIMITS, ...own };
  const { topic, origin, total, month, monthTotal, year, minAnonymity, minLabels } = limits;
  const renewing = [monthTotal, year, month ?? year];
  if (renewing.some(({ minEta }) => minEta !== 1)) throw fail("participant", "month", "limits with minEta 1", own);
  for (const { maxEpsilon, minEta, maxAnswers = 1 } of [topic, origin, total, ...renewing]) {
    const good =
      [maxEpsilon, minEta, maxAnswers, minAnonymity, minLabels].every(Number.isFinite) &&
      maxEpsilon > 0 &&
      minEta >= 0 &&
      minEta <= 1 &&
      Math.min(maxAnswers, minAnonymity, minLabels) >= 1;
    if (!good) throw fail("participant", "limits", "positive, minEta at most 1", own);
  }
  return limits;
}

type Cost = Pick<Spent, "eta"> & { readonly epsilon: number };

/** Return a number as it is written, in units of `10^-PLACES`. */
function unitsOf(number: number | string): bigint {
  const [digits, exponent = 0] = String(number).split("e");
  const [whole, part = ""] = digits.split(".");
  return BigInt(whole + part) * 10n ** BigInt(PLACES + Number(exponent) - part.length);
}

const PLACES = 400; // no double is written with more

/** Write units as a decimal number. */
function written(units: bigint): string {
  const text = String(units).padStart(PLACES + 1, "0");
  return `${text.slice(0, -PLACES)}.${text.slice(-PLACES)}`.replace(/\.?0+$/, "");
}

/** Write an eta: a power of two as a fraction, any other as a decimal number. */
export function shareText(eta: number): string {
  return eta < 1 && Math.log2(eta) % 1 === 0 ? `1/${1 / eta}` : String(eta);
}

/** Compose costs: epsilons add up, etas multiply. */
export function together(costs: readonly Cost[]): Spent {
  const one = unitsOf(1);
  let [epsilon, eta] = [0n, one];
  for (const cost of costs) [epsilon, eta] = [epsilon + unitsOf(cost.epsilon), (eta * unitsOf(cost.eta)) / one];
  return { epsilon: written(epsilon), eta: Number(written(eta)), answers: costs.length };
}

/** Say which parts of a limit do not cover what would be spent; nothing if all do. */
export function breaches({ maxEpsilon, minEta, maxAnswers = 100 }: Limit, costs: readonly Cost[]): string[] {
  const { epsilon, eta, answers } = together(costs);
  const breaches = [];
  if (unitsOf(epsilon) > unitsOf(maxEpsilon)) {
    breaches.push(`an epsilon of at most ${maxEpsilon} together, got ${epsilon}`);
  }
  if (eta < minEta) breaches.push(`an eta of at least ${shareText(minEta)} together, got ${shareText(eta)}`);
  if (answers > maxAnswers) breaches.push(`a number of at most ${maxAnswers}, got ${answers}`);
  return breaches;
}
