/** Respondent: a participant that sends what it has drawn. */

import type { Answers } from "../oracles/base/oracle.js";
import { answers, isTaken } from "../participant/ledger.js";
import { type Answer, type Keeping, Participant, type Sending } from "../participant/participant.js";
import { databaseStore } from "../participant/store.js";
import { FldpError, ParameterError } from "../support/errors.js";
import type { Survey } from "../survey/survey.js";
import { checkSecret, mark, post, takeBack } from "./send.js";

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
    if (isTaken(row)) throw new FldpError(`participant: the answer to survey ${this.survey.name} was withdrawn`);
    if (row.state !== "sent") {
      const state = this.#token === undefined ? "queued" : "drawn";
      await post(this.store, await mark(this.store, row, { state, ...(ticket && { ticket }) }), this.#token);
    }
    return (await this.recalled(own)) as Answer;
  }

  /**
   * Take the answer back, with the reports of all days, now or when the collector can be reached: the state tells. The
   * collector takes them out of its count. What they cost stays, since they were seen, and the survey is not answered
   * again. Results that were published before may still contain them. Twice is the same as once. A ticket is needed
   * only where the answer was sent with one, and never arrived.
   */
  async withdraw({ ticket }: Pick<Sending, "ticket"> = {}): Promise<Answer> {
    checkSecret(ticket, this.survey.origin);
    const given = (await this.rows()).filter(answers(this.survey));
    if (!given.length) throw new FldpError(`participant: survey ${this.survey.name} has no answer to take back`);
    for (const row of given) {
      const marked = await mark(this.store, row, { state: "withdrawing", ...(ticket && { ticket }) });
      await takeBack(this.store, marked, this.#token);
    }
    return (await this.recalled(answers(this.survey))) as Answer;
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
