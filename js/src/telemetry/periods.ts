/** Periods: calendar months, or weeks as ISO 8601 counts them, in UTC, with the same borders for everybody. */
import { clock } from "../bundle_shared.js";
import { epochOf } from "../index.js";
import { REPEATS } from "./metrics.js";

const DAY = 86_400_000; // milliseconds

/** Over how many days reports of a period are sent. */
export const SPREAD: Readonly<Record<string, number>> = { week: 1, month: 3 };

/** Return a time as it is stored; texts sort as times do. */
export const timeText = (time: number): string => `${new Date(time).toISOString().slice(0, 19)}Z`;

/** Return now as it is stored. */
export const now = (): string => `${clock(19)}Z`;

/** Return the period of a UTC day; the texts sort as time does. */
export const periodOf = (kind: string, day: string): string => epochOf(REPEATS[kind], day);

/** Return the period that lies some periods before the one of a UTC day. */
export function before(kind: string, day: string, count = 1): string {
  if (kind === "week") return periodOf(kind, timeText(Date.parse(day) - count * 7 * DAY).slice(0, 10));
  const first = new Date(`${day.slice(0, 7)}-01`);
  return periodOf(kind, new Date(first.setUTCMonth(first.getUTCMonth() - count)).toISOString().slice(0, 10));
}

/** Return the UTC day before a day. */
export const dayBefore = (day: string): string => timeText(Date.parse(day) - DAY).slice(0, 10);
