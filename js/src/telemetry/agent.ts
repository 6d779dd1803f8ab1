/**
 * The agent: what runs inside a program. It records in memory, and does all else in the background.
 *
 * When a period is over, one metric is drawn by lot, from the weights alone, also among metrics without a value: which one
 * is reported says nothing about what was recorded. The lot is stored before anything is drawn for it. The report is drawn
 * by the person's ledger, once: whoever asks again, after a crash or in another tab, gets the same one. If the person's
 * limits do not cover the metric of the lot, nothing is reported; that depends on earlier lots only.
 */
import { clock, hex, uniform } from "../bundle_shared.js";
import { BudgetError, begin, DomainError, Participant } from "../index.js";
import type { Fetch } from "../oblivious/relay.js";
import type { Store } from "../participant/store.js";
import { MONTH } from "../support/constants.js";
import { type Aggregate, aggregateOf, merge, outcome } from "./aggregates.js";
import { type AppMetric, type AppMetrics, active, labelOf, type ModeName, type Recorded } from "./metrics.js";
import { byChoice, byEnvironment, byMistake, type Choice, type Mode, type Variables, type Wishes } from "./modes.js";
import { before, dayBefore, now, periodOf, SPREAD, timeText } from "./periods.js";
import { send } from "./sending.js";
import {
  add,
  aggregateIn,
  type Book,
  change,
  finish,
  forgetAggregates,
  isAgain,
  type ReportState,
  readBook,
  type StoredReport,
  seen,
  tried,
} from "./state.js";
import { surveyOf } from "./surveys.js";
import type { View } from "./view.js";

const [SOON, MINUTE, HOUR] = [1000, 60_000, 3_600_000]; // milliseconds

/** A text on this device, and what to call the place where it is. */
export interface Place {
  readonly name: string;
  readonly store: Store;
  /** Whether it is there; finding out makes nothing. */
  exists(): Promise<boolean>;
}

/** What a program stands on: a browser, or Node. */
export interface Platform {
  readonly variables: Variables;
  readonly wishes: Wishes;
  readonly fetch: Fetch;
  /** Where a program keeps its state. */
  state(app: string): Place;
  /** The ledger of the person. */
  readonly ledger: Place;
  /** What the person chose, where it is not kept in the state. */
  choice?(app: string): Promise<Choice | null>;
  choose?(app: string, mode: ModeName, day: string): Promise<void>;
  /** Have something done when the program seems to end; return what takes that back. */
  atEnd(work: () => Promise<void>): () => void;
}

/** What a program may say at the beginning. */
export interface SetupOptions {
  /** Is called once, before the first report ever is sent, with what `view` says; where it throws, nothing is sent. */
  readonly notice?: (text: string) => unknown;
  /** Throw what is ignored otherwise, such as a metric that is not declared; for the tests of a program. */
  readonly strict?: boolean;
  /** Where to keep what a program stores, in place of the usual stores. */
  readonly places?: { readonly state: Store; readonly ledger: Store };
}

/** The telemetry of one program. `record`, `timed`, `flush` and `end` never throw, unless it is strict. */
export class Telemetry {
  readonly #metrics: AppMetrics | null;
  readonly #platform: Platform;
  readonly #options: SetupOptions;
  readonly #held = new Map<string, Map<AppMetric, Aggregate>>();
  #mode: Mode;
  #work: Promise<unknown> = Promise.resolve();
  #saved: Promise<void> = Promise.resolve();
  #stop: (() => void)[] = [];
  #isSaving = false;
  #trouble = "";

  private constructor(metrics: AppMetrics | null, platform: Platform, options: SetupOptions, mode: Mode) {
    this.#metrics = metrics;
    this.#platform = platform;
    this.#options = options;
    this.#mode = mode;
  }

  /** Begin, if the mode allows. */
  static async of(metrics: AppMetrics, platform: Platform, options: SetupOptions): Promise<Telemetry> {
    const telemetry = new Telemetry(metrics, platform, options, { mode: "off", reason: "it begins" });
    const mode = await telemetry.#decide();
    if (mode.mode !== "off") telemetry.#start();
    else if (mode.since !== undefined) await telemetry.#forget(); // the person said so
    return telemetry;
  }

  /** Return telemetry that does nothing, and says why. */
  static none(platform: Platform, options: SetupOptions, reason: string): Telemetry {
    return new Telemetry(null, platform, options, { mode: "off", reason });
  }

  /** `on`, `local` or `off`: what is true now. */
  get mode(): ModeName {
    return this.#mode.mode;
  }

  /** Why it is so. */
  get reason(): string {
    return this.#mode.reason;
  }

  /** What went wrong last in the background; empty if nothing did. */
  get trouble(): string {
    return this.#trouble;
  }

