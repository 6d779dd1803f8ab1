/**
 * Aggregates: all that is stored about the values of one metric in one period. Never a list of events.
 *
 * An aggregate maps a few keys to numbers: how often each value or bin was seen (`most`, `median`), which one was the last
 * or was seen at all (`last`, `any`), or one number (`max`, `sum`). Aggregates of several tabs or processes merge.
 */
import { type AppMetric, binOf, NO, type Recorded, UNSET, YES } from "./metrics.js";

export type Aggregate = Map<string, number>;

const [COUNTED, NUMERIC] = [
  ["most", "median"],
  ["max", "sum"],
];
const MOST = Number.MAX_VALUE; // JSON has no infinity, and no edge is beyond this

/** Return the aggregate of one recorded value, whose label is known. */
export const aggregateOf = ({ take }: AppMetric, value: Recorded, label: string): Aggregate =>
  new Map([NUMERIC.includes(take) ? ["", Number(value)] : [label, 1]]);

/** Merge a later aggregate into an earlier one. */
export function merge({ take }: AppMetric, held: Aggregate, later: Aggregate): void {
  if (take === "last" && later.size) held.clear();
  for (const [key, amount] of later) {
    const before = held.get(key);
    const merged = [...COUNTED, "sum"].includes(take) ? (before ?? 0) + amount : Math.max(before ?? amount, amount);
    held.set(key, Math.max(-MOST, Math.min(MOST, merged)));
  }
}

/** Return the one label that stands for a period; `unset` if nothing was recorded in it. */
export function outcome(metric: AppMetric, held: Aggregate): string {
  const { take, labels } = metric;
  const number = held.get("");
  if (NUMERIC.includes(take) && number !== undefined) return binOf(metric, number);
  const known = labels.filter((label) => held.has(label));
  const count = (label: string): number => held.get(label) as number;
  if (!known.length) return UNSET;
  if (take === "any") return held.has(YES) ? YES : NO;
  if (take === "most") return known.reduce((most, label) => (count(label) > count(most) ? label : most));
  return take === "last" ? known[0] : median(known, count);
}

/** Return the bin of the lower median; `known` is in the order of the bins. */
function median(known: readonly string[], count: (label: string) => number): string {
  const half = known.reduce((sum, label) => sum + count(label), 0) / 2;
  let seen = 0;
  const isMiddle = (label: string): boolean => {
    seen += count(label);
    return seen >= half;
  };
  return known.find(isMiddle) ?? known[known.length - 1];
}
