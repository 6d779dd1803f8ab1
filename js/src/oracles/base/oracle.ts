/** Oracle: parameters and nothing else. It turns a value and random words into a report, and says what a report reveals. */

import type { Report, Value } from "../../data/reports.js";
import { randomWords } from "../../randomness/random.js";
import { MAX_LISTED, MAX_POWER, MAX_VALUES } from "../../support/constants.js";
import { fail } from "../../support/errors.js";

export type { Report, Value };

/** Returns how likely a report is under a value. Declared as a method, so that an oracle may take one kind of values. */
export type Likely = { of(value: Value): number }["of"];

/** Parameters as JSON. */
export type Fields = Readonly<Record<string, unknown>>;

/** The rule for a parameter, and its default. */
export interface Rule {
  readonly rule: string;
  readonly initial?: unknown;
  readonly check: (value: unknown) => boolean;
}

/** A person's answers, by the names of the questions: a label, a number, or nothing where a question is optional. */
export type Answers = Readonly<Record<string, unknown>>;

/** One question of several. The last answer of an optional one is "no answer". */
export interface AskedQuestion {
  readonly name: string;
  readonly question: string;
  readonly labels: readonly string[] | null;
  /** The number of answers, including no answer. */
  readonly size: number;
  readonly optional: boolean;
  /** The table of the survey, with everything that follows from defaults. */
  readonly fields: Fields;
  /** Where a number is asked for: its cells. */
  readonly scale?: Cells;
}

/** The random word that chooses which questions of a survey are asked. It is drawn before any answer. */
export interface Chance {
  readonly origin: string;
  readonly version: string;
  /** 16 hexadecimal digits. */
  readonly word: string;
}

/** Changes the stored chances, given those so far; null changes nothing. */
export type Keep = <T>(step: (chances?: readonly Chance[]) => [{ chances: readonly Chance[] } | null, T]) => Promise<T>;

/** The part of a survey that decides how its questions are asked. */
export interface AskingSurvey {
  readonly origin: string;
  readonly version: string;
  readonly asksLess: boolean;
  readonly collect: { readonly derive?: true };
}

/** The cells of a number. */
export interface Cells {
  readonly size: number;
  /** The table of the survey, with everything that follows from defaults. */
  readonly table: Fields;
  read(text: string): Value;
  label(cell: number): string;
}

/** The checks of a survey's tables, texts and values. */
export interface Checks {
  readonly table: (fields: unknown, name: string, keys: readonly string[]) => Fields;
  readonly isText: (value: unknown, most: number) => boolean;
  readonly sizeOf: (fields: Fields) => unknown;
  /** Makes the cells of a number, where numbers are to be answered. */
  readonly number?: (fields: Fields) => Cells;
}

/** A class of oracles. */
export interface OracleClass {
  readonly id: string;
  readonly rules: Readonly<Record<string, Rule>>;
  /** Check several questions of a survey, and return them: where the oracle asks several. */
  readonly several?: (fields: Fields, checks: Checks) => AskedQuestion[];
  new (fields: Fields): Oracle;
}

/** Accept a finite number above zero. */
export const positive: Rule = {
  rule: "a positive number",
  check: (value) => typeof value === "number" && value > 0 && value < Infinity,
};

/** Accept true or false. */
export const flag: Rule = { rule: "true or false", initial: false, check: (value) => typeof value === "boolean" };

/** Accept an integer of a range. */
export function integer(low: number, high: number, initial?: unknown): Rule {
  const check = (value: unknown) => Number.isInteger(value) && low <= (value as number) && (value as number) <= high;
  return { rule: low < high ? `an integer from ${low} to ${high}` : `${low}`, initial, check };
}

/** Accept 1, 2, 4, ... of a range. */
export function powerOfTwo(low: number, initial: number): Rule {
  const { check } = integer(low, MAX_POWER);
  const good = (value: unknown) => check(value) && !((value as number) & ((value as number) - 1));
  return { rule: `a power of two from ${low} to ${MAX_POWER}`, initial, check: good };
}

/** A frequency oracle, as a client needs it. */
export abstract class Oracle {
  declare static readonly id: string;
  static readonly rules: Readonly<Record<string, Rule>> = { epsilon: positive, domain_size: integer(2, MAX_VALUES) };

  /** The identifier on the wire. */
  declare readonly name: string;
  /** The least share of one value's reports that any other value can also produce; 1 is ordinary LDP. */
  eta = 1;
  /** The least number of values that a single report leaves possible. */
  declare anonymity: number;
  /** The parameters, those at their default too. */
  readonly settings: Record<string, unknown> = {};

  constructor(fields: Fields) {
    const { id, rules } = new.target as unknown as OracleClass;
    this.name = id;
    const odd = Object.keys(fields).find((key) => fields[key] !== undefined && !Object.hasOwn(rules, key));
    if (odd !== undefined) throw fail(this.name, "a parameter", `one of ${Object.keys(rules)}`, odd);
    for (const [key, { rule, check, initial }] of Object.entries(rules)) {
      const { [key]: value = initial } = fields;
      if (!check(value)) throw fail(this.name, key, rule, value);
      this.settings[key] = value;
    }
    this.anonymity = this.domainSize;
  }

