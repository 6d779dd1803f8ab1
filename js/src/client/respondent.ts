/** Respondent: a participant that also sends its answers. */

import type { Answers } from "../oracles/base/oracle.js";
import { answers, isTaken, type Row } from "../participant/ledger.js";
import { type Answer, type Keeping, Participant, type Sending } from "../participant/participant.js";
import { databaseStore } from "../participant/store.js";
import { FldpError, fail, ParameterError } from "../support/errors.js";
import type { Survey } from "../survey/survey.js";
import { anyTime, type Relay } from "./retry.js";
import { checkSecret, mark, post, takeBack } from "./send.js";

/** Options of a respondent. Answers are stored in the browser's database unless `store` is given. */
export interface Options extends Partial<Keeping> {
  /** For surveys that require a token. It is not stored, and is sent to the survey's collector only. */
  readonly token?: string;
  /** The relay to send through; the answer is then never sent directly. */
  readonly relay?: Relay;
  /**
   * The answer is queued for a random time of up to this many seconds, drawn once; then `flush` sends it. Its arrival
   * says less about the sender.
   */
  readonly delay?: number;
}

/** Answers one survey for one person, and sends the answer to its collector. */
export class Respondent extends Participant {
  readonly #token: string | undefined;
  readonly #relay: Relay | undefined;
  readonly #delay: number;

  constructor(survey: Survey, options: Options = {}) {
    super(survey, { ...options, store: options.store ?? databaseStore() });
    const { token, relay, delay = 0 } = options;
    [this.#token, this.#relay, this.#delay] = [token, relay, delay];
    checkSecret(token, survey.origin);
    if (!(Number.isFinite(delay) && delay >= 0)) throw fail("participant", "delay", "a number of seconds", delay);
    if (token !== undefined && (relay || delay))
      throw new ParameterError("participant: a token cannot go with relay or delay: it tells the collector who sends");
  }

  /**
   * Send the prepared answer, now or once the collector can be reached; the returned state says which. Its key makes it
   * count once, however often this is called. A refusal by the collector is a `CollectorError`. An answer that needs a
   * token is not queued, since `flush` does not know the token: send it again.
   */
  async send({ ticket }: Sending = {}): Promise<Answer> {
    this.#checkAccess(ticket);
    const own = this.own();
    const row = (await this.rows()).find(own);
    if (!row) throw new FldpError(`participant: survey ${this.survey.name} has no answer to send; prepare one`);
    if (isTaken(row)) throw new FldpError(`participant: the answer to survey ${this.survey.name} was withdrawn`);
    const relay = this.#relay;
    if (row.state !== "sent") this.#checkWay(row);
    if (row.state !== "sent") {
      const state = this.#token === undefined ? "queued" : "drawn";
      const due = row.due ?? this.#due();
      const changes = { state, due, relay: relay?.address, ...(ticket && { ticket }) } as const;
      const queued = await mark(this.store, row, changes);
      await post(this.store, queued, relay && (() => relay), this.#token);
    }
    return (await this.recalled(own)) as Answer;
  }

  /**
   * Take the answer back, with the reports of all days, now or once the collector can be reached; the returned state
   * says which. The collector takes the reports out of its count. Their cost stays, since they were seen, and the survey
   * is not answered again. Results published before may still contain them. Twice is the same as once. All reports are
   * tried, then the first refusal is thrown. A ticket is needed only if the answer was sent with one and never arrived.
   */
  async withdraw({ ticket }: Pick<Sending, "ticket"> = {}): Promise<Answer> {
    checkSecret(ticket, this.#relay?.address ?? this.survey.origin);
    const rows = (await this.rows()).filter(answers(this.survey));
    if (!rows.length) throw new FldpError(`participant: survey ${this.survey.name} has no answer to take back`);
    rows.forEach(this.#checkWay, this);
    const relay = this.#relay;
    const marked: Row[] = [];
    let refusal: unknown;
    for (const row of rows) {
      const changes = { state: "withdrawing", relay: row.relay ?? relay?.address, ...(ticket && { ticket }) } as const;
      marked.push(await mark(this.store, row, changes));
    }
    for (const row of marked)
      await takeBack(this.store, row, relay && (() => relay), this.#token).catch((error) => (refusal ??= error));
    if (refusal) throw refusal;
    return (await this.recalled(answers(this.survey))) as Answer;
  }

  /** Refuse to send directly what went through a relay, or what its survey wants through one. */
  #checkWay({ relay }: Row): void {
    const { name, collect } = this.survey;
    if (this.#relay) return;
    if (relay !== undefined)
      throw new ParameterError(`participant: the answer must go through the relay ${relay}; give it`);
    if (collect.oblivious)
      throw new ParameterError(`participant: survey ${name} takes answers through a relay only; give one`);
  }

  #due(): string | undefined {
    return this.#delay ? new Date(Date.now() + anyTime(1000 * this.#delay)).toISOString() : undefined;
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
      collect: { submit, oblivious },
    } = this.survey;
    checkSecret(ticket, this.#relay?.address ?? origin); // through a relay it is encrypted
    if (oblivious && !this.#relay)
      throw new ParameterError(`participant: survey ${name} takes answers through a relay only; give one`);
    if ((["ticket", "pass"].includes(submit) && !ticket) || (submit === "token" && !this.#token)) {
      throw new ParameterError(`participant: survey ${name} takes answers with a ${submit}; give one`);
    }
  }
}

/** Return the respondent that answers a survey for one person. */
export function participant(survey: Survey, options: Options = {}): Respondent {
  return new Respondent(survey, options);
}
