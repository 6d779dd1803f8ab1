/**
 * View: everything that telemetry knows and has sent, for the person; as data and as text. It is loaded when somebody looks.
 */

import { clock, FldpError, readLedger, spentOn, unhex } from "../bundle_shared.js";
import { addressOf, decode, LWR, monthOf, type Row, type Spent, SS, type Survey } from "../index.js";
import { outcome } from "./aggregates.js";
import { type AppMetric, type AppMetrics, active } from "./metrics.js";
import type { Mode } from "./modes.js";
import { periodOf, SPREAD } from "./periods.js";
import { aggregateIn, type Book, type ReportState } from "./state.js";
import { surveyOf } from "./surveys.js";

/** One report, what became of it, and what it says to whoever reads it. */
export interface ViewedReport {
  readonly period: string;
  readonly metric: string;
  readonly version: string;
  readonly drawn: string;
  readonly due: string;
  readonly state: ReportState;
  readonly sent: string | null;
  readonly said: string | null;
  /** What is sent, as hexadecimal digits. */
  readonly bytes: string;
  readonly says: readonly string[];
}

/** A metric, and what reports of it give away. */
export interface ViewedMetric {
  readonly why: string;
  readonly owner: string;
  readonly expires: string;
  readonly labels: readonly string[];
  readonly survey: string;
  readonly version: string;
  /** The epsilon that is charged: of one report, or once of all that are drawn from what is kept. */
  readonly charged: string;
  readonly gives_away: readonly string[];
}

/** Everything, with the same keys as `fldp telemetry view --json`. */
export interface View {
  readonly app: string;
  readonly mode: string;
  readonly reason: string;
  readonly collector: string;
  readonly relay: string | null;
  readonly files: { readonly state: string; readonly ledger: string };
  readonly period: string;
  readonly values: Readonly<Record<string, { readonly kept: Record<string, number>; readonly would_report: string }>>;
  readonly reports: readonly ViewedReport[];
  readonly silent: readonly { readonly period: string; readonly metric: string | null; readonly why: string }[];
  readonly metrics: Readonly<Record<string, ViewedMetric>>;
  readonly spent: { readonly collector: string; readonly year: string; readonly all: string };
  readonly next: string;
}

/** Return everything as data: of what is stored, and of the ledger's text. */
export async function viewOf(
  metrics: AppMetrics,
  { mode, reason }: Mode,
  files: View["files"],
  book: Book,
  ledger: string | null,
): Promise<View> {
  const { app, collector, relay } = metrics;
  const period = periodOf(metrics.period, clock(10));
  const surveys = new Map<string, Survey>();
  for (const metric of metrics.metrics) surveys.set(metric.name, await surveyOf(metrics, metric));
  const current = book.periods.find((each) => each.period === period) ?? { period };
  const kept = metrics.metrics.map((metric) => [metric, aggregateIn(current, metric.name)] as const);
  const reports: ViewedReport[] = [];
  for (const { key: _, body: bytes, tries: __, sent, said, ...report } of book.reports) {
    const says = await saysOf(surveys.get(report.metric), report.version, bytes);
    reports.push({ ...report, sent: sent || null, said: said || null, bytes, says });
  }
  return {
    app,
    mode,
    reason,
    collector,
    relay: relay || null,
    files,
    period,
    values: Object.fromEntries(
      kept.map(([metric, held]) => [
        metric.name,
        { kept: Object.fromEntries(held), would_report: outcome(metric, held) },
      ]),
    ),
    reports,
    silent: book.periods
      .filter(({ why }) => why)
      .map(({ period, metric = null, why = "" }) => ({ period, metric, why })),
    metrics: Object.fromEntries(
      metrics.metrics.map((metric) => [metric.name, shownMetric(metric, surveys.get(metric.name) as Survey)]),
    ),
    spent: spentText(readLedger(ledger).answers, addressOf(collector).origin),
    next: nextText(metrics, mode),
  };
}

function shownMetric(metric: AppMetric, survey: Survey): ViewedMetric {
  const { why, owner, expires, labels, version } = metric;
  const { epsilon, lastingEpsilon } = survey.oracle;
  const charged = String(lastingEpsilon ?? epsilon);
  return { why, owner, expires, labels, survey: survey.name, version, charged, gives_away: givenAway(survey) };
}

const blind = (size: number): string => `Somebody who knows nothing else guesses the value with probability 1/${size}`;

/** Say what reports of a metric give away: one, all while the value stays, and whatever is reported. */
function givenAway({ oracle, labels }: Survey): string[] {
  const { epsilon, lastingEpsilon } = oracle;
  const size = labels?.length ?? 0;
  const guess = (most: number): string => `with ${(1 / (1 + (size - 1) * Math.exp(-most))).toFixed(3)} at most`;
  const best = `${blind(size)}, and with one report ${guess(epsilon)}`;
  const one =
    `One report: epsilon ${epsilon}, eta 1. It rules out no value for certain, and changes the odds between two values ` +
    `by a factor of at most ${Math.exp(epsilon).toFixed(2)}.`;
  if (!(oracle instanceof LWR)) return [one, `${best}.`, "Each period draws anew, so epsilons of periods add up."];
  return [
    one,
    `${best}; with all reports, while the value stays the same, ${guess(Number(oracle.settings.epsilon_permanent))}.`,
    `All these reports together: epsilon ${oracle.settings.epsilon_permanent}, eta 1, ` +
      `however many. For histories that change alike: epsilon ${lastingEpsilon}.`,
    "No epsilon covers whether a value changes, or when: however long somebody watches, a change shows with " +
      `probability ${oracle.changeVisible.toFixed(3)}.`,
    "A part of each report stays the same: reports of this metric can be recognised as those of one install.",
  ];
}

