/** Sampled: public chance chooses a view of a record of several answers, and the report is about that view. */

import { pack, unpack } from "../data/packing.js";
import { randomWords } from "../randomness/random.js";
import {
  MAX_COMBINATIONS,
  MAX_QUESTIONS,
  MAX_VALUES,
  MAX_VIEW_VALUES,
  MAX_VIEWS,
  MAX_WEIGHT,
} from "../support/constants.js";
import { FldpError, fail } from "../support/errors.js";
import {
  type Answers,
  type AskedQuestion,
  type AskingSurvey,
  bitLength,
  type Fields,
  type Keep,
  Oracle,
  type OracleClass,
  positive,
  type Report,
  type Rule,
  type Value,
  wordOf,
} from "./base/oracle.js";
import { DERIVES, drawDerived, publicWords } from "./base/ticket_words.js";
import { FWR, HRR } from "./flexible/fwr.js";
import { GRR } from "./plain/grr.js";
import { PGR } from "./plain/pgr.js";
import { evenSize, SS } from "./plain/subset_selection.js";
import { byteWidths, OUE } from "./plain/unary.js";
import { Wave } from "./plain/wave.js";
import { digitsOf, questionsOf } from "./questions.js";

type Entry = readonly (number | string)[];

const BASES: readonly OracleClass[] = [SS, GRR, OUE, PGR, HRR, FWR];
const NO_WEIGHTS: readonly number[] = [];

const isWhole = (low: number, high: number) => (value: unknown) =>
  Number.isInteger(value) && low <= (value as number) && (value as number) <= high;
const isList = (value: unknown, most: number, check: (part: unknown) => boolean): boolean =>
  Array.isArray(value) && value.length <= most && value.every(check);
const total = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);
const product = (numbers: readonly number[]): bigint => numbers.reduce((all, one) => all * BigInt(one), 1n);
const range = (count: number): number[] => Array.from({ length: count }, (_, k) => k);

const rules: Readonly<Record<string, Rule>> = {
  epsilon: positive,
  answers: {
    rule: `1 to ${MAX_QUESTIONS} numbers of answers, at most 2^62 combinations`,
    check: (value) =>
      isList(value, MAX_QUESTIONS, isWhole(2, 2 ** 31 - 1)) &&
      (value as number[]).length > 0 &&
      product(value as number[]) < MAX_COMBINATIONS,
  },
  views: {
    rule: `1, 2, or a list of 1 to ${MAX_VIEWS} views`,
    check: (value) =>
      value === 1 || value === 2 || (isList(value, MAX_VIEWS, Array.isArray) && (value as []).length > 0),
  },
  weights: {
    rule: "whole numbers above 0, at most 2^32 together",
    initial: NO_WEIGHTS,
    check: (value) => isList(value, MAX_VIEWS, isWhole(1, MAX_WEIGHT)) && total(value as number[]) <= MAX_WEIGHT,
  },
  base: {
    rule: `one of ${BASES.map(({ id }) => id)}`,
    initial: "ss",
    check: (value) => BASES.some(({ id }) => id === value),
  },
  eta: { rule: "1, or with base fwr 1/2, 1/4, ...", initial: 1, check: (value) => typeof value === "number" },
};

/** A view: its entry, its questions, the number of its values, and the value of a record in it. */
interface View {
  readonly entry: Entry;
  readonly questions: readonly number[];
  readonly size: number;
  readonly tellsAll: boolean;
  /** Of a wave over the answers, which stands in place of the base. */
  readonly width?: number;
  valueIn(digits: readonly number[]): number;
}

/** A view with its oracle, and the widths of its reports. */
interface Member extends View {
  readonly oracle: Oracle;
  readonly widths: readonly number[];
}

function block(name: string, entry: Entry, answers: readonly number[]): View {
  const questions = entry as readonly number[];
  const rising = questions.every((a, k) => isWhole(0, answers.length - 1)(a) && (k === 0 || a > questions[k - 1]));
  const size = rising ? Number(product(questions.map((a) => answers[a]))) : 0;
  if (!entry.length || !rising) throw fail(name, "views", "lists of questions, rising", entry);
  const valueIn = (digits: readonly number[]) => questions.reduce((value, a) => value * answers[a] + digits[a], 0);
  return { entry, questions, size, tellsAll: true, valueIn };
}

function cells(name: string, entry: Entry, answers: readonly number[]): View {
  const [, question, joined] = entry as [string, number, number];
  const size = answers[question];
  const good = entry.length === 3 && isWhole(0, answers.length - 1)(question) && isWhole(2, size - 1)(joined);
  if (!good || size % joined) throw fail(name, "views", "of cells that divide the answers", entry);
  const valueIn = (digits: readonly number[]) => Math.floor(digits[question] / joined);
  return { entry, questions: [question], size: size / joined, tellsAll: false, valueIn };
}

function wave(name: string, entry: Entry, answers: readonly number[]): View {
  const [, question, width] = entry as [string, number, number];
  const good = entry.length === 3 && isWhole(0, answers.length - 1)(question) && Number.isInteger(width);
  if (!good) throw fail(name, "views", "[wave, question, width]", entry);
  const valueIn = (digits: readonly number[]) => digits[question];
  return { entry, questions: [question], size: answers[question], tellsAll: false, width, valueIn };
}

