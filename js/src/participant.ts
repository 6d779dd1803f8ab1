/**
 * Participant: the person's side. Answers once, remembers the answer, repeats it, and keeps to the person's limits.
 *
 * An answer is drawn at random, so a second one to the same question tells more than the first. A participant never
 * draws twice for one version of a survey and one origin. What it drew is stored before anybody sees it, so nobody can
 * draw again until it pleases. The true value is never stored.
 */
import { type FullLimits, type Limits, type Spent, fullLimits, together } from "./amounts.js";
import { type Bytes, hex, identifier, unhex } from "./canonical.js";
import { BudgetError } from "./errors.js";
import {
  type Charge,
  type Drawn,
  type Row,
  answers,
  change,
  checkOf,
  concerns,
  intact,
  noticesOf,
  readLedger,
  refusals,
} from "./ledger.js";
import type { Report, Value } from "./oracle.js";
import { randomBytes } from "./random.js";
import type { Store } from "./store.js";
import type { Survey } from "./survey.js";
import { encode } from "./wire.js";

/** Asks the person whether to go on, given what they must know. */
export type Confirm = (notices: readonly string[]) => boolean | Promise<boolean>;

/** What a participant works with. */
export interface Keeping {
  /** Where answers are kept. */
  readonly store: Store;
  /** The person's own limits; no survey can change them. */
  readonly limits?: Limits;
}

/** What belongs to one answer. */
export interface Sending {
  readonly confirm?: Confirm;
  /** For surveys that take reports with a single-use ticket. An answer belongs to the ticket that it was drawn with. */
  readonly ticket?: string;
}

/** An answer that was drawn and stored. */
export interface Answer {
  /** What is sent, byte for byte: one report, of this version of the survey. `explain` says what it tells. */
  readonly batch: Bytes;
  /** The idempotency key that it is sent under. */
  readonly key: string;
  /** `drawn`: kept here; `queued`: to be sent when the collector can be reached; `sent`: acknowledged. */
  readonly state: Row["state"];
  /** Whether it was drawn earlier and cost nothing now. Then the label may have been another one. */
  readonly repeated: boolean;
  /** What the person confirmed. */
  readonly notices: readonly string[];
  /** What all answers on this topic give away to this origin, together. */
  readonly spent: Spent;
}

/** Return the time in UTC, so many characters of it: 10 are the day, 19 go down to the second. */
const clock = (size: number): string => new Date().toISOString().slice(0, size);

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

  constructor(survey: Survey, { store, limits }: Keeping) {
    this.survey = survey;
    this.limits = fullLimits(limits);
    this.store = store;
  }

  /**
   * Draw the answer to the survey and store it, or find the one that was stored, whatever the label is now. Nothing is
   * sent. Once this is done the answer is spent: it is the one that will ever be given.
   *
   * What the person must know first (few labels, or others than the last time) is given to `confirm`; if that is not
   * true, or there is nobody to ask, the survey is refused. A refusal is a `BudgetError` and costs nothing.
   */
  async prepare(label: string, { confirm, ticket }: Sending = {}): Promise<Answer> {
    const { survey } = this;
    const value = await survey.encode(label);
    const blank = await this.blank();
    let notices: readonly string[] = [];
    for (let agreed: readonly string[] = []; ; agreed = notices) {
      const repeated = await change<boolean | null>(this.store, async (rows) => {
        if (rows.some(answers(survey))) return (notices = []), [rows, true];
        notices = this.examined(rows, blank);
        if (!notices.every((notice) => agreed.includes(notice))) return [rows, null];
        const basis = survey.collect.repeat && survey.oracle.keep?.(value);
        return [[...rows, { ...blank, ...(await this.drawn(basis, value, ticket)) }], false];
      });
      if (repeated !== null) {
        const answer = (await this.recall()) as Answer;
        return { ...answer, repeated: repeated && answer.repeated, notices };
      }
      const said = `participant: survey ${survey.name} must be confirmed (${notices.join("; ")})`;
      if (!confirm) throw new BudgetError(`${said}, got nobody`);
      if ((await confirm(notices)) !== true) throw new BudgetError(`${said}, got a no`); // a person takes time
    }
  }

  /**
   * Return the answer that was given before, or null. Where there may be one each day, and it is another day, it is a
   * new report, made of what was kept.
   */
  async recall(): Promise<Answer | null> {
    let repeated = true;
    const row = await change<Row | undefined>(this.store, async (rows) => {
      const found = rows.find(answers(this.survey));
      const { basis, last = "" } = found ? await intact(found) : {};
      repeated = !basis || last >= clock(10) || closed(this.survey).length > 0;
      if (repeated) return [rows, found];
      const row = { ...(found as Row), ...(await this.drawn(basis)), ticket: undefined };
      return [rows.map((other) => (other === found ? row : other)), row];
    });
    if (!row) return null;
    const { key, batch, state } = row;
    return { batch: unhex(batch), key, state, repeated, notices: [], spent: await this.spent() };
  }

  /** Draw a report of a value, or of what was kept, and return what is stored of it. */
  private async drawn(basis: Report | undefined | "", value: Value = 0, ticket?: string): Promise<Drawn> {
    const { oracle, version } = this.survey;
    const report = (basis && oracle.respond?.(basis)) || (await oracle.draw(value, version, ticket));
    const key = hex(randomBytes(32)); // not computed from the report: many people send the same one
    const batch = hex(await encode(oracle, [report], version));
    const check = await checkOf(key, batch, basis || []);
    return { key, batch, check, state: "drawn", ...(basis && { basis, last: clock(10) }) };
  }

  /** Return what all answers on this topic give away to this origin, together. */
  async spent(): Promise<Spent> {
    return together((await this.rows()).filter(concerns(this.survey)));
  }

  /** Return all answers in the store, in their order. */
  async rows(): Promise<readonly Row[]> {
    return readLedger(await this.store.read());
  }

  /** Return what the answer would cost, to whom, over which labels. */
  private async blank(): Promise<Charge> {
    const { origin, path, topic, version, oracle, labels, domain, collect } = this.survey;
    const { eta, domainSize: size } = oracle;
    const epsilon = (collect.repeat && oracle.lastingEpsilon) || oracle.epsilon;
    const values = labels ? { labels: [...labels].sort() } : domain ? { domain } : { domain_size: size };
    const set = await identifier(oracle.set ?? values);
    return { origin, path, topic, version, epsilon, eta, labels: set, size, day: clock(10) };
  }

  /** Refuse what the limits do not cover, and return what the person has to confirm. */
  private examined(rows: readonly Row[], row: Charge): string[] {
    const { minAnonymity: least } = this.limits;
    const { anonymity: left, before } = this.survey.oracle;
    const reasons = [
      ...closed(this.survey),
      ...(before?.(rows, row) ?? []),
      ...(left < least ? [`a report must leave at least ${least} values possible, got ${left}`] : []),
      ...refusals(rows, row, this.limits),
    ];
    if (reasons.length) throw new BudgetError(`participant: ${reasons.join("; ")}`);
    return noticesOf(rows, row, this.limits);
  }
}
