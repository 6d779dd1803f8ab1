/** Survey: a question, its labels, an oracle, the rules of collecting, and the version that is the hash of it all. */
import { identifier } from "./canonical.js";
import { CollectorError, DomainError, WireError, fail, shown } from "./errors.js";
import { exchange } from "./exchange.js";
import { type Fields, MOST_VALUES, type Oracle, type OracleClass } from "./oracle.js";
import { type Address, addressOf } from "./origin.js";
import { build } from "./wire.js";

const FORMAT = "fldp-survey-1";
const NAME = /^[a-z0-9]([a-z0-9_-]{0,62}[a-z0-9])?$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/; // times are compared as text
const ODD = /(?!\n)[\p{Cc}\p{Cs}]|^[^\S\uFEFF]|[^\S\uFEFF]$/u; // controls, halves of characters, blanks at an end
const TEXTS = ["name", "topic", "question", "title", "description"];
const KEYS = [...TEXTS, "labels", "domain_size", "oracle", "collect", "format"];

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
}

const COLLECT: Collect = { submit: "open", origins: [], opens: null, closes: null, retention: "raw", minimum: 100 };

function require(good: unknown, name: string, rule: string, value: unknown): asserts good {
  if (!good) throw fail("survey", name, rule, value);
}

/** Return a table, with no other keys than these. */
function table(thing: unknown, name: string, keys: readonly string[]): Fields {
  require(typeof thing === "object" && thing && !Array.isArray(thing), name, "a table", thing);
  for (const key of Object.keys(thing)) require(keys.includes(key), `a key of ${name}`, `one of ${keys}`, key);
  return thing as Fields;
}

function isText(value: unknown, most: number): value is string {
  return typeof value === "string" && value !== "" && [...value].length <= most && !ODD.test(value);
}

/** Check labels or the number of values, and return that number. */
function sizeOf({ labels, domain_size }: Fields): unknown {
  if (labels === undefined) return domain_size;
  const good = (label: unknown): boolean => isText(label, 200) && !label.includes("\n");
  const listed = Array.isArray(labels) && domain_size === undefined && labels.every(good) ? labels : [];
  const different = new Set(listed.map((label) => label.normalize())).size;
  require(different && different === listed.length, "labels", "different texts of 1 to 200 characters", labels);
  return different;
}

/**
 * Check of a specification what concerns the person, and return its canonical form, with the oracle.
 *
 * Rules that only the collector keeps, such as the origins of pages, are part of the version as they are.
 */
function checked(given: unknown, oracles: readonly OracleClass[]): [Fields, Oracle] {
  const fields = table(given, "survey", KEYS);
  const { name, topic = name, format = FORMAT, collect: rules = {} } = fields;
  require(format === FORMAT, "format", FORMAT, format);
  for (const key of TEXTS) {
    const needed = key in fields || key === "name" || key === "question";
    require(!needed || isText(fields[key], 2000), key, "a text of 1 to 2000 characters", fields[key]);
  }
  require(NAME.test(name as string) && NAME.test(topic as string), "name and topic", "plain words", [name, topic]);
  const { derive = false, ...rest } = table(rules, "collect", [...Object.keys(COLLECT), "derive"]);
  const collect = { ...COLLECT, ...rest, ...(derive !== false && { derive }) } as Collect;
  require(/^(open|token|ticket)$/.test(collect.submit), "submit", "open, token or ticket", collect.submit);
  const times = [collect.opens, collect.closes].every((time) => time === null || TIME.test(time));
  require(times, "opens and closes", "such as 2026-11-01T00:00:00Z", collect);
  const oracle = build({ ...(fields.oracle as Fields), domain_size: sizeOf(fields) }, oracles);
  const good = derive === true && collect.submit === "ticket" && oracle.derive;
  require(derive === false || good, "derive", "false, or for tickets and plain LDP with masks or seeds", derive);
  require(oracle.reportBits <= MOST_VALUES, "a report", `at most ${MOST_VALUES} bits long`, oracle.reportBits);
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
  declare readonly collect: Collect;
  readonly oracle: Oracle;
  /** The identifier of exactly this survey, computed here. */
  readonly version: string;
  /** The canonical form of all that the version is computed from. */
  readonly specification: Fields;
  /** What the collector says: `open`, or why it is not. */
  readonly state: string;
  readonly origin: string;
  readonly path: string;

  private constructor(specification: Fields, oracle: Oracle, version: string, address: Address, state: string) {
    const fields = { title: null, description: null, labels: null, topic: specification.name, ...specification };
    Object.assign(this, fields); // the texts, the labels and the rules; what must not come from there follows
    this.oracle = oracle;
    this.version = version;
    this.specification = specification;
    this.state = state;
    this.origin = address.origin;
    this.path = address.path;
  }

  /**
   * Make a survey from what its JSON says, for the collector at `url`. Nothing of it is believed: it is checked, and
   * its version is computed anew. If `version` is given and differs, it is refused.
   */
  static async of(
    specification: unknown,
    url: string,
    oracles: readonly OracleClass[],
    { version, state = "open" }: { version?: string; state?: string } = {},
  ): Promise<Survey> {
    const [canonical, oracle] = checked(JSON.parse(JSON.stringify(specification) ?? "null"), oracles);
    const made = await identifier(canonical);
    if (version !== undefined && version !== made) {
      throw new WireError(`survey: the version of ${canonical.name} must be ${made}, got ${shown(version)}`);
    }
    return new Survey(canonical, oracle, made, addressOf(url), state);
  }

  /** Return the value of a label. */
  encode(label: string): number {
    const value = this.labels ? this.labels.indexOf(label) : Number(label);
    if (!(value >= 0 && value < this.oracle.domainSize && this.label(value) === label)) {
      throw new DomainError(`survey ${this.name}: labels must be ones of the survey, got ${shown(label)}`);
    }
    return value;
  }

  /** Return the label of a value. */
  label(value: number): string {
    return this.labels ? this.labels[value] : String(value);
  }
}

/**
 * Fetch a survey by its name from the collector at `url`, and refuse one that is not what its version says.
 *
 * `oracles` are those that may be asked for; only they end up in a bundle. `every` is all of them.
 */
export async function load(
  url: string,
  name: string,
  oracles: readonly OracleClass[],
  { version }: { version?: string } = {},
): Promise<Survey> {
  const address = addressOf(url);
  require(typeof name === "string" && NAME.test(name), "name", "the name of a survey", name);
  const query = version === undefined ? "" : `?version=${encodeURIComponent(version)}`;
  const { survey, version: claimed, state } = Object(await exchange(address, `/v1/surveys/${name}${query}`));
  if (survey?.name !== name || (version ?? claimed) !== claimed) {
    throw new CollectorError(`${address.origin}: the answer is not about survey ${name}`);
  }
  return Survey.of(survey, url, oracles, { version: String(claimed), state });
}
