/** Several questions of one survey: each with its answers, and all of them together as one record. */

import type { Value } from "../data/reports.js";
import type { Fields, Oracle } from "../oracles/base/oracle.js";
import { uniform } from "../randomness/random.js";
import { DomainError } from "../support/errors.js";

/** A person's answers, by the names of the questions: a label, a number, or nothing where a question is optional. */
export type Answers = Readonly<Record<string, unknown>>;

/** One question of several. The last answer of an optional one is "no answer". */
export interface AskedQuestion {
  readonly name: string;
  readonly question: string;
  readonly labels: readonly string[] | null;
  /** How many answers there are, that of no answer included. */
  readonly size: number;
  readonly optional: boolean;
}

const isNothing = (answer: unknown): boolean => answer === undefined || answer === null || answer === "";

/** Return the number of an answer, or -1 if there is no such answer. No label is found sooner than another. */
export function digitOf({ labels, size, optional }: AskedQuestion, answer: unknown): number {
  if (isNothing(answer)) return optional ? size - 1 : -1;
  if (labels) return labels.reduce((last, label, digit) => (label === answer ? digit : last), -1);
  const number = Number(answer);
  const good = String(number) === String(answer) && Number.isInteger(number) && number >= 0;
  return good && number < size - Number(optional) ? number : -1;
}

/**
 * Return the record of a person's answers, with an answer at random for one that the survey lacks: a refusal would tell
 * the collector the answer. A question that must be answered and is not is an error, whatever the answers are.
 */
export function recordOf(questions: readonly AskedQuestion[], oracle: Oracle, answers: Answers): Value {
  const digits = questions.map((asked) => {
    const instead = uniform(asked.size);
    if (isNothing(answers[asked.name]) && !asked.optional) {
      throw new DomainError(`record: question '${asked.name}' has no answer and is not optional`);
    }
    const digit = digitOf(asked, answers[asked.name]);
    return digit < 0 ? instead : digit;
  });
  return oracle.record?.(digits) ?? -1;
}

/** Return what a person answers to, from the table of a question that was checked. */
export function questionOf(fields: Fields, size: number): AskedQuestion {
  const { name, question, labels = null, optional = false } = fields as unknown as AskedQuestion;
  return { name, question, labels, optional, size: size + Number(optional) };
}
