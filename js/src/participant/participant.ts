/**
 * Participant: the person's side. Answers once, remembers the answer, repeats it, and keeps to the person's limits.
 *
 * An answer is drawn at random, so a second one to the same question tells more than the first. A participant never
 * draws twice for one version of a survey and one origin, but once in each week or month where the survey is repeated so.
 * What it drew is stored before anybody sees it, so nobody can draw again until it pleases. The true value is never stored.
 *
 * Whether it answers never depends on the answer by a rule that the collector chooses. An answer that a survey lacks is
 * drawn as `otherwise`, or else as a label drawn at random: a refusal would tell the collector the answer.
 */

import type { Answers, AskedQuestion, Report, Value } from "../oracles/base/oracle.js";
import { randomBytes, uniform } from "../randomness/random.js";
import { type Bytes, bytesOf, hex, identifier, unhex } from "../support/canonical_json.js";
import { MAX_EARLIER } from "../support/constants.js";
import { BudgetError, DomainError, fail } from "../support/errors.js";
import type { Survey } from "../survey/survey.js";
import { encode } from "../wire/encode.js";
import { clock, epochOf, firstDay } from "./epochs.js";
import {
  answers,
  type Charge,
  change,
  checkOf,
  concerns,
  countRefusal,
  type Drawn,
  intact,
  isTaken,
  noticesOf,
  type Refusals,
  type Row,
  readLedger,
  refusals,
  spentOn,
} from "./ledger.js";
import { type FullLimits, fullLimits, type Limits, type Spent } from "./limits.js";
import type { Store } from "./store.js";

/** Asks the person whether to go on, given what they must know. */
export type Confirm = (notices: readonly string[]) => boolean | Promise<boolean>;

/** What a participant works with. */
export interface Keeping {
  /** Where answers are kept. */
  readonly store: Store;
  /** The person's own limits; no survey can change them. */
  readonly limits?: Limits;
  /**
   * The labels that the program was written for, never taken from the survey. A survey with others is refused, whatever
   * the answer is, and an answer outside them is a `DomainError`.
   */
  readonly labels?: readonly string[];
  /** The label that stands for an answer that the survey, or `labels`, lack. */
  readonly otherwise?: string;
}

/** What belongs to one answer. */
export interface Sending {
  readonly confirm?: Confirm;
  /** For surveys that take reports with a single-use ticket, or the pass for one (`obtainPass` of `fldp/passes`). An answer belongs to what it was drawn with. */
  readonly ticket?: string;
}

/** An answer that was drawn and stored. */
export interface Answer {
  /** What is sent, byte for byte: one report, of this version of the survey. `explain` says what it tells. */
  readonly batch: Bytes;
  /** The idempotency key that it is sent under. */
  readonly key: string;
  /**
   * `drawn`: kept here; `queued`: to be sent when the collector can be reached; `sent`: acknowledged; `withdrawing`: to
   * be taken back when the collector can be reached; `withdrawn`: taken out of the count.
   */
  readonly state: Row["state"];
  /** Whether it was drawn earlier and cost nothing now. Then the label may have been another one. */
  readonly repeated: boolean;
  /** What the person confirmed. */
  readonly notices: readonly string[];
  /** What all answers on this topic give away to this origin, together. */
  readonly spent: Spent;
}

/** Finds the value that is perturbed for an answer. */
type FindValue = () => Promise<Value>;

/** Say that a survey takes no answers now, so that nothing is spent on one that will not count. */
function closed({ name, state, collect: { opens, closes } }: Survey): string[] {
  const now = `${clock(19)}Z`;
  const open = state === "open" && (!opens || now >= opens) && (!closes || now < closes);
  return open ? [] : [`survey ${name} must be open now, got ${state}`];
}

/** Answers one survey for one person. It draws and keeps; a `Respondent` also sends. */
export class Participant {
  declare readonly survey: Survey;
  declare readonly limits: FullLimits;
  declare protected readonly store: Store;
  readonly #own: ReadonlySet<unknown> | undefined;
  readonly #otherwise: string | undefined;

