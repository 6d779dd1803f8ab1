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
import { type Row, answers, change, checkOf, concerns, intact, noticesOf, readLedger, refusals } from "./ledger.js";
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

/** What a look at the ledger found: an answer, old or new, or what must be confirmed first. */
interface Found extends Pick<Answer, "repeated" | "notices"> {
  readonly done: boolean;
}

/** Say that a survey takes no answers now, so that nothing is spent on one that will not count. */
function closed({ name, state, collect: { opens, closes } }: Survey): string[] {
  const now = `${new Date().toISOString().slice(0, 19)}Z`;
  const open = state === "open" && (!opens || now >= opens) && (!closes || now < closes);
  return open ? [] : [`survey ${name} must be open, got one that is ${state}, from ${opens} to ${closes}`];
}

/** Answers one survey for one person. It draws and keeps; a `Respondent` also sends. */
export class Participant {
  readonly survey: Survey;
  readonly limits: FullLimits;
  protected readonly store: Store;

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
    const value = survey.encode(label);
    const { version, collect, oracle } = survey;
    const derive = collect.derive && oracle.derive;
    const blank = await this.blank();
    for (let agreed: readonly string[] = []; ;) {
      const { done, repeated, notices } = await change<Found>(this.store, async (rows) => {
        if (rows.some(answers(survey))) return [rows, { done: true, repeated: true, notices: [] }];
        const notices = this.examined(rows, blank);
        const done = notices.every((notice) => agreed.includes(notice));
        if (!done) return [rows, { done, repeated: false, notices }];
        const key = hex(randomBytes(32)); // not computed from the report: many people send the same one
        const report = await (derive ? derive(value, version, ticket) : oracle.draw(value));
        const batch = hex(await encode(oracle, [report], version));
        const row = { ...blank, key, batch, check: await checkOf(key, batch) };
        return [[...rows, row], { done, repeated: false, notices }];
      });
      if (done) return { ...((await this.recall()) as Answer), repeated, notices };
      const said = `participant: survey ${survey.name} must be confirmed (${notices.join("; ")})`;
      if (!confirm) throw new BudgetError(`${said}, got nobody to ask; pass confirm`);
      if ((await confirm(notices)) !== true) throw new BudgetError(`${said}, got a no`); // a person takes time
      agreed = notices;
    }
  }

  /** Return the answer that was given before, or null. */
  async recall(): Promise<Answer | null> {
    const row = (await this.rows()).find(answers(this.survey));
    if (!row) return null;
    const { key, batch, state } = await intact(row);
    return { batch: unhex(batch), key, state, repeated: true, notices: [], spent: await this.spent() };
  }

  /** Return what all answers on this topic give away to this origin, together. */
  async spent(): Promise<Spent> {
    return together((await this.rows()).filter(concerns(this.survey)));
  }

  /** Return all answers in the store, in their order. */
  async rows(): Promise<readonly Row[]> {
    return readLedger(await this.store.read());
  }

  /** Return the row of an answer that is not drawn yet. */
  private async blank(): Promise<Row> {
    const { origin, path, topic, version, oracle, labels } = this.survey;
    const { epsilon, eta, domainSize: size } = oracle;
    const set = await identifier(labels ? { labels: [...labels].sort() } : { domain_size: size });
    const day = new Date().toISOString().slice(0, 10);
    const empty = { key: "", batch: "", check: "", state: "drawn" } as const;
    return { origin, path, topic, version, epsilon, eta, labels: set, size, day, ...empty };
  }

  /** Refuse what the limits do not cover, and return what the person has to confirm. */
  private examined(rows: readonly Row[], row: Row): string[] {
    const { minAnonymity: least } = this.limits;
    const left = this.survey.oracle.anonymity;
    const exposing = left < least ? [`a report must leave at least ${least} values possible, got ${left}`] : [];
    const reasons = [...closed(this.survey), ...exposing, ...refusals(rows, row, this.limits)];
    if (reasons.length) throw new BudgetError(`participant: ${reasons.join("; ")}`);
    return noticesOf(rows, row, this.limits);
  }
}
