// What the form of several questions says, as a survey: as JSON, and as the file that `fldp survey create` takes.
import { freeName, slugOf } from "./slug.js";

/** @import { Drafted } from "./question_card.js" */

/**
 * A survey of several questions, as its file says it: the planner chooses everything else of the oracle.
 *
 * @typedef {{
 *   name: string,
 *   title?: string,
 *   language?: string,
 *   questions: readonly (Drafted & { name: string })[],
 *   tables?: { cross?: "all" | readonly (readonly [string, string])[], ask?: "drawn" },
 *   oracle: { epsilon: number },
 *   collect: Readonly<Record<string, unknown>>,
 * }} SeveralSpecification
 */

const MAX_WORDS = 4;

/**
 * Give each question a name of its own, made of its first long words.
 *
 * @param {readonly Drafted[]} drafted
 */
export function named(drafted) {
  /** @type {Set<string>} */
  const taken = new Set();
  return drafted.map((asked) => {
    const words = slugOf(asked.question).split("-");
    const telling = words.filter((word) => word.length > 3).slice(0, MAX_WORDS);
    const name = freeName((telling.length ? telling : words.slice(0, MAX_WORDS)).join("-"), taken);
    taken.add(name);
    return { name, ...asked };
  });
}

/**
 * Write a value as TOML: texts, numbers, lists and tables in one line.
 *
 * @param {unknown} value
 * @returns {string}
 */
function written(value) {
  if (Array.isArray(value)) return `[${value.map(written).join(", ")}]`;
  if (Object(value) === value) {
    const pairs = Object.entries(/** @type {object} */ (value)).map(([key, part]) => `${key} = ${written(part)}`);
    return `{ ${pairs.join(", ")} }`;
  }
  return JSON.stringify(value).replaceAll("\u007f", "\\u007f");
}

/**
 * Write lines of keys and values.
 *
 * @param {object} fields
 */
const lines = (fields) => Object.entries(fields).map(([key, value]) => `${key} = ${written(value)}\n`);

/**
 * Return the file of a survey.
 *
 * @param {SeveralSpecification} specification
 */
export function toml({ questions, tables, oracle, collect, ...texts }) {
  return [
    "# A survey of several questions. fldp survey check FILE finds mistakes, fldp survey create FILE publishes it.\n",
    ...lines(texts),
    ...questions.flatMap((asked) => ["\n[[questions]]\n", ...lines(asked)]),
    ...(tables ? ["\n[tables]\n", ...lines(tables)] : []),
    "\n[oracle]\n",
    ...lines(oracle),
    "\n[collect]\n",
    ...lines(collect),
  ].join("");
}
