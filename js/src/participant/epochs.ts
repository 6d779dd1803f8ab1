/**
 * Epochs: the weeks and months by which limits renew, in UTC, with the same borders for everybody.
 *
 * A week is one of ISO 8601: it begins on Monday, and counts in the month of its Thursday.
 */

const DAY = 86400000; // milliseconds
const EPOCH = /^\d{4}-(0[1-9]|1[0-2]|W\d\d)$/;

/** Return the first characters of the time in UTC: 10 are the day, 19 go down to the second. */
export const clock = (size: number): string => new Date().toISOString().slice(0, size);

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** Return the time at which the week of a day begins. */
const mondayOf = (day: string): number => Date.parse(day) - ((new Date(day).getUTCDay() + 6) % 7) * DAY;

/** Whether this is a day in its usual form. */
export const isDay = (day: unknown): day is string =>
  typeof day === "string" && !Number.isNaN(Date.parse(day)) && dayOf(Date.parse(day)) === day;

/** Return the epoch of a day, where a survey is repeated weekly or monthly; nothing for any other. */
export function epochOf(repeat: string | undefined, day: string): string {
  if (repeat === "monthly") return day.slice(0, 7);
  if (repeat !== "weekly") return "";
  const thursday = mondayOf(day) + 3 * DAY;
  const year = dayOf(thursday).slice(0, 4);
  const week = Math.floor((thursday - Date.parse(`${year}-01-01`)) / (7 * DAY)) + 1;
  return `${year}-W${String(week).padStart(2, "0")}`;
}

/** Return the first day of the period that a day is in. */
export function firstDay(repeat: string | undefined, day: string): string {
  if (repeat === "monthly") return `${day.slice(0, 7)}-01`;
  return repeat === "weekly" ? dayOf(mondayOf(day)) : day;
}

/** Return the number of the month that an epoch counts in. */
export function monthOf(epoch: string): number {
  const [year, part] = epoch.split("-");
  const week = Number(part.slice(1)); // the 4th of January is always in the first one
  const day = part < "W" ? `${epoch}-01` : dayOf(mondayOf(`${year}-01-04`) + (7 * week - 4) * DAY);
  return 12 * Number(day.slice(0, 4)) + Number(day.slice(5, 7)) - 1;
}

/** Whether this is an epoch that the calendar has. */
export function isEpoch(epoch: unknown): epoch is string {
  if (typeof epoch !== "string" || !EPOCH.test(epoch)) return false;
  const [year, part] = epoch.split("-W");
  return part ? epochOf("weekly", dayOf(mondayOf(`${year}-01-04`) + 7 * (Number(part) - 1) * DAY)) === epoch : true;
}

/** Return the number of the last month that anything answered by that day can count in. */
export const lastMonthOf = (day: string): number =>
  Math.max(...["weekly", "monthly"].map((repeat) => monthOf(epochOf(repeat, day))));

/** Write the number of a month. */
export const monthText = (month: number): string =>
  `${String(Math.floor(month / 12)).padStart(4, "0")}-${String((month % 12) + 1).padStart(2, "0")}`;
