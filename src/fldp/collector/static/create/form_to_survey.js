// What a form says, as the planner is asked about it, and as it is published.

import { numbersOf } from "./question_card.js";
import { keepsNoise } from "./survey_fields.js";

/** @import { OracleFields, PlanRow } from "../shared/replies.d.ts" */
/** @import { Declared } from "./protection.js" */
/** @import { Values } from "./survey_fields.js" */

/**
 * The range of a number.
 *
 * @typedef {{ low: number, high: number, goal: string, unit?: string, bins?: number, apart?: readonly number[] }} NumberRange
 */

/**
 * A survey in its canonical form.
 *
 * @typedef {{
 *   name: string,
 *   question: string,
 *   description?: string,
 *   language?: string,
 *   labels?: readonly string[],
 *   domain?: "strings",
 *   number?: NumberRange,
 *   search?: { k: number, quota: number },
 *   oracle: Partial<OracleFields>,
 *   collect: { readonly submit: string, readonly issuer_key?: string, readonly [name: string]: unknown },
 * }} Specification
 */

const FIRST_ROUND = 2 ** 16 + 1; // what the first round of a search asks about: beginnings of texts, and none of them

/**
 * Return what the planner is asked.
 *
 * @param {Values} values
 */
export function question(values) {
  const { kind, labels, users, quota, epsilon, eta, lasting, treatment, declared } = values;
  const kept = keepsNoise(values) ? { epsilon_permanent: lasting } : {};
  if (kind === "number") return { number: rangeOf(values), users, epsilon };
  if (kind === "search") return { domain_size: FIRST_ROUND, users: quota, epsilon, eta: Number(eta) };
  if (kind === "strings") return { domain: "strings", users, epsilon, ...kept };
  const least = values.repeat === "once" ? Number(eta) : 1;
  const protection = treatment === "alike" ? { eta: least } : numbered(declared, labels);
  return { domain_size: labels.length, users, epsilon, ...protection, ...kept };
}

/**
 * @param {Values} values
 * @returns {NumberRange}
 */
function rangeOf({ low, high, unit, goal, bins, apart }) {
  const alone = numbersOf(apart);
  const cells = goal === "mean" ? {} : { bins, ...(alone.length ? { apart: alone } : {}) };
  return { low, high, goal, ...(unit ? { unit } : {}), ...cells };
}

/**
 * Return what is declared of labels, of their numbers: so the planner need not be sent all of them.
 *
 * @param {Declared} declared
 * @param {readonly string[]} labels
 */
function numbered(declared, labels) {
  const { sensitive, budgets } = declared;
  if (sensitive) return { sensitive: sensitive.map((label) => labels.indexOf(label)) };
  if (budgets) return { budgets: Object.entries(budgets).map(([label, epsilon]) => [labels.indexOf(label), epsilon]) };
  return declared;
}

/**
 * Return the survey in its canonical form. What makes answers differ is in its oracle, if that is made for it.
 *
 * @param {Values} values
 * @param {PlanRow} row
 * @returns {Specification}
 */
export function specification(values, { oracle }) {
  const { name, question, description, language, minimum, submit, retention, origins, kind, repeat } = values;
  const { derive, oblivious } = values;
  return {
    name,
    question,
    ...(description ? { description } : {}),
    ...(language ? { language } : {}),
    ...domainOf(values),
    oracle: kind === "search" ? searching(values, oracle) : described(oracle),
    collect: {
      submit,
      retention,
      minimum,
      origins: origins.split(/[\s,]+/).filter(Boolean),
      ...issuerOf(values),
      ...(derive ? { derive } : {}),
      ...(oblivious ? { oblivious } : {}),
      ...(repeat === "once" ? {} : { repeat }),
    },
  };
}

/**
 * Return who gives passes, where there are some: the key is blank until the collector has made one.
 *
 * @param {Values} values
 */
function issuerOf({ submit, issuer, issuerKey }) {
  if (submit !== "pass") return {};
  return { issuer_key: issuerKey, ...(issuer ? { issuer } : {}) };
}

/**
 * @param {Values} values
 * @returns {Pick<Specification, "labels" | "domain" | "number" | "search">}
 */
function domainOf(values) {
  const { kind, labels, k, quota } = values;
  if (kind === "labels") return { labels };
  if (kind === "number") return { number: rangeOf(values) };
  return { domain: "strings", ...(kind === "search" ? { search: { k, quota } } : {}) };
}

/**
 * Return an oracle as a survey names it.
 *
 * @param {OracleFields} oracle
 */
export const described = ({ domain_size: _, ...oracle }) => oracle;

/**
 * Return the oracle of a search: by its name where it was chosen, else by what it must keep, so that every round has its
 * own.
 *
 * @param {Values} values
 * @param {OracleFields} oracle
 */
function searching({ oracle: chosen, epsilon, eta }, { name, eta: own }) {
  if (chosen) return { name, epsilon, ...(own === undefined ? {} : { eta: own }) };
  return { epsilon, ...(eta === "1" ? {} : { eta: Number(eta) }) };
}