  constructor(survey: Survey, { store, limits, labels, otherwise }: Keeping) {
    this.survey = survey;
    this.limits = fullLimits(limits);
    this.store = store;
    this.#own = labels && new Set(labels);
    this.#otherwise = otherwise;
    const texts = [labels ?? [], otherwise ?? []].flat();
    if (!texts.every(this.#allows, this)) throw fail("participant", "otherwise", "a text of labels", texts);
  }

  /** Whether the program itself lets a text be an answer. No survey has a part in that. */
  #allows(text: unknown): boolean {
    return bytesOf(text) !== null && (this.#own?.has(text) ?? true);
  }

  /** Return the value that is perturbed for an answer: by the same steps for all of them. */
  async #value(texts: readonly string[]): Promise<Value> {
    const { survey } = this;
    let value: Value = uniform(survey.oracle.domainSize);
    for (const text of texts) {
      const candidate = await survey.find(text);
      value = survey.oracle.holds(candidate) ? candidate : value;
    }
    return value;
  }

  /**
   * Draw the answer to the survey and store it, or find the one that was stored, whatever the label is now. Nothing is
   * sent. Once this is done the answer is spent: it is the one that will ever be given.
   *
   * What the person must know first (few labels, or other labels than last time) is given to `confirm`; if that is not
   * true, or there is nobody to ask, the survey is refused. A refusal is a `BudgetError` and costs nothing.
   */
  async prepare(label: string | Answers, sending: Sending = {}): Promise<Answer> {
    const texts = [this.#otherwise, label].filter(this.#allows, this) as string[];
    const { questions, oracle } = this.survey;
    const first = await this.#chance(sending);
    if (!questions && !texts.length) throw new DomainError("participant: the label must be one of labels (not shown)");
    const find = async (): Promise<Value> =>
      (questions && oracle.answered?.(questions, label as Answers, first)) ?? this.#value(texts);
    try {
      return await this.#answered(find, sending, first);
    } catch (error) {
      if (error instanceof BudgetError || error instanceof DomainError)
        await countRefusal(this.store, this.survey.origin);
      throw error;
    }
  }

  /** Whether all reports are made of what is kept of the first answer. */
  get #keeps(): boolean {
    return !!this.survey.collect.repeat && !!this.survey.oracle.keep;
  }

  /** Return a test of rows: whether one is the answer of this period; of what is kept, there is one for all. */
  protected own(): (row: Row) => boolean {
    const { survey } = this;
    return answers(survey, this.#keeps ? undefined : epochOf(survey.collect.repeat, clock(10)));
  }

  /**
   * Return the questions to ask, of several: all of them, or where the survey asks less those that chance has chosen. It
   * chooses once, and that is stored before anybody sees it: whoever could choose again would answer what they like.
   */
  async asked(sending: Sending = {}): Promise<readonly AskedQuestion[]> {
    const { questions, oracle } = this.survey;
    const places = oracle.about?.(await this.#chance(sending));
    return (questions ?? []).filter((_, place) => places?.includes(place));
  }

  /** Return the first word of the report, where that is drawn before the answers: from the ticket, or kept here. */
  async #chance({ ticket }: Sending): Promise<bigint | undefined> {
    return this.survey.oracle.choose?.(this.survey, ticket, (step) =>
      change(this.store, async (_, { chances }) => step(chances)),
    );
  }

  /** Repeat the answer, or draw one. Only then the value is looked for: what was answered once needs no answers again. */
  async #answered(find: FindValue, { confirm, ticket }: Sending, first?: bigint): Promise<Answer> {
    const { survey } = this;
    let notices: readonly string[] = [];
    for (let agreed: readonly string[] = []; ; agreed = notices) {
      const own = this.own();
      const blank = await this.#blank();
      const repeated = await change<boolean | null>(this.store, async (rows, { born }) => {
        if (rows.filter(answers(survey)).some(isTaken))
          throw new BudgetError(`participant: the answer to survey ${survey.name} was withdrawn`);
        const isAnswered = rows.some(own);
        notices = isAnswered ? [] : this.#examined(rows, blank, born);
        if (isAnswered) return [null, true];
        if (!notices.every((notice) => agreed.includes(notice))) return [null, null];
        const value = await find();
        const basis = survey.collect.repeat && survey.oracle.keep?.(value);
        const drawn = await this.#drawn(basis, value, ticket, first);
        return [{ answers: [...rows, { ...blank, ...drawn }] }, false];
      });
      if (repeated !== null) {
        const answer = (await this.recalled(own, find)) as Answer;
        return { ...answer, repeated: repeated && answer.repeated, notices };
      }
      const rule = `participant: survey ${survey.name} must be confirmed (${notices.join("; ")})`;
      // a person takes time, in which the ledger may change: it is examined again
      if ((await confirm?.(notices)) !== true) {
        throw new BudgetError(`${rule}: ${confirm ? "declined" : "confirm is missing"}`);
      }
    }
  }

  /**
   * Return the answer that was given before, or null. Where reports are made of what was kept, and it is another period,
   * it is a new one; but where the label is asked for each time, only `prepare` makes that. Of a survey that is drawn
   * anew each week or month, it is the answer of this one.
   */
  recall(): Promise<Answer | null> {
    return this.recalled(this.own());
  }

  /** Whether the label is asked for again: the oracle follows a value, and the answer is of an earlier period. */
  async isDue(): Promise<boolean> {
    const row = (await this.rows()).find(this.own());
    return !!row?.last && row.last < this.#period() && this.survey.oracle.follows && !closed(this.survey).length;
  }

  /** Return one of the answers that were given before, or null; a new one of the value that its holder has now. */
  protected async recalled(own: (row: Row) => boolean, find?: FindValue): Promise<Answer | null> {
    const isAsked = !find && this.survey.oracle.follows;
    let repeated = true;
    const row = await change<Row | undefined>(this.store, async (rows) => {
      const stored = rows.find(own);
      const { basis, last = "" } = stored ? await intact(stored) : {};
      repeated =
        !stored || isTaken(stored) || !basis || isAsked || last >= this.#period() || !!closed(this.survey).length;
      if (!stored || repeated) return [null, stored];
      const { key, batch, earlier: before = [] } = stored;
      const earlier = [{ key, batch }, ...before].slice(0, MAX_EARLIER);
      const drawn = await this.#drawn(basis, await find?.());
      const renewed = { ...stored, ...drawn, earlier, ticket: undefined, due: undefined }; // by the same relay, if any
      return [{ answers: rows.map((row) => (row === stored ? renewed : row)) }, renewed];
    });
    if (!row) return null;
    const { key, batch, state } = row;
    return { batch: unhex(batch), key, state, repeated, notices: [], spent: await this.spent() };
  }

  /** Return the first day of the period in which there is one report of what is kept. */
  #period(): string {
    return firstDay(this.survey.collect.repeat, clock(10));
  }

