/** Respondent: a participant that sends what it has drawn. */
import { FldpError, ParameterError } from "./errors.js";
import { answers } from "./ledger.js";
import { type Answer, type Confirm, Participant } from "./participant.js";
import { type Options, checkSecret, mark, post } from "./sending.js";
import { databaseStore } from "./store.js";
import type { Survey } from "./survey.js";

/** What belongs to one answer. */
export interface Sending {
  readonly confirm?: Confirm;
  /** For surveys that take reports with a single-use ticket. */
  readonly ticket?: string;
}

/** Answers one survey for one person, and sends the answer to its collector. */
export class Respondent extends Participant {
  private readonly token: string | undefined;

  constructor(survey: Survey, options: Options = {}) {
    super(survey, { ...options, store: options.store ?? databaseStore() });
    this.token = options.token;
    checkSecret(this.token, survey.origin);
  }

  /**
   * Send the answer that was prepared, now or when the collector can be reached: the state tells. It is sent under its
   * one key, and counts once, however often this is called. What a collector refuses is a `CollectorError`.
   */
  async send({ ticket }: Sending = {}): Promise<Answer> {
    this.checkAccess(ticket);
    const row = (await this.rows()).find(answers(this.survey));
    if (!row) throw new FldpError(`participant: the answer to survey ${this.survey.name} must be prepared first`);
    if (row.state !== "sent") {
      const queued = await mark(this.store, row, { state: "queued", ...(ticket && { ticket }) });
      await post(this.store, queued, this.token);
    }
    return (await this.recall()) as Answer;
  }

  /** Prepare the answer, and send it. */
  async answer(label: string, sending: Sending = {}): Promise<Answer> {
    this.checkAccess(sending.ticket);
    const { repeated, notices } = await this.prepare(label, sending);
    return { ...(await this.send(sending)), repeated, notices };
  }

  /** Refuse a survey that would refuse the answer, before anything is spent on it. */
  private checkAccess(ticket: string | undefined): void {
    const {
      name,
      origin,
      collect: { submit },
    } = this.survey;
    checkSecret(ticket, origin);
    if ((submit === "ticket" && !ticket) || (submit === "token" && !this.token)) {
      throw new ParameterError(`participant: survey ${name} must be given a ${submit}`);
    }
  }
}

/** Return who answers a survey for one person. */
export function participant(survey: Survey, options: Options = {}): Respondent {
  return new Respondent(survey, options);
}
