/** Number: what a number may be, and the cells in order that it is counted in, as in `fldp/data/scale.py`. */

import type { Fields } from "../oracles/base/oracle.js";
import { wordOf } from "../oracles/base/oracle.js";
import { randomWords } from "../randomness/random.js";
import { MAX_WAVE } from "../support/constants.js";
import { fail } from "../support/errors.js";
import type { Round } from "./search_round.js";

const KEYS = ["low", "high", "bins", "edges", "apart", "unit", "goal", "outside"];
const NUMBER = /^[ \t]*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?[ \t]*$/;

/** What lies from the first number up to the second; a single value where they are equal. */
type Cell = readonly [number, number];

/** A scale of numbers: a question whose values are cells. */
export interface Scale extends Round {
  readonly low: number;
  readonly high: number;
  readonly unit?: string;
  readonly goal: string;
  readonly cells: readonly Cell[];
  /** The table of the survey, with everything that follows from defaults. */
  readonly table: Fields;
  label(cell: number): string;
}

function require(good: unknown, name: string, rule: string, value: unknown): void {
  if (!good) throw fail("number", name, rule, value);
}

const finite = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);
const rising = (list: readonly number[]): boolean => list.every((x, k) => k === 0 || list[k - 1] < x);
const short = (x: number): string => String(Number(x.toPrecision(6)));

/** Return the ends of equal parts of a range. */
const even = (low: number, high: number, parts: number): number[] =>
  Array.from({ length: parts + 1 }, (_, k) => (k === parts ? high : low + k * ((high - low) / parts)));

/** Return the table with its defaults, or refuse it. */
function checked(declared: unknown): Fields {
  const table = Object(declared) as Fields;
  for (const key of Object.keys(table)) require(KEYS.includes(key), "a key", `one of ${KEYS}`, key);
  const { low, high, goal = "distribution", outside = "clamp", edges, unit } = table;
  const isMean = goal === "mean";
  const { bins = edges === undefined ? (isMean ? 256 : 32) : undefined, apart = [] } = table;
  const isRange = finite(low) && finite(high) && low < high && finite(high - low);
  require(isRange, "high", "above low, both finite", [low, high]);
  require(isMean || goal === "distribution", "goal", "distribution or mean", goal);
  require(outside === "clamp" || outside === "refuse", "outside", "clamp or refuse", outside);
  const isUnit = unit === undefined || (typeof unit === "string" && unit.trim() && [...unit].length <= 20);
  require(isUnit && !/[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u.test(String(unit)), "unit", "a short text in one line", unit);
  const [from, to] = [low as number, high as number];
  const own = Array.isArray(edges) && edges.every(finite) && rising(edges) ? edges : null;
  const isBins = Number.isInteger(bins) && (bins as number) >= 3 && (bins as number) <= MAX_WAVE;
  require(edges === undefined ? isBins && rising(even(from, to, bins as number)) : own, "bins", "3 to 4096", bins);
  if (own) {
    const isLong = own.length > 3 && own.length <= MAX_WAVE + 1 && own[0] === from && own[own.length - 1] === to;
    require(isLong && table.bins === undefined && !isMean, "edges", "rising numbers from low to high", edges);
  }
  const list = Array.isArray(apart) && apart.every(finite) ? [...apart].sort((a, b) => a - b) : null;
  const isInside =
    list && rising(list) && (!list.length || (!isMean && list[0] >= from && list[list.length - 1] <= to));
  require(isInside, "apart", "different numbers from low to high", apart);
  const kept = { bins, edges, unit, apart: list?.length ? list : undefined };
  return {
    low,
    high,
    goal,
    outside,
    ...Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined)),
  };
}

/** Return the number that the specification of a survey asks for; give it to `load` if numbers are to be answered. */
export function number({ number: declared }: Fields): Scale {
  const table = checked(declared);
  const { low, high, bins, edges, goal, unit } = table as {
    low: number;
    high: number;
    bins: number;
    edges?: number[];
    goal: string;
    unit?: string;
  };
  const apart = (table.apart ?? []) as number[];
  const isMean = goal === "mean";
  const ends = edges ?? even(low, high, bins);
  const last = ends.length - 2;
  const binOf = (x: number): number =>
    Math.min(edges ? edges.filter((end) => end <= x).length - 1 : Math.floor(((x - low) / (high - low)) * bins), last);
  const splits = ends.map(() => [] as number[]);
  for (const x of apart) splits[binOf(x) + Number(x >= ends[binOf(x) + 1])].push(x);
  // Of each bin: its first cell, the values apart before that, and how many more a number in it may be above.
  const spans: [number, number, number][] = [];
  let cells: Cell[] = [];
  let [start, passed] = [low, 0];
  for (const [place, inside] of splits.entries()) {
    const edge = Math.min(ends[place], ...inside); // doubles may put a value apart into the bin that it lies just below,
    const at = Number(inside[0] === edge);
    if (place) {
      cells.push([start, edge]);
      spans[place - 1][2] += at; // and leave a number above it in the bin before
    }
    spans.push([cells.length + at, passed + at, inside.length - at]);
    passed += inside.length;
    start = edge;
    for (const x of inside) {
      if (x > start) cells.push([start, x]);
      cells.push([x, x]);
      start = x;
    }
  }
  if (isMean) cells = even(low, high, bins - 1).map((x) => [x, x]);
  require(cells.length >= 3 && cells.length <= MAX_WAVE, "bins", "3 to 4096 with the cells of apart", cells.length);

  /** Return one of the two neighbouring points by chance, the nearer the likelier, so that the mean is kept. */
  function rounded(x: number): number {
    const place = ((x - low) / (high - low)) * (bins - 1);
    const whole = Math.min(Math.floor(place), bins - 2);
    const chance = Number(wordOf(randomWords(1), 0) >> 11n) * 2 ** -53;
    return whole + Number(chance < place - whole);
  }

  return {
    ...{ low, high, unit, goal, cells, table },
    size: cells.length,
    set: { number: table },
    before: () => [],
    /** The cell of a number; one outside the range counts as its nearest end, since the collector chooses the range. */
    read(text) {
      const parsed = NUMBER.test(text) && text.length <= 400 ? Number(text) : NaN;
      if (!Number.isFinite(parsed)) return -1;
      const x = Math.min(Math.max(parsed, low), high);
      if (isMean) return rounded(x);
      const single = cells.reduce((at, [start, end], k) => (start === x && end === x ? k : at), -1); // all are looked at
      const [first, earlier, most] = spans[binOf(x)];
      const before = apart.filter((other) => other < x).length - earlier;
      return single < 0 ? first + 2 * Math.min(Math.max(0, before), most) : single; // beyond the cells it would be refused
    },
    label(cell) {
      const [start, end] = cells[cell];
      const written = unit ? `${short(end)} ${unit}` : short(end);
      return start === end ? written : `${short(start)} to ${written}`;
    },
  };
}
