/** Survey: a question, its labels, an oracle, the rules of collecting, and the version that is the hash of it all. */

import { exchange } from "../client/retry.js";
import {
  type Fields,
  MAX_VALUES,
  type Oracle,
  type OracleClass,
  type Round,
  type Value,
} from "../oracles/base/oracle.js";
import { identifier } from "../support/canonical_json.js";
import { CollectorError, DomainError, fail, shown, WireError } from "../support/errors.js";
import { type Address, addressOf } from "../support/web_origin.js";
import { build } from "../wire/encode.js";

const FORMAT = "fldp-survey-1";
const NAME = /^[a-z0-9]([a-z0-9_-]{0,62}[a-z0-9])?$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/; // times are compared as text
const ODD = /(?!\n)[\p{Cc}\p{Cs}]|^[^\S\uFEFF]|[^\S\uFEFF]$/u; // controls, halves of characters, blanks at an end
const TEXTS = "name topic question title description".split(" ");
const KEYS = [...TEXTS, ..."labels domain_size domain oracle collect format".split(" ")];

/** Makes rounds of searches: `search`, where they are to be answered. */
export type Searching = (specification: Fields) => Round;

/** Oracles that a survey may use, or what finds them for a specification, of which nothing was checked yet. */
export type Offered = readonly OracleClass[] | ((specification: Fields) => Promise<readonly OracleClass[]>);

/** Who may answer when, and what the collector keeps. */
export interface Collect {
  readonly submit: "open" | "token" | "ticket";
  readonly origins: readonly string[];
  readonly opens: string | null;
  readonly closes: string | null;
  readonly retention: "raw" | "tally";
  readonly minimum: number;
  /** Whether tickets decide the masks or the hash seed of a report; left out where they do not. */
  readonly derive?: true;
  /** Whether a person may answer once a day, from what was kept the first time; else once. */
  readonly repeat?: "daily";
}

const COLLECT: Collect = { submit: "open", origins: [], opens: null, closes: null, retention: "raw", minimum: 100 };
const KNOWN = [...Object.keys(COLLECT), "repeat", "derive"];
const USUAL: readonly unknown[] = ["once", false]; // of the last two, which are then left out

function require(good: unknown, name: string, rule: string, value: unknown): asserts good {
  if (!good) throw fail("survey", name, rule, value);
}

/** Return a table, with no other keys than these. */
function table(thing: unknown, name: string, keys: readonly string[]): Fields {
  require(Object(thing) === thing && !Array.isArray(thing), name, "a table", thing);
  for (const key of Object.keys(thing as Fields)) require(keys.includes(key), "a key", `one of ${keys}`, key);
  return thing as Fields;
}

function isText(value: unknown, most: number): value is string {
  return typeof value === "string" && value !== "" && [...value].length <= most && !ODD.test(value);
}

/** Check labels, the number of values, or that they are strings, and return that number, if there is one. */
function sizeOf({ labels, domain_size, domain }: Fields): unknown {
  const one = [labels, domain_size, domain].filter((part) => part !== undefined).length === 1;
  require(one && (domain === undefined || domain === "strings"), "domain", "labels, size or strings", domain);
  if (labels === undefined) return domain_size;
  const good = (label: unknown): boolean => isText(label, 200) && !label.includes("\n");
  const listed = Array.isArray(labels) && labels.every(good) ? labels : [];
  const different = new Set(listed.map((label) => label.normalize())).size;
  require(different && different === listed.length, "labels", "different texts", labels);
  return different;
}

/**
 * Check of a specification what concerns the person, and return its canonical form, with the oracle.
 *
 * Rules that only the collector keeps, such as the origins of pages, are part of the version as they are.
 */
function checked(specification: unknown, oracles: readonly OracleClass[], search?: Searching): [Fields, Oracle] {
  const fields = table(specification, "survey", search ? [...KEYS, "search"] : KEYS);
  const { name, topic = name, format = FORMAT, collect: rules = {} } = fields;
  require(format === FORMAT, "format", FORMAT, format);
  for (const key of TEXTS) {
    const needed = key in fields || key === "name" || key === "question";
    require(!needed || isText(fields[key], 2000), key, "a text", fields[key]);
  }
  require(NAME.test(name as string) && NAME.test(topic as string), "name and topic", "plain", [name, topic]);
  const size = sizeOf(fields);
  const round = fields.search === undefined ? undefined : search?.(fields);
  const oracle = build({ ...(fields.oracle as Fields), domain_size: round?.size ?? size }, oracles);
  require(oracle.reportBits <= MAX_VALUES, "reports", "short", oracle.reportBits);
  const given = Object.entries(table(rules, "collect", KNOWN)).filter(([, value]) => !USUAL.includes(value));
  const collect: Collect & Fields = { ...COLLECT, ...Object.fromEntries(given) };
  const fits = given.every(([rule, value]) => rule in COLLECT || oracle.rarely[rule] === value);
  const sends = /^(open|token|ticket)$/.test(collect.submit);
  const times = [collect.opens, collect.closes].every((time) => time === null || TIME.test(time));
  require(fits && sends && times, "collect", "rules", collect);
  Object.assign(oracle, round, collect.derive && { draw: oracle.derive });
  const { domain_size: _, ...description } = oracle.description;
  return [{ ...fields, format, oracle: description, collect }, oracle];
}

