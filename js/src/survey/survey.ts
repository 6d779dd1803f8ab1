/** Survey: a question, its labels, an oracle, the rules of collecting, and the version that is the hash of it all. */

import type { Value } from "../data/reports.js";
import type { AskedQuestion, Fields, Oracle, OracleClass } from "../oracles/base/oracle.js";
import { identifier } from "../support/canonical_json.js";
import {
  ISSUER_KEY_LENGTH,
  LANGUAGE,
  MAX_LABEL,
  MAX_LABELS,
  MAX_MINIMUM,
  MAX_TEXT,
  MAX_VALUES,
  RELEASES,
  SURVEY_FORMAT,
  SURVEY_NAME,
} from "../support/constants.js";
import { DomainError, fail, shown, WireError } from "../support/errors.js";
import { type Address, addressOf, isOrigin } from "../support/web_origin.js";
import { build } from "../wire/encode.js";
import type { Scale } from "./number_scale.js";
import type { Round } from "./search_round.js";

const ODD = /(?!\n)[\p{Cc}\p{Cs}]|^[^\S\uFEFF]|[^\S\uFEFF]$/u; // controls, halves of characters, blanks at an end
const TEXTS = ["topic", "title", "description", "language"];
const DOMAINS = ["labels", "domain_size", "domain", "number"];
const KEYS = ["name", ...TEXTS, "oracle", "collect", "format"];
const TIME = "a time like 2026-11-01T00:00:00Z";
const FORMS: Record<string, RegExp | undefined> = { topic: SURVEY_NAME, language: LANGUAGE };

/** Makes rounds of searches: `search`, where they are to be answered. */
export type Searching = (specification: Fields) => Round;

/** Makes scales of numbers: `number`, where they are to be answered. */
export type Numbering = (specification: Fields) => Scale;

/** What a survey may ask for besides labels, numbers of values and strings. */
export interface Kinds {
  readonly search?: Searching;
  readonly number?: Numbering;
}

/** Who may answer when, and what the collector keeps. */
export interface Collect {
  readonly submit: "open" | "token" | "ticket" | "pass";
  readonly origins: readonly string[];
  readonly opens: string | null;
  readonly closes: string | null;
  readonly retention: "raw" | "tally";
  readonly minimum: number;
  /** Whether tickets decide the masks or the hash seed of a report; left out where they do not. */
  readonly derive?: true;
  /** Where reports come with passes: the key that signs them, and who has it, if that is not the collector. */
  readonly issuer_key?: string;
  readonly issuer?: string;
  /** How often a person may answer: daily from what was kept the first time, weekly or monthly; left out: once. */
  readonly repeat?: "daily" | "weekly" | "monthly";
  /** Whether reports come through a relay only; left out where they need not. */
  readonly oblivious?: true;
  /** How many more reports it takes before those who read see them; left out where they see every report. */
  readonly release?: number;
}

const COLLECT: Collect = { submit: "open", origins: [], opens: null, closes: null, retention: "raw", minimum: 100 };
const LEFT_OUT: Fields = { repeat: "once", derive: false, oblivious: false }; // older versions do not name them

const RULES = [...Object.keys(COLLECT), ...Object.keys(LEFT_OUT), "release", "issuer_key", "issuer"];

function require(good: unknown, name: string, rule: string, value: unknown): asserts good {
  if (!good) throw fail("survey", name, rule, value);
}

/** Require a text of a form; the pattern is the rule. */
export function requireForm(pattern: RegExp, name: string, value: unknown): void {
  require(typeof value === "string" && pattern.test(value), name, `like ${pattern}`, value);
}

/** Return a table, with no other keys than these. */
function table(fields: unknown, name: string, keys: readonly string[]): Fields {
  require(Object(fields) === fields && !Array.isArray(fields), name, "a table", fields);
  for (const key of Object.keys(fields as Fields))
    require(keys.includes(key), `a key of ${name}`, `one of ${keys}`, key);
  return fields as Fields;
}

function isText(value: unknown, most: number): value is string {
  return typeof value === "string" && value !== "" && [...value].length <= most && !ODD.test(value);
}

/** Check the texts of a survey; a name is needed, and a question where there is one. */
function checkTexts(fields: Fields): void {
  requireForm(SURVEY_NAME, "name", fields.name);
  for (const key of ["question", ...TEXTS]) {
    const value = fields[key];
    if (value === undefined && (key !== "question" || fields.questions !== undefined)) continue;
    const form = FORMS[key];
    if (form) requireForm(form, key, value);
    else require(isText(value, MAX_TEXT), key, `a text of 1 to ${MAX_TEXT} characters`, value);
  }
}

