/** Several questions of one survey: each with its answers, and all of them together as one record. */

import type { Value } from "../data/reports.js";
import { uniform } from "../randomness/random.js";
import { MAX_ANSWERS, MAX_QUESTIONS, MAX_TEXT, SURVEY_NAME } from "../support/constants.js";
import { DomainError, fail } from "../support/errors.js";
import type { Answers, AskedQuestion, Checks, Fields } from "./base/oracle.js";

const KEYS = ["name", "question", "labels", "domain_size", "optional", "number"];

function need(good: unknown, name: string, rule: string, value: unknown): asserts good {
  if (!good) throw fail("survey", name, rule, value);
}

/** Check several questions of a survey, and return them. */
export function questionsOf(fields: Fields, checks: Checks): AskedQuestion[] {
  const { table } = checks;
  const { questions, tables = {} } = fields;
  const isList = Array.isArray(questions) && questions.length > 0 && questions.length <= MAX_QUESTIONS;
  need(isList, "questions", `a list of 1 to ${MAX_QUESTIONS} questions`, questions);
  const { ask = "all" } = table(tables, "tables", ["ask"]);
  need(ask === "all" || ask === "drawn", "tables.ask", "all or drawn", ask);
  const asked = (questions as unknown[]).map((each) => checked(table(each, "questions", KEYS), checks));
  need(new Set(asked.map(({ name }) => name)).size === asked.length, "questions", "of different names", asked.length);
  return asked;
}

function checked(fields: Fields, { isText, sizeOf, number }: Checks): AskedQuestion {
  const { name, question, labels = null, optional = false } = fields as unknown as AskedQuestion;
  const { optional: _, name: __, question: ___, ...values } = fields;
  need(typeof name === "string" && SURVEY_NAME.test(name), "questions.name", `like ${SURVEY_NAME}`, name);
  need(isText(question, MAX_TEXT), "questions.question", `a text of 1 to ${MAX_TEXT} characters`, question);
  need(optional === true || fields.optional === undefined, "questions.optional", "true", fields.optional);
  const listed = sizeOf(values) as number; // which also checks that there is one kind of answers
  const scale = fields.number === undefined ? undefined : number?.(fields);
  need(fields.number === undefined || (scale && !optional), "questions.number", "one that is answered", fields.number);
  const size = scale?.size ?? listed;
  need(Number.isInteger(size) && size > 1 && size <= MAX_ANSWERS, "questions", `2 to ${MAX_ANSWERS} answers`, size);
  const pinned = scale ? { ...fields, number: scale.table } : fields;
  return { name, question, labels, optional, size: size + Number(optional), fields: pinned, ...(scale && { scale }) };
}

const isNothing = (answer: unknown): boolean => answer === undefined || answer === null || answer === "";

/** Return the number of an answer, or -1 if there is no such answer. No label is found sooner than another. */
function digitOf({ labels, size, optional, scale }: AskedQuestion, answer: unknown): number {
  if (isNothing(answer)) return optional ? size - 1 : -1;
  const text = Object(answer) === answer || typeof answer === "symbol" ? "" : String(answer); // others may throw
  if (scale) return Number(scale.read(text));
  if (labels) return labels.reduce((last, label, digit) => (label === text ? digit : last), -1);
  const number = Number(text);
  const good = String(number) === text && Number.isInteger(number) && number >= 0;
  return good && number < size - Number(optional) ? number : -1;
}

/**
 * Return the answer to each question as a digit, with one at random for an answer that the survey lacks: a refusal would
 * tell the collector the answer. So is undefined, null, or an empty text, where the collector says that no answer is none.
 * A question that is asked, must be answered and is not named, is an error; one that is named with undefined is named.
 * `places` are those of the questions that are asked.
 */
export function digitsOf(questions: readonly AskedQuestion[], answers: Answers, places: readonly number[]): number[] {
  if (Object(answers) !== answers) throw new DomainError("participant: answer each question (not shown)");
  return questions.map((asked, place) => {
    const instead = uniform(asked.size);
    if (!Object.hasOwn(answers, asked.name) && !asked.optional && places.includes(place)) {
      throw new DomainError(`record: question '${asked.name}' has no answer and is not optional`);
    }
    const digit = digitOf(asked, Object.hasOwn(answers, asked.name) ? answers[asked.name] : null);
    return digit < 0 ? instead : digit;
  });
}

export type { Value };
