/**
 * Metrics: what a program declares, as `fldp telemetry export` writes it: every default filled in, and for each metric its
 * survey and the version of that. So nobody asks the network what to send, and no label is written twice.
 */
import { FldpError } from "../bundle_shared.js";
import type { Fields } from "../oracles/base/oracle.js";
import { METRICS_FORMAT } from "../support/constants.js";

export const [UNSET, OTHER, YES, NO] = ["unset", "other", "yes", "no"];
export const MODES: readonly string[] = ["on", "local", "off"];
const APP = /^[a-z0-9_-]+$/; // it names files
const NUMBERS = ["number", "duration"];

/** What a program may do: send, keep values on this device, or neither. */
export type ModeName = "on" | "local" | "off";

/** What is recorded of a metric: a number, a flag, or one of its values. */
export type Recorded = number | boolean | string;

/** One metric, with the survey that it is. */
export interface AppMetric {
  readonly name: string;
  readonly kind: string;
  /** How the values of a period become one. */
  readonly take: string;
  readonly edges: readonly number[];
  readonly weight: number;
  readonly why: string;
  readonly owner: string;
  /** The last UTC day on which it is reported. */
  readonly expires: string;
  /** What a report may say; the last one is `unset`. */
  readonly labels: readonly string[];
  readonly survey: Fields;
  readonly version: string;
}

/** All metrics of a program, and where their reports go. */
export interface AppMetrics {
  readonly app: string;
  readonly collector: string;
  readonly relay: string;
  /** `month` or `week`. */
  readonly period: string;
  readonly default: string;
  readonly metrics: readonly AppMetric[];
}

/** Read what `fldp telemetry export` wrote. */
export function metricsOf(exported: unknown): AppMetrics {
  const { format, app, collector, relay = "", period, default: mode, metric, versions, surveys } = Object(exported);
  const texts = [app, collector, relay, period].every((text) => typeof text === "string");
  if (format !== METRICS_FORMAT || !texts || !APP.test(app) || !Object.hasOwn(REPEATS, period) || !surveys)
    throw new FldpError("telemetry: metrics must be the JSON that fldp telemetry export writes");
  const [tables, specified, pinned] = [metric, surveys, versions].map((table) => new Map(Object.entries(table)));
  const metrics = [...tables].map(([name, table]) =>
    metricOf(name, table as Fields, specified.get(name) as Fields, pinned.get(name) as string),
  );
  return { app, collector, relay, period, default: mode, metrics };
}

/** How a survey says a period. */
export const REPEATS: Readonly<Record<string, string>> = { month: "monthly", week: "weekly" };

function metricOf(name: string, table: Fields, survey: Fields, version: string): AppMetric {
  const { kind, take, edges = [], weight, why, owner, expires } = table as Partial<AppMetric>;
  const labels = survey.labels as string[];
  return { name, kind, take, edges, weight, why, owner, expires, labels, survey, version } as AppMetric;
}

/** Whether a metric is a number, which is parted into bins; any other is an attribute that mostly stays. */
export const isNumeric = ({ kind }: AppMetric): boolean => NUMBERS.includes(kind);

/** Return the metrics that are not expired on a UTC day. */
export const active = ({ metrics }: AppMetrics, day: string): AppMetric[] =>
  metrics.filter(({ expires }) => !expires || day <= expires);

/** Return the bin of a number: from one edge on, below the next. */
export const binOf = ({ edges, labels }: AppMetric, number: number): string =>
  labels[edges.filter((edge) => edge <= number).length];

/** Return the label of a recorded value, or nothing if it has none. */
export function labelOf(metric: AppMetric, value: unknown): string | undefined {
  if (metric.kind === "flag") return typeof value === "boolean" ? (value ? YES : NO) : undefined;
  if (isNumeric(metric)) return typeof value === "number" && !Number.isNaN(value) ? binOf(metric, value) : undefined;
  const values = metric.labels.slice(0, -1);
  const text = typeof value === "string" ? value : "";
  const known = metric.kind === "version" ? longestBeginning(values, text) : text;
  return [known, OTHER].find((label) => values.includes(label));
}

/** Return the longest declared version that a version begins with: 2.0.1 begins with 2.0 and with 2. */
function longestBeginning(values: readonly string[], text: string): string {
  const fitting = values.filter((known) => `${text}.`.startsWith(`${known}.`));
  return fitting.reduce((longest, known) => (known.length > longest.length ? known : longest), "");
}