/** Check labels, the number of values, or that they are strings, and return that number, if there is one. */
function sizeOf(fields: Fields): unknown {
  const present = DOMAINS.filter((key) => key in fields);
  const { labels, domain_size, domain = "strings" } = fields;
  require(present.length === 1 && domain === "strings", "domain", "labels, domain_size or strings", present);
  if (labels === undefined) return domain_size;
  const isLabel = (label: unknown): boolean => isText(label, MAX_LABEL) && !label.includes("\n");
  const texts = Array.isArray(labels) && labels.every(isLabel) ? labels : [];
  const different = new Set(texts.map((label) => label.normalize())).size;
  const isList = different > 1 && different === texts.length && different <= MAX_LABELS;
  require(isList, "labels", `2 to ${MAX_LABELS} different texts of 1 to ${MAX_LABEL} characters`, labels);
  return different;
}

const isWhole = (value: unknown, low: number, high: number): boolean =>
  Number.isInteger(value) && (value as number) >= low && (value as number) <= high;

/** Whether this is no time, or one in the form that is compared as text. */
const isTime = (time: string | null): boolean =>
  time === null || (time > "1970" && new Date(time).toJSON() === String(time).replace("Z", ".000Z"));

/** Check the rules of collecting, and return all of them. */
function checkCollect(fields: Fields, oracle: Oracle): Collect {
  const rules = Object.entries(table(fields, "collect", RULES)).filter(([rule, value]) => value !== LEFT_OUT[rule]);
  const collect: Collect = { ...COLLECT, ...Object.fromEntries(rules) };
  const { submit, opens, closes, release = RELEASES[0], repeat, derive, oblivious, issuer, issuer_key } = collect;
  const need = (good: boolean, rule: keyof Collect, words: string): void =>
    require(good, `collect.${rule}`, words, collect[rule]);
  const oneOf = (rule: keyof Collect, ...names: unknown[]): void =>
    need(names.includes(collect[rule]), rule, `one of ${names}`);
  const isPass = submit === "pass";
  const isKey =
    typeof issuer_key === "string" && issuer_key.length === ISSUER_KEY_LENGTH && /^[\w-]+$/.test(issuer_key);
  oneOf("submit", "open", "token", "ticket", "pass");
  oneOf("retention", "raw", "tally");
  need(isWhole(collect.minimum, 1, MAX_MINIMUM), "minimum", `an integer from 1 to ${MAX_MINIMUM}`);
  need(isWhole(release, RELEASES[0], RELEASES[1]), "release", `an integer from ${RELEASES.join(" to ")}`);
  need(Array.isArray(collect.origins) && collect.origins.every(isOrigin), "origins", "a list of origins");
  need(isTime(opens), "opens", TIME);
  need(isTime(closes) && !(opens && closes && opens >= closes), "closes", `${TIME} after it opens`);
  if (repeat !== undefined) oneOf("repeat", "once", ...(isPass ? [] : ["weekly", "monthly", oracle.collects.repeat]));
  if (derive !== undefined) oneOf("derive", false, (isPass || submit === "ticket") && oracle.collects.derive);
  if (oblivious !== undefined) oneOf("oblivious", false, true);
  need(isPass ? isKey : issuer_key === undefined, "issuer_key", "an issuer's key, with passes alone");
  need(issuer === undefined || (isPass && isOrigin(issuer)), "issuer", "an origin, with passes alone");
  return collect;
}

/** A survey that was checked: its canonical form, its oracle, and its round of a search. */
interface Checked {
  readonly specification: Fields;
  readonly oracle: Oracle;
  readonly round?: Round;
  readonly scale?: Scale;
  readonly questions: readonly AskedQuestion[] | null;
}

