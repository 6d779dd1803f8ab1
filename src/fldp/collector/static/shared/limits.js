// Whether people's devices would answer a survey: found by trying, on one that keeps and sends nothing.
import { BudgetError, memoryStore, Participant, Survey, number as scale } from "../fldp.js";
import { oraclesOf } from "./oracles.js";

/** @import { Limits } from "../fldp.js" */

/**
 * Return why a device with these limits would not answer, or null. It is the usual device where nothing else is said.
 *
 * @param {Survey} survey
 * @param {Limits} [limits]
 */
export async function refusal(survey, limits = {}, store = memoryStore()) {
  const device = new Participant(survey, { store, limits });
  const answer = await device
    .prepare(anyAnswer(survey), { confirm: () => true, ticket: "none" })
    .catch((error) => error);
  return answer instanceof BudgetError ? answer.message.replace(/^participant: /, "") : null;
}

/**
 * Return an answer that a survey takes, whichever it is.
 *
 * @param {Survey} survey
 */
const anyAnswer = ({ labels, questions }) =>
  questions
    ? Object.fromEntries(questions.map((asked) => [asked.name, asked.labels?.[0] ?? "0"]))
    : (labels?.[0] ?? "0");

/**
 * Return how many surveys like this one a person can answer to one collector, each about something else, up to `most`.
 *
 * @param {Survey} survey
 * @param {string} url
 * @param {number} most
 */
export async function howMany(survey, url, most) {
  const { topic: _, ...fields } = survey.specification;
  return tried(fields, url, most);
}

/**
 * Return how many new draws of one survey a person can answer, up to `most`: they are all about the same.
 *
 * @param {Survey} survey
 * @param {string} url
 * @param {number} most
 */
export const howOften = (survey, url, most) =>
  tried({ ...survey.specification, topic: survey.topic ?? survey.name }, url, most);

/**
 * @param {Survey["specification"]} fields
 * @param {string} url
 * @param {number} most
 */
async function tried(fields, url, most) {
  const store = memoryStore();
  const oracles = await oraclesOf(fields);
  for (let number = 0; number < most; number += 1) {
    const other = await Survey.of({ ...fields, name: `like-${number}` }, url, oracles, { number: scale });
    if (await refusal(other, {}, store)) return number;
  }
  return most;
}
