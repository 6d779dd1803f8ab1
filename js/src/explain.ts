/** Explain: what a survey's reports give away, in the words of `fldp card`, and what one report tells. */
import { shareText } from "./amounts.js";
import type { Bytes } from "./canonical.js";
import { WireError } from "./errors.js";
import type { Oracle, OracleClass } from "./oracle.js";
import { decode } from "./reading.js";
import type { Survey } from "./survey.js";

const SCALES = [
  [1e12, " trillion"],
  [1e9, " billion"],
  [1e6, " million"],
  [0, ""],
] as const;

/** Write a number as people do, with so many digits that matter; halves go to the even neighbour, or all up. */
export function numberText(amount: number, digits = 3, up = false): string {
  const power = 10 ** (digits - 1 - Math.floor(Math.log10(amount)));
  const scaled = amount * power;
  const below = Math.floor(scaled);
  const more = up ? scaled > below : scaled - below > 0.5 || (scaled - below === 0.5 && below % 2 === 1);
  const rounded = (below + Number(more)) / power;
  const [scale, name] = SCALES.find(([least]) => rounded >= least) as (typeof SCALES)[number];
  return (rounded / (scale || 1)).toLocaleString("en-US", { maximumSignificantDigits: 15 }) + name;
}

/** Write `e^epsilon` rounded up, since it is a bound; near 1, with the digits that tell it from 1. */
function ratioText(epsilon: number): string {
  if (epsilon >= 0.5) return numberText(Math.exp(epsilon), 3, true);
  return `1${numberText(Math.expm1(epsilon), epsilon >= 0.1 ? 3 : 2, true).slice(1)}`;
}

const count = (number: number): string => number.toLocaleString("en-US");

/** What any report of an oracle gives away; the sentences are those of the card. */
export interface Card {
  readonly epsilon: number;
  readonly eta: number;
  /** The number of answers. */
  readonly size: number;
  /** How many of them a report leaves possible: in the mean, if all are equally frequent. */
  readonly meanLeft: number;
  /** How many it leaves at least. */
  readonly leastLeft: number;
  /** What a report says for certain. */
  readonly certain: readonly string[];
  /** What the two numbers mean, and what is promised. */
  readonly numbers: readonly string[];
}

/** Return how many values a report leaves possible in the mean, if all values are equally frequent. */
function meanLeftOf({ eta, domainSize, description }: Oracle): number {
  if (eta > 0) return 1 + (domainSize - 1) * eta;
  return (description.groups as number[]).reduce((sum, size) => sum + size * size, 0) / domainSize;
}

function leftText(mean: number, least: number): string {
  const text = mean >= 100 ? numberText(mean, Math.floor(Math.log10(mean)) + 1) : numberText(mean);
  if (mean === 1) return "only yours possible";
  if (text === count(least)) return mean === least ? `${text} possible` : `at least ${text} possible`;
  return `${text} possible on average, and ${least > 1 ? `at least ${count(least)}` : "sometimes only yours"}`;
}

function certainText(size: number, eta: number, mean: number, least: number): string[] {
  if (least === size)
    return [`Nothing. ${size === 2 ? "Both" : `Each of the ${count(size)}`} answers could have given your report.`];
  const said = eta
    ? "That some answers are not yours, whatever epsilon is."
    : "In which group your answer is. This is weak: answers in different groups are not protected at all.";
  return [said, `Of ${count(size)} answers it leaves ${leftText(mean, least)}.`];
}

function etaText(eta: number): string {
  if (eta === 1) return "Any two answers can give all the same reports. This is plain local differential privacy.";
  if (eta === 0)
    return "Some answers have no report in common. This is weak, and much weaker than local differential privacy.";
  return (
    `Any two answers have ${shareText(eta)} of their reports in common; the others tell them apart for certain. ` +
    "1 would be plain local differential privacy; this is weaker."
  );
}

function promiseText({ eta, epsilon, description }: Oracle): string {
  const text = numberText(epsilon, 6);
  if (eta === 1) return `${text}-LDP`;
  if (eta > 0) return `(${text}, ${shareText(eta)})-FLDP`;
  return `${text}-LDP inside ${(description.groups as number[]).length} groups, nothing between them (weak)`;
}

/** Return what any report of a survey's oracle gives away. */
export function card(oracle: Oracle): Card {
  const { epsilon, eta, domainSize: size, anonymity: leastLeft } = oracle;
  const meanLeft = meanLeftOf(oracle);
  const among = leastLeft < size ? "Among the answers that it does not rule out, a" : "A";
  const ratio = `report is at most ${ratioText(epsilon)} times as likely for one answer as for another.`;
  return {
    epsilon,
    eta,
    size,
    meanLeft,
    leastLeft,
    certain: certainText(size, eta, meanLeft, leastLeft),
    numbers: [
      `epsilon ${numberText(epsilon, 6)}. ${among} ${ratio}`,
      `eta ${shareText(eta)}. ${etaText(eta)}`,
      `Promised: ${promiseText(oracle)}.`,
    ],
  };
}

/** What one report tells anybody who sees it. */
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
export async function explain({ oracle, version }: Survey, batch: Bytes): Promise<Explanation> {
  const found = await decode(batch, [oracle.constructor as unknown as OracleClass]);
  if (found.survey !== version || found.reports.length !== 1) {
    throw new WireError("explain: the batch must be an answer to this version of the survey");
  }
  const likely = oracle.likelihoods(found.reports[0]);
  const total = likely.reduce((sum, part) => sum + part, 0);
  const probability = likely.map((part) => part / total);
  return {
    ruledOut: Array.from(likely, (part) => part === 0),
    left: likely.reduce((sum, part) => sum + Number(part > 0), 0),
    probability,
    guess: { before: 1 / oracle.domainSize, after: probability.reduce((most, part) => Math.max(most, part), 0) },
  };
}