/** The kinds of views that are not blocks, by their names. */
export const kinds: Record<string, (name: string, entry: Entry, answers: readonly number[]) => View> = { cells, wave };

function blocks(together: number, count: number): number[][] {
  return together === 1
    ? range(count).map((a) => [a])
    : range(count).flatMap((a) =>
        range(count)
          .slice(a + 1)
          .map((b) => [a, b]),
      );
}

/** Return the views of a description; 1 and 2 are all single questions and all pairs. */
function readViews(name: string, views: number | readonly Entry[], answers: readonly number[]): View[] {
  const entries: readonly Entry[] = typeof views === "number" ? blocks(views, answers.length) : views;
  const checked = entries.map((entry) => {
    if (typeof entry[0] !== "string") return block(name, entry, answers);
    if (!Object.hasOwn(kinds, entry[0])) throw fail(name, "views", `blocks, or ${Object.keys(kinds)}`, entry);
    return kinds[entry[0]](name, entry, answers);
  });
  const told = new Set(checked.filter(({ tellsAll }) => tellsAll).flatMap(({ questions }) => questions));
  const different = new Set(checked.map(({ entry }) => JSON.stringify(entry))).size;
  const good =
    checked.length > 0 && checked.length <= MAX_VIEWS && different === checked.length && told.size === answers.length;
  if (!good || checked.some(({ size }) => size > MAX_VIEW_VALUES)) {
    throw fail(name, "views", `different, about every question, of at most ${MAX_VIEW_VALUES} values`, entries.length);
  }
  return checked;
}

/**
 * Several answers in one report: chance that everybody may know chooses which of them the report is about.
 *
 * A value is a record: the answers as digits of one number, the first question's the most significant.
 */
export class Sampled extends Oracle {
  static override readonly id = "sampled";
  static override readonly rules = rules;
  static readonly several = questionsOf;
  declare readonly words: number;
  declare readonly widths: readonly number[];
  /** The views, each with its oracle. */
  readonly members: readonly Member[];
  readonly #ends: readonly bigint[];

  constructor(fields: Fields) {
    super(fields);
    const { answers } = this;
    const views = readViews(this.name, this.settings.views as number | readonly Entry[], answers);
    this.#settle(views);
    const bits = bitLength(views.length - 1);
    const oracles = new Map<string, Oracle>();
    this.members = views.map((view) => {
      const key = `${view.size} ${view.width}`;
      const oracle = oracles.get(key) ?? this.#oracle(view);
      oracles.set(key, oracle);
      return { ...view, oracle, widths: [bits, ...oracle.widths] };
    });
    let sum = 0n;
    const weights = this.settings.weights as readonly number[];
    this.#ends = views.map((_, k) => (sum += BigInt(weights[k] ?? 1)));
    this.words = 1 + Math.max(...this.members.map(({ oracle }) => oracle.words));
    this.widths = byteWidths(Math.max(...this.members.map(({ widths }) => total(widths))));
    const whole = product(answers);
    const left = this.members.map(({ size, oracle }) => Number((whole / BigInt(size)) * BigInt(oracle.anonymity)));
    this.anonymity = Math.min(...left);
    this.eta = this.settings.eta as number;
  }

  override get collects(): Fields {
    return this.eta === 1 ? DERIVES : {};
  }

  override derive(value: Value, version: string, ticket?: string): Promise<Report> {
    return drawDerived(this, 1 + this.#publicWords, value, version, ticket);
  }

  /** The number of answers to a single question; records of several are too many to be listed. */
  override get domainSize(): number {
    return this.answers.length === 1 ? this.answers[0] : super.domainSize;
  }

  /** How many answers each question has. */
  get answers(): readonly number[] {
    return this.settings.answers as readonly number[];
  }

  get #publicWords(): number {
    const { base } = this.settings;
    const isMasked = (base === "hrr" || base === "fwr") && this.members.every(({ width }) => width === undefined);
    return isMasked ? this.members[0].oracle.words - 1 : 0;
  }