  /** Record a value of a metric. What is not declared counts as `other` where that is, or else not at all. */
  record(name: string, value: Recorded): void {
    const metric = this.#metrics?.metrics.find((each) => each.name === name);
    const label = metric && labelOf(metric, value);
    if (metric && label !== undefined) this.#hold(metric, value, label);
    else if (this.#options.strict && this.#metrics)
      throw new DomainError("telemetry: the metric must be declared, and the value one of it (not shown)");
  }

  #hold(metric: AppMetric, value: Recorded, label: string): void {
    if (this.mode === "off") return;
    const period = this.#period();
    const values = this.#held.get(period) ?? new Map<AppMetric, Aggregate>();
    const held = values.get(metric) ?? new Map<string, number>();
    merge(metric, held, aggregateOf(metric, value, label));
    this.#held.set(period, values.set(metric, held));
    this.#saveSoon();
  }

  /** Do some work, and record how many milliseconds it takes, also until its promise is kept; return what it returns. */
  timed<T>(name: string, work: () => T): T {
    const start = performance.now();
    const done = (): void => this.record(name, performance.now() - start);
    let result: T;
    try {
      result = work();
    } catch (error) {
      done();
      throw error;
    }
    if (result instanceof Promise) return result.finally(done) as T;
    done();
    return result;
  }