  /** The bound on the privacy loss of a report. */
  get epsilon(): number {
    return this.settings.epsilon as number;
  }

  /** The number of values; where they are strings, more than any list can have. */
  get domainSize(): number {
    return (this.settings.domain_size as number) ?? MAX_LISTED;
  }

  /** If a stored first stage is reported repeatedly: the epsilon of all its reports together. */
  declare readonly lastingEpsilon?: number;

  /** Whether the stored first stage depends on no value, and reports follow a value that changes. */
  readonly follows: boolean = false;

  /** If it follows: how likely a change of the value shows at all, which no epsilon covers. */
  declare readonly changeVisible?: number;

  /** Draw the first stage of a value, to be stored and never sent; only if reports of a value may differ. */
  keep?(value: Value): Report;

  /** Draw a report from the stored first stage; if the oracle `follows`, of the current value. */
  respond?(kept: Report, value: Value): Report;

  /**
   * Where values are records of several answers: the record of a person's answers to these questions. Only those that
   * are asked need an answer: all of them, unless the first word of the report is known.
   */
  answered?(questions: readonly AskedQuestion[], answers: Answers, first?: bigint): Value;

  /** Where values are records: the places of the questions that are asked, given the first word of the report if it is known. */
  about?(first?: bigint): readonly number[];

  /**
   * Where a survey asks only the questions that the report is about: return the first word of the report, from the
   * ticket or as it is kept. It is drawn once, and kept before it is returned.
   */
  choose?(survey: AskingSurvey, ticket: string | undefined, keep: Keep): Promise<bigint | undefined>;

  /** Return random words that begin with this one, where it is known. */
  begun?(first?: bigint): DataView | undefined;

  /** Where values are records: the parameters as a survey pins them, none left out. */
  get pinned(): Fields | undefined {
    return undefined;
  }

  /** The number of random words that a report takes, always. */
  abstract readonly words: number;

  /** Rules of collecting that only this oracle can keep, with the values they must have. */
  get collects(): Fields {
    return {};
  }

  /** Draw a report whose public part a ticket decides for a version; only where `collects` allows it. */
  derive?(value: Value, version: string, ticket?: string): Promise<Report>;

  /** The number of bits that each number of a report takes on the wire. */
  abstract readonly widths: readonly number[];

  /** Return the report of a value: a pure function of it and of the words. `draw` takes random ones. */
  abstract perturb(value: Value, words: DataView): Report;

  /** Whether this oracle can produce a report, whose numbers have the right widths already. */
  check(_report: Report): boolean {
    return true;
  }

  /** Return how likely a report is under a value, up to a factor; exactly 0 where a value cannot produce it. */
  abstract likely(report: Report): Likely;

  /** Return the value that a text stands for; something that is no value if it stands for none. */
  read(text: string): Value | Promise<Value> {
    return String(Number(text)) === text ? Number(text) : -1;
  }

  /** Whether this is a value. */
  holds(value: Value): boolean {
    return integer(0, this.domainSize - 1).check(value);
  }

  /** Name and parameters as JSON; those at their default are left out. */
  get description(): Fields {
    const { rules } = this.constructor as unknown as OracleClass;
    const changed = Object.entries(this.settings).filter(([key, value]) => value !== rules[key].initial);
    return { name: this.name, ...Object.fromEntries(changed) };
  }

  /** The number of bits of a report. */
  get reportBits(): number {
    return this.widths.reduce((sum, width) => sum + width, 0);
  }

  /** Draw a report of a value, with randomness from WebCrypto. */
  draw(value: Value, words = randomWords(this.words)): Report {
    // Only its type is shown: a program that mixes up labels and values would have the answer in its log.
    if (!this.holds(value)) throw fail(this.name, "a value", "one of its domain", typeof value);
    return this.perturb(value, words);
  }
}

/** Refuse a domain where a single report can give a value away, unless that was allowed; drop an idle permission. */
export function settleExposure({ name, anonymity, settings, domainSize }: Oracle): void {
  if (anonymity >= 2) settings.allow_exposure = false;
  else if (!settings.allow_exposure) {
    throw fail(name, "domain_size", "larger, or allow_exposure", domainSize);
  }
}

/** Return a word. */
export function wordOf(words: DataView, position: number): bigint {
  return words.getBigUint64(8 * position, true);
}

/** Return how many bits a number has: the length of it in binary. */
export function bitLength(number: number): number {
  return 32 - Math.clz32(number);
}

/** Return the parity of the set bits of a number below 2^31. */
export function parity(bits: number): number {
  let odd = 0;
  for (let left = bits; left; left &= left - 1) odd ^= 1;
  return odd;
}