/** Say what one report says: under which values it is likely, what it rules out, and how well one guesses. */
async function saysOf(survey: Survey | undefined, version: string, bytes: string): Promise<string[]> {
  if (survey?.version !== version)
    return ["The program does not declare this metric any more, so what the report says is not shown."];
  try {
    const { reports } = await decode(unhex(bytes), [LWR, SS]);
    const likely = survey.oracle.likely(reports[0]);
    const labels = survey.labels ?? [];
    const shares = labels.map((_, value) => likely(value));
    const [most, least] = [Math.max(...shares), Math.min(...shares)];
    const named = labels.filter((_, value) => shares[value] > most * (1 - 1e-9));
    const certain = exposure(survey);
    const kept = `It kept epsilon ${survey.oracle.epsilon}, eta 1. ${blind(labels.length)}`;
    if (named.length === labels.length)
      return [`The report is as likely under every value. ${certain}`, `${kept}, with this report and without it.`];
    const times = `${(most / least).toFixed(2)} times as likely if the value is ${named.join(" or ")}`;
    const guess = (most / shares.reduce((sum, share) => sum + share, 0)).toFixed(3);
    return [
      `The report is ${times} than if it is another. ${certain}`,
      `${kept}, and with this report alone with ${guess}.`,
    ];
  } catch (error) {
    if (error instanceof FldpError) return ["The report is damaged."];
    throw error;
  }
}

/** Say what one report gives away for certain. */
function exposure({ oracle }: Survey): string {
  const none = "No report rules out any value for certain.";
  if (!(oracle instanceof LWR)) return none;
  return (
    `${none} All reports of a value that stays keep epsilon ${oracle.settings.epsilon_permanent}. Those of values that ` +
    `change in one pattern keep ${oracle.lastingEpsilon}. No epsilon covers whether a value changes: a change shows with ` +
    `probability ${oracle.changeVisible.toFixed(2)}.`
  );
}

/** Say what all reports gave away: to this collector, in twelve months, and to all. */
function spentText(rows: readonly Row[], origin: string): View["spent"] {
  const here = rows.filter((row) => row.origin === origin);
  const month = monthOf(clock(7));
  const recent = here.filter(({ epoch }) => epoch && month - monthOf(epoch) < 12);
  return { collector: written(spentOn(here)), year: spentOn(recent).epsilon, all: written(spentOn(rows)) };
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

function written({ epsilon, eta, answers, renewing }: Spent): string {
  const together = `epsilon ${epsilon}, eta ${eta}, ${counted(answers, "answer")}`;
  if (!renewing) return together;
  const { epsilon: renewed, months, thisMonth } = renewing;
  const now = thisMonth === "0" ? "nothing" : thisMonth;
  return `${together} (epsilon ${renewed} in ${counted(months, "month")}, ${now} this month)`;
}

function nextText(metrics: AppMetrics, mode: string): string {
  const { period, relay, collector } = metrics;
  if (mode === "off") return "Nothing is stored, and nothing is sent.";
  if (mode === "local") return "Values are kept on this machine, one aggregate for each metric; nothing is sent.";
  const within = SPREAD[period] === 1 ? "a day" : `${SPREAD[period]} days`;
  const lot = active(metrics, clock(10)).map(({ name }) => name);
  const way = relay ? `through ${relay}, which sees who sends but not what` : "directly, so it sees your address";
  return (
    `When the ${period} is over, one of these is drawn by lot: ${lot.join(", ")}. One report of it is drawn at random, ` +
    `and sent within ${within} to ${collector}, ${way}.`
  );
}

/** Return everything in words. */
export function textOf(view: View): string {
  const { spent, metrics } = view;
  const values = Object.entries(metrics).map(([name, { why, owner, expires }]) => {
    const value = view.values[name]?.would_report ?? "nothing is stored";
    return `  ${name}: ${value} (why: ${why}; ${owner}; until ${expires})`;
  });
  const reports = view.reports.flatMap(({ period, metric, sent, state, due, said, bytes, says }) => {
    const taken = state.startsWith("withdr") ? `, ${state}` : "";
    const when = sent ? `sent ${sent}${taken}` : `${state}, due ${due}`;
    const fate = `${when}${said ? ` (${said})` : ""}, ${bytes.length / 2} bytes`;
    return [`  ${period} ${metric}: ${fate}`, ...[...says, bytes].map((line) => `    ${line}`)];
  });
  return [
    `Telemetry of ${view.app}: ${view.mode} (${view.reason})`,
    view.next,
    `Given away so far to ${view.collector}: ${spent.collector}`,
    `Of that in the last twelve months: epsilon ${spent.year}`,
    `Given away so far to all collectors: ${spent.all}`,
    "",
    `This period, ${view.period}:`,
    ...values,
    "",
    `Reports: ${view.reports.length}`,
    ...reports,
    ...view.silent.map(({ period, metric, why }) => `  ${period} ${metric ?? "no metric"}: no report: ${why}`),
    "",
    "What reports give away:",
    ...Object.entries(metrics).map(([name, { gives_away }]) => `  ${name}: ${gives_away.join(" ")}`),
  ].join("\n");
}