  /** Check parameters against each other, and give each oracle one description only. */
  #settle(views: readonly View[]): void {
    const { settings, answers, name } = this;
    const weights = settings.weights as readonly number[];
    if (weights.length && weights.length !== views.length)
      throw fail(name, "weights", `${views.length} numbers`, weights);
    if (new Set(weights).size <= 1) settings.weights = NO_WEIGHTS;
    const entries = views.map(({ entry }) => entry);
    const same = [1, 2].find(
      (together) => JSON.stringify(blocks(together, answers.length)) === JSON.stringify(entries),
    );
    settings.views = same ?? entries;
    if (settings.eta !== 1 && settings.base !== "fwr") throw fail(name, "eta", "1 but with base fwr", settings.eta);
  }

  #oracle({ size: domain_size, width }: View): Oracle {
    const { epsilon, settings } = this;
    if (width !== undefined && settings.eta !== 1) throw fail(this.name, "eta", "1 with a wave", settings.eta);
    if (width !== undefined) return new Wave({ epsilon, domain_size, width });
    const Base = BASES.find(({ id }) => id === settings.base) as OracleClass;
    const more = Base === FWR ? { eta: settings.eta } : Base === SS ? { set_size: evenSize(epsilon, domain_size) } : {};
    return new Base({ epsilon, domain_size, ...more });
  }

  /** The parameters as a survey pins them: always with base, views and weights. */
  override get pinned(): Fields {
    const { epsilon, base, eta } = this.settings;
    const weights = this.settings.weights as readonly number[];
    const all = { views: this.members.map(({ entry }) => entry), weights: this.members.map((_, k) => weights[k] ?? 1) };
    return { name: this.name, epsilon, base, ...(eta === 1 ? {} : { eta }), ...all };
  }

  /** Return the record of an answer to each question; -1 if one of them is none. */
  record(digits: readonly number[]): bigint {
    const good =
      digits.length === this.answers.length && digits.every((digit, a) => isWhole(0, this.answers[a] - 1)(digit));
    return good ? digits.reduce((record, digit, a) => record * BigInt(this.answers[a]) + BigInt(digit), 0n) : -1n;
  }

  override answered(questions: readonly AskedQuestion[], answers: Answers, first?: bigint): bigint {
    return this.record(digitsOf(questions, answers, this.about(first)));
  }

  override about(first?: bigint): readonly number[] {
    return first === undefined ? range(this.answers.length) : this.members[this.#drawn(first)].questions;
  }

  override async choose(
    { asksLess, collect, origin, version }: AskingSurvey,
    ticket: string | undefined,
    keep: Keep,
  ): Promise<bigint | undefined> {
    if (!asksLess) return undefined;
    if (collect.derive) {
      if (!ticket) throw fail(this.name, "a ticket", "given", ticket);
      return wordOf(new DataView((await publicWords(ticket, version, 1)).buffer), 0);
    }
    const word = await keep((chances = []) => {
      const known = chances.find((one) => one.origin === origin && one.version === version)?.word;
      const drawn = known ?? wordOf(randomWords(1), 0).toString(16).padStart(16, "0");
      return [known === undefined ? { chances: [...chances, { origin, version, word: drawn }] } : null, drawn];
    });
    if (word.length !== 16 || /[^0-9a-f]/.test(word))
      throw new FldpError("participant: the ledger is damaged; restore a copy");
    return BigInt(`0x${word}`);
  }

  override begun(first?: bigint): DataView | undefined {
    if (first === undefined) return undefined;
    const words = randomWords(this.words);
    words.setBigUint64(0, first, true);
    return words;
  }

  /** Return the number of the view that a word draws, by multiply-high. */
  #drawn(word: bigint): number {
    const place = (word * this.#ends[this.#ends.length - 1]) >> 64n;
    return this.#ends.findIndex((end) => end > place);
  }

  /** Return the answers of a record. */
  digits(record: Value): number[] {
    let rest = this.holds(record) ? BigInt(record) : 0n; // an error of BigInt would show the answer
    const reversed = [...this.answers].reverse().map((size) => {
      const digit = Number(rest % BigInt(size));
      rest /= BigInt(size);
      return digit;
    });
    return reversed.reverse();
  }

  override holds(value: Value): boolean {
    return (typeof value === "bigint" || Number.isSafeInteger(value)) && value >= 0 && value < product(this.answers);
  }

  /** The view from word 0; then the base's report, as bytes, filled up with zeros. */
  override perturb(value: Value, words: DataView): Report {
    const number = this.#drawn(wordOf(words, 0));
    const { oracle, widths, valueIn } = this.members[number];
    const own = new DataView(words.buffer, words.byteOffset + 8, 8 * oracle.words);
    const packed = pack(widths, [[number, ...oracle.perturb(valueIn(this.digits(value)), own)]]);
    return this.widths.map((_, k) => packed[k] ?? 0);
  }

  override check(report: Report): boolean {
    const parts = this.split(report);
    return !!parts && parts.view.oracle.check(parts.inside);
  }

  override likely(report: Report): (value: Value) => number {
    const { view, inside } = this.split(report) as { view: Member; inside: Report };
    const likely = view.oracle.likely(inside);
    return (value) => likely(view.valueIn(this.digits(value)));
  }

  /** Return the view of a report and the base's report; null if there is none, or it is not filled up with 0. */
  split(report: Report): { view: Member; inside: Report } | null {
    const bytes = Uint8Array.from(report as number[]);
    const tag = (bytes[0] | ((bytes[1] ?? 0) << 8)) & ((1 << bitLength(this.members.length - 1)) - 1);
    const view = this.members[tag];
    const used = view ? Math.ceil(total(view.widths) / 8) : 0;
    const reports = used && used <= MAX_VALUES ? unpack(view.widths, bytes, 1) : null;
    return reports && bytes.subarray(used).every((byte) => !byte) ? { view, inside: reports[0].slice(1) } : null;
  }
}