/** Check a specification. */
function checked(thing: unknown, oracles: readonly OracleClass[], { search, number }: Kinds): Checked {
  const more = [search && "search", number && "number"].filter((key) => key !== undefined);
  const isSeveral = Object(thing).questions !== undefined;
  const own = isSeveral ? ["questions", "tables"] : ["question", ...DOMAINS.slice(0, 3), ...more];
  const { tables, ...fields } = table(thing, "survey", [...KEYS, ...own]);
  const { format = SURVEY_FORMAT, collect = {} } = fields;
  require(format === SURVEY_FORMAT, "format", SURVEY_FORMAT, format);
  checkTexts(fields);
  const several = oracles.find((each) => each.several)?.several;
  const checks = { table, isText, sizeOf, number };
  const questions = isSeveral ? (several?.({ tables, ...fields }, checks) ?? null) : null;
  const size = questions ? undefined : sizeOf(fields);
  const scale = fields.number === undefined ? undefined : number?.(fields);
  const round = (fields.search === undefined ? undefined : search?.(fields)) ?? scale; // a search refuses numbers
  const { name, domain_size } = Object(fields.oracle) as Fields;
  require(domain_size === undefined, "oracle.domain_size", "left out: the survey has it", domain_size);
  const isRecord = scale && scale.goal !== "mean" && name === "sampled"; // a number is a record of one answer
  require(!scale || isRecord || name === "wave", "oracle.name", "sampled, or wave where a mean is asked for", name);
  const answers = isRecord ? [scale.size] : questions?.map(({ size }) => size);
  const values = answers ? { answers } : { domain_size: round?.size ?? size };
  const oracle = build({ ...(fields.oracle as Fields), ...values }, oracles);
  require(!questions || oracle.pinned, "oracle", "one of several questions", oracle.name);
  require(oracle.reportBits <= MAX_VALUES, "a report", `at most ${MAX_VALUES} bits`, oracle.reportBits);
  const { domain_size: _, ...description } = oracle.pinned ?? oracle.description;
  const rules = checkCollect(collect as Fields, oracle);
  require(!(fields.search && rules.repeat), "collect.repeat", "once in a search", rules.repeat);
  require(!(fields.search && rules.submit === "pass"), "collect.submit", "other than pass in a search", rules.submit);
  const pinned = scale && { number: scale.table };
  const asked = questions && { questions: questions.map(({ fields }) => fields) };
  const drawn = Object(tables).ask === "drawn" && { tables }; // all questions are asked unless a survey says otherwise
  const specification = { ...fields, ...pinned, ...asked, ...drawn, format, oracle: description, collect: rules };
  return { specification, oracle, round, scale, questions };
}

/** A survey, as the person's device sees it; `Survey.of` and `load` make them. */
export class Survey implements Address {
  declare readonly name: string;
  declare readonly question: string;
  declare readonly title: string | null;
  declare readonly description: string | null;
  /** What answers are counted under in the ledger: the survey's topic, or its name. */
  declare readonly topic: string;
  /** The tag of the language of its texts, where it is declared. */
  declare readonly language?: string;
  declare readonly labels: readonly string[] | null;
  /** `strings`, where any string may be answered. */
  declare readonly domain: string | null;
  declare readonly collect: Collect;
  declare readonly oracle: Oracle;
  /** The questions, where there are several. */
  declare readonly questions: readonly AskedQuestion[] | null;
  /** The round of a search that it asks, where it does. */
  declare readonly round?: Round;
  /** Where a number is asked for: its range, its unit and its cells. */
  declare readonly scale?: Scale;
  /** The identifier of exactly this survey, computed here. */
  declare readonly version: string;
  /** The canonical form of all that the version is computed from. */
  declare readonly specification: Fields;
  /** What the collector says: `open`, or why it is not. */
  declare readonly state: string;
  declare readonly origin: string;
  declare readonly path: string;

  private constructor(checked: Checked, own: Fields) {
    const { specification } = checked;
    const names = checked.questions?.map(({ name }) => name).join(", ");
    const question = names && (specification.title ?? `${checked.questions?.length} questions: ${names}`);
    const fields = { title: null, description: null, labels: null, domain: null, topic: specification.name, question };
    Object.assign(this, fields, specification, checked, own); // what must not come from the specification is last
  }

  /**
   * Make a survey from what its JSON says, for the collector at `url`. Nothing of it is believed: it is checked, and
   * its version is computed anew. If `version` is given and differs, it is refused.
   */
  static async of(
    specification: unknown,
    url: string,
    oracles: readonly OracleClass[],
    { version, state = "open", ...kinds }: { version?: string; state?: string } & Kinds = {},
  ): Promise<Survey> {
    const parts = checked(JSON.parse(JSON.stringify(specification ?? null)), oracles, kinds);
    const computed = await identifier(parts.specification);
    const survey = new Survey(parts, { version: computed, state, ...addressOf(url) });
    if ((version ?? computed) === computed) return survey;
    throw new WireError(`survey: the version of ${survey.name} must be ${computed}, got ${shown(version)}`);
  }

  /** Whether a person is asked only the questions that the report is about, which chance chooses first. */
  get asksLess(): boolean {
    return Object(this.specification.tables).ask === "drawn";
  }

  /** Return the value of a label, or what is no value. No label is found sooner: the collector orders them. */
  async find(label: string): Promise<Value> {
    return this.labels
      ? this.labels.reduce((last, other, value) => (other === label ? value : last), -1)
      : (this.round ?? this.oracle).read(label);
  }

  /** Return the value of a label; of a string, where those are asked for, its fingerprint. */
  async encode(label: string): Promise<Value> {
    const value = await this.find(label);
    if (this.oracle.holds(value)) return value;
    throw new DomainError(`survey ${this.name}: unknown label (not shown)`);
  }

  /** Return the label of a value. */
  label(value: number): string {
    return this.labels ? this.labels[value] : (this.scale?.label(value) ?? String(value));
  }
}