/** A survey, as the person's device sees it; `Survey.of` and `load` make them. */
export class Survey implements Address {
  declare readonly name: string;
  declare readonly question: string;
  declare readonly title: string | null;
  declare readonly description: string | null;
  /** What answers are counted under in the ledger: the survey's topic, or its name. */
  declare readonly topic: string;
  declare readonly labels: readonly string[] | null;
  /** `strings`, where any string may be answered. */
  declare readonly domain: string | null;
  declare readonly collect: Collect;
  declare readonly oracle: Oracle;
  /** The identifier of exactly this survey, computed here. */
  declare readonly version: string;
  /** The canonical form of all that the version is computed from. */
  declare readonly specification: Fields;
  /** What the collector says: `open`, or why it is not. */
  declare readonly state: string;
  declare readonly origin: string;
  declare readonly path: string;

  private constructor(specification: Fields, oracle: Oracle, version: string, address: Address, state: string) {
    const fields = { title: null, description: null, labels: null, domain: null, topic: specification.name };
    const own = { oracle, version, specification, state, ...address }; // what must not come from the specification
    Object.assign(this, fields, specification, own);
  }

  /**
   * Make a survey from what its JSON says, for the collector at `url`. Nothing of it is believed: it is checked, and
   * its version is computed anew. If `version` is given and differs, it is refused.
   */
  static async of(
    specification: unknown,
    url: string,
    oracles: readonly OracleClass[],
    { version, state = "open", search }: { version?: string; state?: string; search?: Searching } = {},
  ): Promise<Survey> {
    const [canonical, oracle] = checked(JSON.parse(JSON.stringify(specification ?? null)), oracles, search);
    const made = await identifier(canonical);
    if (version !== undefined && version !== made) {
      throw new WireError(`survey: the version of ${canonical.name} must be ${made}, got ${shown(version)}`);
    }
    return new Survey(canonical, oracle, made, addressOf(url), state);
  }

  /** Return the value of a label, or what is no value. No label is found sooner: the collector orders them. */
  async find(label: string): Promise<Value> {
    return this.labels
      ? this.labels.reduce((found, other, value) => (other === label ? value : found), -1)
      : this.oracle.read(label);
  }

  /** Return the value of a label; of a string, where those are asked for, its fingerprint. */
  async encode(label: string): Promise<Value> {
    const value = await this.find(label);
    if (this.oracle.holds(value)) return value;
    throw new DomainError(`survey ${this.name}: labels must be ones of the survey, got another one (not shown)`);
  }

  /** Return the label of a value. */
  label(value: number): string {
    return this.labels ? this.labels[value] : String(value);
  }
}

/**
 * Fetch a survey by its name from the collector at `url`, and refuse one that is not what its version says.
 *
 * `oracles` are those that may be asked for; only they end up in a bundle. `every` is nearly all of them. Given as a
 * function of what was fetched, they can be imported when a survey needs them.
 */
export async function load(
  url: string,
  name: string,
  oracles: Offered,
  { version, search }: { version?: string; search?: Searching } = {},
): Promise<Survey> {
  const address = addressOf(url);
  require(typeof name === "string" && NAME.test(name), "name", "the name of a survey", name);
  const query = version === undefined ? "" : `?version=${encodeURIComponent(version)}`;
  const { survey, version: claimed, state } = Object(await exchange(address, `/v1/surveys/${name}${query}`));
  if (survey?.name !== name || (version ?? claimed) !== claimed) {
    throw new CollectorError(`${address.origin}: the answer is not about survey ${name}`);
  }
  const offered = typeof oracles === "function" ? await oracles(survey) : oracles;
  return Survey.of(survey, url, offered, { version: String(claimed), state, search });
}