  /** Draw a report of a value, or of what was kept, and return what is stored of it. */
  async #drawn(basis: Report | undefined | "", value: Value = 0, ticket?: string, first?: bigint): Promise<Drawn> {
    const { oracle, version, collect } = this.survey;
    const report =
      (basis && oracle.respond?.(basis, value)) ||
      (collect.derive && (await oracle.derive?.(value, version, ticket))) ||
      oracle.draw(value, oracle.begun?.(first));
    const key = hex(randomBytes(32)); // not computed from the report: many people send the same one
    const batch = hex(await encode(oracle, [report], version));
    const check = await checkOf(key, batch, basis || []);
    return { key, batch, check, state: "drawn", ...(basis && { basis, last: this.#period() }) };
  }

  /** Return what all answers on this topic give away to this origin, together. */
  async spent(): Promise<Spent> {
    return spentOn((await this.rows()).filter(concerns(this.survey)));
  }

  /** Return all answers in the store, in their order. */
  async rows(): Promise<readonly Row[]> {
    return readLedger(await this.store.read()).answers;
  }

  /** Return how often surveys were refused, by origin: an origin that keeps asking is suspicious. */
  async refusals(): Promise<Refusals> {
    return readLedger(await this.store.read()).refusals ?? {};
  }

  /** Return what the answer would cost, to whom, over which labels. */
  async #blank(): Promise<Charge> {
    const { origin, path, name, topic, version, oracle, labels, domain, collect, round } = this.survey;
    const { eta, domainSize: size } = oracle;
    const epsilon = (this.#keeps && oracle.lastingEpsilon) || oracle.epsilon;
    const day = clock(10);
    const epoch = epochOf(collect.repeat, day);
    const period = epoch ? { epoch, renews: !!this.limits.month } : {};
    const { questions, tables } = this.survey.specification;
    const several = questions ? { questions, ...(tables ? { tables } : {}) } : null;
    const values = several ?? (labels ? { labels: [...labels].sort() } : domain ? { domain } : { domain_size: size });
    const set = await identifier(round?.set ?? values);
    return { origin, path, name, topic, version, epsilon, eta, labels: set, size, day, ...period };
  }

  /** Say that a survey has other labels than the program expects. */
  #mismatch({ name, labels }: Survey): string[] {
    const own = this.#own;
    const all = new Set<unknown>([...(own ?? []), ...(labels ?? [])]).size;
    if (!own || (all === own.size && all === labels?.length)) return [];
    return [`survey ${name} must have the ${own.size} labels that the program expects`];
  }

  /** Refuse what the limits do not cover, and return what the person has to confirm. Never by the answer. */
  #examined(rows: readonly Row[], row: Charge, born: string): string[] {
    const { minAnonymity: least } = this.limits;
    const { anonymity: left } = this.survey.oracle;
    const reasons = [
      ...closed(this.survey),
      ...this.#mismatch(this.survey),
      ...(this.survey.round?.before(rows, row) ?? []),
      ...(left < least ? [`a report must leave at least ${least} values possible, got ${left}`] : []),
      ...refusals(rows, row, this.limits, born),
    ];
    if (reasons.length) throw new BudgetError(`participant: ${reasons.join("; ")}`);
    return noticesOf(rows, row, this.limits);
  }
}
