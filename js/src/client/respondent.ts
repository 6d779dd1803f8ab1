/** Respondent: a participant that sends what it has drawn. */

import type { Answers } from "../oracles/base/oracle.js";
import { type Answer, type Keeping, Participant, type Sending } from "../participant/participant.js";
import { databaseStore } from "../participant/store.js";
import { FldpError, ParameterError } from "../support/errors.js";
import type { Survey } from "../survey/survey.js";
import { checkSecret, mark, post } from "./send.js";

/** What a participant that sends works with; answers are kept in the browser's database unless a store is given. */
export interface Options extends Partial<Keeping> {
  /** For surveys that take reports with a token only. It is not stored, and goes to the survey's collector only. */
  readonly token?: string;
}

/** Answers one survey for one person, and sends the answer to its collector. */
export class Respondent extends Participant {
  readonly #token: string | undefined;

  constructor(survey: Survey, options: Options = {}) {
    super(survey, { ...options, store: options.store ?? databaseStore() });
    this.#token = options.token;
    checkSecret(this.#token, survey.origin);
  }

  /**
   * Send the answer that was prepared, now or when the collector can be reached: the state tells. It is sent under its
   * one key, and counts once, however often this is called. What a collector refuses is a `CollectorError`. One that
   * needs a token is not queued, since `flush` does not know the token: send it again.
   */
  async send({ ticket }: Sending = {}): Promise<Answer> {
    this.#checkAccess(ticket);
    const own = this.own();
    const row = (await this.rows()).find(own);
    if (!row) throw new FldpError(`participant: survey ${this.survey.name} has no answer to send; prepare one`);
    if (row.state !== "sent") {
      const state = this.#token === undefined ? "queued" : "drawn";
      await post(this.store, await mark(this.store, row, { state, ...(ticket && { ticket }) }), this.#token);
    }
    return (await this.recalled(own)) as Answer;
  }

  /** Prepare the answer, and send it. */
  async answer(label: string | Answers, sending: Sending = {}): Promise<Answer> {
    this.#checkAccess(sending.ticket);
    const { repeated, notices } = await this.prepare(label, sending);
    return { ...(await this.send(sending)), repeated, notices };
  }

  /** Refuse a survey that would refuse the answer, before anything is spent on it. */
  #checkAccess(ticket: string | undefined): void {
    const {
      name,
      origin,
      collect: { submit },
    } = this.survey;
    checkSecret(ticket, origin);
    if ((submit === "ticket" && !ticket) || (submit === "token" && !this.#token)) {
      throw new ParameterError(`participant: survey ${name} takes answers with a ${submit}; give one`);
    }
  }
}

/** Return who answers a survey for one person. */
export function participant(survey: Survey, options: Options = {}): Respondent {
  return new Respondent(survey, options);
}
