// What a form says, as the planner is asked about it, and as it is published.

/** @import { OracleFields, PlanRow } from "../shared/replies.d.ts" */
/** @import { Declared } from "./protection.js" */
/** @import { Values } from "./survey_fields.js" */

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
 *   search?: { k: number, quota: number },
 *   oracle: Partial<OracleFields>,
 *   collect: object,
 * }} Specification
 */

const FIRST_ROUND = 2 ** 16 + 1; // what the first round of a search asks about: beginnings of texts, and none of them

/**
 * Return what the planner is asked.
 *
 * @param {Values} values
 */
export function question({ kind, labels, users, quota, epsilon, eta, repeat, lasting, treatment, declared }) {
  if (kind === "search") return { domain_size: FIRST_ROUND, users: quota, epsilon, eta: Number(eta) };
  if (kind === "strings") {
    return { domain: "strings", users, epsilon, ...(repeat === "daily" ? { epsilon_permanent: lasting } : {}) };
  }
  const protection = treatment === "alike" ? { eta: Number(eta) } : numbered(declared, labels);
  return { domain_size: labels.length, users, epsilon, ...protection };
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
  const { name, question, description, language, minimum, submit, retention, origins, derive, kind, repeat } = values;
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
      ...(derive ? { derive } : {}),
      ...(kind === "strings" && repeat === "daily" ? { repeat } : {}),
    },
  };
}

/**
 * @param {Values} values
 * @returns {Pick<Specification, "labels" | "domain" | "search">}
 */
function domainOf({ kind, labels, k, quota }) {
  if (kind === "labels") return { labels };
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
