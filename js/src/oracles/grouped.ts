/** Grouped: the group of a value in clear, the value inside its group by another oracle. */

import { pack, unpack } from "../data/packing.js";
import { MAX_GROUPS, MAX_VALUES } from "../support/constants.js";
import { fail } from "../support/errors.js";
import {
  bitLength,
  type Fields,
  flag,
  integer,
  Oracle,
  type OracleClass,
  positive,
  type Report,
  settleExposure,
} from "./base/oracle.js";
import { HRR } from "./flexible/fwr.js";
import { GRR, RR } from "./plain/grr.js";
import { HR } from "./plain/hadamard_response.js";
import { PGR } from "./plain/pgr.js";
import { SS } from "./plain/subset_selection.js";
import { byteWidths, OUE, SUE } from "./plain/unary.js";

const BASES: readonly OracleClass[] = [GRR, HR, HRR, OUE, PGR, RR, SS, SUE];
const size = integer(1, MAX_VALUES);
const isSizes = (value: unknown): boolean =>
  Array.isArray(value) && value.length >= 2 && value.length <= MAX_GROUPS && value.every(size.check);
const total = (sizes: readonly number[]): number => sizes.reduce((sum, one) => sum + one, 0);

/** The oracle of one value: nothing to report. */
class Single extends Oracle {
  static override readonly id = "single";
  static override readonly rules = { epsilon: positive, domain_size: integer(1, 1) };
  readonly words = 0;
  readonly widths = [];

  override perturb(): Report {
    return [];
  }

  override likely(): () => number {
    return () => 1;
  }
}

/** A group: its first value, its oracle, and its number with the widths of its report. */
interface Group {
  readonly start: number;
  readonly oracle: Oracle;
  readonly number: number;
  readonly widths: readonly number[];
}

/**
 * The paper's simplest FLDP: a report names the group of its value in clear, and hides the value inside the group.
 *
 * It is weak: values of different groups are not protected at all, so eta is 0.
 */
export class Grouped extends Oracle {
  static override readonly id = "grouped";
  static override readonly rules = {
    epsilon: positive,
    domain_size: integer(0, MAX_VALUES, 0),
    base: {
      rule: `one of ${BASES.map(({ id }) => id)}`,
      check: (value: unknown) => BASES.some(({ id }) => id === value),
    },
    groups: {
      rule: `2 to ${MAX_GROUPS} sizes, of at most ${MAX_VALUES} values in all`,
      check: (value: unknown) => isSizes(value) && total(value as number[]) <= MAX_VALUES,
    },
    allow_exposure: flag,
  };
  override eta = 0;
  declare readonly words: number;
  declare readonly widths: readonly number[];
  readonly #groups: readonly Group[];

  constructor(fields: Fields) {
    super(fields);
    const sizes = this.settings.groups as readonly number[];
    if (![0, total(sizes)].includes(this.domainSize)) {
      throw fail(this.name, "groups", `of ${this.domainSize} values in all`, sizes);
    }
    this.settings.domain_size = total(sizes);
    this.anonymity = Math.min(...sizes);
    settleExposure(this);
    if (Math.max(...sizes) === 1) throw fail(this.name, "groups", "of more than one value, one of them", sizes);
    this.#groups = this.#groupsOf(sizes);
    this.words = Math.max(...this.#groups.map(({ oracle }) => oracle.words));
    this.widths = byteWidths(Math.max(...this.#groups.map(({ widths }) => total(widths))));
  }

  #groupsOf(sizes: readonly number[]): Group[] {
    const Base = BASES.find(({ id }) => id === this.settings.base) as OracleClass;
    const bits = bitLength(sizes.length - 1);
    const oracles = new Map<number, Oracle>();
    let start = 0;
    return sizes.map((domain_size, number) => {
      const Kind = domain_size === 1 ? Single : Base;
      const oracle = oracles.get(domain_size) ?? new Kind({ epsilon: this.epsilon, domain_size });
      oracles.set(domain_size, oracle);
      start += domain_size;
      return { start: start - domain_size, oracle, number, widths: [bits, ...oracle.widths] };
    });
  }

  /** The number of the group and the base's report, as bytes, filled up with zeros. */
  override perturb(value: number, words: DataView): Report {
    const { start, oracle, number, widths } = this.#groups.filter((group) => group.start <= value).pop() as Group;
    const inside = oracle.perturb(value - start, new DataView(words.buffer, words.byteOffset, 8 * oracle.words));
    const packed = pack(widths, [[number, ...inside]]);
    return this.widths.map((_, k) => packed[k] ?? 0);
  }

  override check(report: Report): boolean {
    const parts = this.#split(report);
    return !!parts && parts.group.oracle.check(parts.inside);
  }

  override likely(report: Report): (value: number) => number {
    const { group, inside } = this.#split(report) as { group: Group; inside: Report };
    const { start, oracle } = group;
    const likely = oracle.likely(inside);
    return (value) => (oracle.holds(value - start) ? likely(value - start) : 0);
  }

  /** Return the group of a report and the base's report; null if there is none, or it is not filled up with 0. */
  #split(report: Report): { group: Group; inside: Report } | null {
    const bytes = Uint8Array.from(report as number[]);
    const group = this.#groups[bytes[0] & ((1 << bitLength(this.#groups.length - 1)) - 1)];
    const used = group ? Math.ceil(total(group.widths) / 8) : 0;
    const reports = used ? unpack(group.widths, bytes, 1) : null;
    return reports && bytes.subarray(used).every((byte) => !byte) ? { group, inside: reports[0].slice(1) } : null;
  }
}