  /** Store what lies in memory and send what is due; wait for that for some seconds at most, and return whether it was done. */
  async flush(seconds = 2): Promise<boolean> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(resolve, 1000 * seconds, false);
    });
    try {
      return await Promise.race([this.#queue(() => this.#round()).then(() => true), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Stop, and store what lies in memory. Nobody waits for what is on its way. */
  async end(): Promise<void> {
    for (const stop of this.#stop.splice(0)) stop();
    await this.#attempt(() => this.#save());
  }

  /** Return every report ever sent and what it gave away, this period's values, and what would be sent. */
  async view(): Promise<View> {
    const metrics = this.#declared();
    const [state, ledger] = [this.#state(), this.#ledger()];
    if (this.mode !== "off") await this.#save();
    const text = (await state.exists()) ? await state.store.read() : null;
    const spent = (await ledger.exists()) ? await ledger.store.read() : null;
    const { viewOf } = await import("./view.js");
    return viewOf(metrics, this.#mode, { state: state.name, ledger: ledger.name }, readBook(text), spent);
  }

  /** Return the same in words. */
  async text(): Promise<string> {
    const { textOf } = await import("./view.js");
    return textOf(await this.view());
  }

  /** Choose a mode, as the person: `on` counts from the next period that begins, `off` deletes the aggregates. */
  async choose(mode: ModeName): Promise<void> {
    const { app } = this.#declared();
    if (this.#platform.choose) await this.#platform.choose(app, mode, clock(10));
    else
      await change(this.#state().store, (book) => {
        book.choice = chosen(book.choice, mode);
      });
    const former = this.mode;
    await this.#decide();
    if (this.mode === "off") await this.#forget();
    else if (former === "off") this.#start();
    else void this.#queue(() => this.#round());
  }

  /** Take back every report, and send none that waits; return how many could not be taken back now. */
  async withdraw(): Promise<number> {
    const metrics = this.#declared();
    const { store } = this.#state();
    const reports = await change(store, ({ reports }) => {
      // one that was refused or dropped in the end may have arrived before, when nobody answered
      for (const report of reports)
        if (report.tries > 1 ? report.state !== "withdrawn" : ["sent", "waiting"].includes(report.state))
          report.state = "withdrawing";
      return reports.filter(({ state }) => state === "withdrawing");
    });
    const waiting = setInterval(() => undefined, MINUTE); // somebody waits for it, so the program does not end
    let left = 0;
    for (const report of reports) left += await this.#takeBack(metrics, report);
    clearInterval(waiting);
    return left;
  }

  /** Take one report back; return how many could not be. */
  async #takeBack(metrics: AppMetrics, report: StoredReport): Promise<number> {
    const trouble = await send(metrics, report, "withdrawals", this.#platform.fetch);
    if (trouble) this.#trouble = `${report.period} ${report.metric}: ${trouble.said}`;
    else await change(this.#state().store, (book) => taken(book, report.key)).catch(() => null); // it is asked for again
    return Number(trouble !== null);
  }

  /** Delete aggregates and reports. The ledger stays, and a period is never reported twice. */
  async clean(): Promise<void> {
    this.#held.clear();
    await change(this.#state().store, (book) => {
      forgetAggregates(book);
      book.reports = [];
    });
  }

  /** Find out the mode; what the environment decides on is found without touching any store. */
  async #decide(): Promise<Mode> {
    const { app, default: initial } = this.#declared();
    const { variables, wishes } = this.#platform;
    const sure = byMistake(app, initial) ?? byEnvironment(variables, wishes);
    this.#mode = sure ?? byChoice(app, await this.#choice(app), initial);
    return this.#mode;
  }

  /** Return what the person chose. What cannot be read means off. */
  async #choice(app: string): Promise<Choice | null> {
    if (this.#platform.choice) return this.#platform.choice(app);
    const { store, exists } = this.#state();
    try {
      return (await exists()) ? (readBook(await store.read()).choice ?? null) : null;
    } catch {
      return { mode: "unreadable" };
    }
  }

  #declared(): AppMetrics {
    if (this.#metrics) return this.#metrics;
    throw new DomainError(`telemetry: there is none: ${this.reason}`);
  }

  #state(): Place {
    return placed(this.#options.places?.state) ?? this.#platform.state(this.#declared().app);
  }

  #ledger(): Place {
    return placed(this.#options.places?.ledger) ?? this.#platform.ledger;
  }

  #period(): string {
    return periodOf(this.#declared().period, clock(10));
  }

  /** Work in the background from now on. */
  #start(): void {
    const again = (): void => void this.#queue(() => this.#round());
    again();
    const timer = setInterval(again, MINUTE);
    unref(timer);
    this.#stop.push(
      () => clearInterval(timer),
      this.#platform.atEnd(async () => {
        if (this.#held.size) await this.#attempt(() => this.#save());
      }),
    );
  }

  /** Store what lies in memory within a second. */
  #saveSoon(): void {
    if (this.#isSaving) return;
    this.#isSaving = true;
    const timer = setTimeout(() => {
      this.#isSaving = false;
      if (this.#held.size) void this.#attempt(() => this.#save()); // one that has ended has stored it
    }, SOON);
    unref(timer);
  }

  /** Do something after what was to be done before. */
  #queue(step: () => Promise<unknown>): Promise<unknown> {
    this.#work = this.#work.then(step);
    return this.#work;
  }

  /** Do something, and remember an error instead of throwing it. */
  async #attempt(step: () => Promise<unknown>): Promise<void> {
    try {
      await step();
    } catch (error) {
      this.#trouble = `${(error as Error)?.name}: ${(error as Error)?.message}`;
    }
  }

  /** Look again which mode the person wants: a program may run for months after somebody has changed their mind. */
  async #heed(): Promise<void> {
    if (this.mode !== "off" && (await this.#decide()).mode === "off") await this.#forget();
  }

  async #round(): Promise<void> {
    await this.#attempt(() => this.#heed());
    if (this.mode === "off") return;
    await this.#attempt(() => this.#save()); // that it ran is known before anybody is waited for, whatever it recorded
    await this.#attempt(() => this.#endPeriods());
    await this.#attempt(() => this.#sendDue());
  }

  /** Store what lies in memory, after what was taken from there before. */
  #save(): Promise<void> {
    this.#saved = this.#saved.catch(() => undefined).then(() => this.#store());
    return this.#saved;
  }

  /** Store what lies in memory, and that the program ran. */
  async #store(): Promise<void> {
    await this.#heed();
    if (this.mode === "off") return;
    const held = [...this.#held].map(([period, values]) => [period, [...values]] as const);
    this.#held.clear();
    const mark = held.length ? String(uniform(2 ** 32)) : "";
    await change(this.#state().store, (book) => {
      seen(book, this.#period());
      if (!mark || isAgain(book, mark)) return;
      for (const [period, values] of held)
        for (const [metric, aggregate] of values) add(seen(book, period), metric, aggregate);
    });
  }

  async #forget(): Promise<void> {
    this.#held.clear();
    const { store, exists } = this.#state();
    await this.#attempt(async () => (await exists()) && change(store, forgetAggregates));
  }

  /** Draw the report of a period that is over; nothing of it needs the network. */
  async #endPeriods(): Promise<void> {
    const { store } = this.#state();
    if (this.mode === "on") await begin(this.#ledger().store);
    const ended = await change(store, (book) => this.#ended(book));
    if (!ended) return;
    const { period, metric, label } = ended;
    let [key, body, why] = ["", "", ""];
    try {
      [key, body] = await this.#drawn(metric, label);
    } catch (error) {
      if (!(error instanceof BudgetError)) throw error;
      why = error.message.replace("participant: ", "");
    }
    const due = timeText(Date.now() + 1000 * uniform(86_400 * SPREAD[this.#declared().period]));
    await change(store, (book) => {
      const open = seen(book, period);
      if (open.done) return;
      finish(open, why);
      if (why) return;
      const { name, version } = metric;
      const fate = { state: "waiting", sent: "", tries: 0, said: "" } as const;
      book.reports.push({ period, metric: name, version, drawn: now(), due, key, body, ...fate });
    });
  }

  /** End all periods that are over without a report, but the last: return that with its lot, and what is to be reported. */
  #ended(book: Book): { period: string; metric: AppMetric; label: string } | null {
    const { period: kind } = this.#declared();
    const [current, last] = [this.#period(), before(kind, clock(10))];
    const chosen = this.#mode.since ? periodOf(kind, dayBefore(this.#mode.since)) : "";
    const open = book.periods.filter(({ done, period }) => !done && period < current); // not periods of a clock that was ahead
    for (const each of open) {
      if (this.mode !== "on") {
        if (each.period < last) finish(each, "telemetry was local: nothing is reported");
      } else if (each.period !== last) finish(each, "the program did not run in the period after it");
      else if (each.period <= chosen)
        finish(each, "telemetry was switched on after it had begun"); // somebody said yes
      else return this.#lot(each);
    }
    return null;
  }

  /** Draw the lot of a period, if none was drawn; nothing if there is none to draw. */
  #lot(period: Book["periods"][number]): { period: string; metric: AppMetric; label: string } | null {
    const metrics = active(this.#declared(), clock(10));
    const known = period.metric !== undefined;
    if (!known && metrics.length) period.metric = drawnLot(metrics).name;
    const metric = metrics.find(({ name }) => name === period.metric);
    if (metric) return { period: period.period, metric, label: outcome(metric, aggregateIn(period, metric.name)) };
    finish(period, known ? "its metric is declared no more" : "no metric is declared any more");
    return null;
  }

  /** Return key and bytes of the report; the person's limits decide whether there is one. */
  async #drawn(metric: AppMetric, label: string): Promise<[key: string, body: string]> {
    const survey = await surveyOf(this.#declared(), metric);
    const keeping = { store: this.#ledger().store, limits: { month: MONTH }, labels: metric.labels };
    const { key, batch } = await new Participant(survey, keeping).prepare(label);
    return [key, hex(batch)];
  }

  /** Send the reports whose time has come. */
  async #sendDue(): Promise<void> {
    if (this.mode !== "on") return;
    for (const report of await change(this.#state().store, (book) => this.#due(book))) await this.#send(report);
  }

  /** Return the reports to be sent now; those that waited for more than one period are dropped. */
  #due(book: Book): StoredReport[] {
    const oldest = before(this.#declared().period, clock(10), 2);
    const waiting = book.reports.filter(({ state }) => state === "waiting");
    for (const { key, period } of waiting) {
      if (period < oldest) tried(book, key, { state: "dropped", said: "it could not be sent within a period" });
    }
    return waiting.filter(({ period, due }) => period >= oldest && due <= now());
  }

  async #send(report: StoredReport): Promise<void> {
    await this.#heed();
    if (this.mode !== "on") return;
    await this.#tell();
    const trouble = await send(this.#declared(), report, "reports", this.#platform.fetch);
    const state: ReportState = !trouble ? "sent" : trouble.refused ? "refused" : "waiting";
    const fate = { state, said: trouble?.said ?? "", ...(state === "sent" && { sent: now() }) };
    const later = state === "waiting" && { due: timeText(Date.now() + HOUR) };
    await change(this.#state().store, (book) => tried(book, report.key, { ...fate, ...later }));
  }

  /** Give the notice once, before the first report ever is sent; where that fails, nothing is sent. */
  async #tell(): Promise<void> {
    const { notice } = this.#options;
    const { store } = this.#state();
    if (!notice || readBook(await store.read()).noticed) return;
    await notice(await this.text());
    await change(store, (book) => {
      book.noticed = now();
    });
  }
}

/** Return a choice; said again, it counts from the first time. */
const chosen = (former: Choice | undefined, mode: ModeName): Choice =>
  former?.mode === mode ? former : { mode, since: clock(10) };

/** Draw one metric, each with its weight. */
function drawnLot(metrics: readonly AppMetric[]): AppMetric {
  let place = uniform(metrics.reduce((sum, { weight }) => sum + weight, 0));
  const isDrawn = ({ weight }: AppMetric): boolean => {
    place -= weight;
    return place < 0;
  };
  return metrics.find(isDrawn) as AppMetric;
}

/** Note that a report was taken back. */
function taken({ reports }: Book, key: string): void {
  for (const report of reports) if (report.key === key) Object.assign(report, { state: "withdrawn", said: "" });
}

/** Return a store that a program gave as a place. */
const placed = (store: Store | undefined): Place | undefined =>
  store && { name: "a store of the program", store, exists: async () => true };

/** Let a program end although a timer runs, where programs end by themselves. */
function unref(timer: unknown): void {
  (timer as { unref?: () => void }).unref?.();
}
