/**
 * What a person chose for all programs, as `fldp telemetry` stores it. Its lines are read one by one, and those that it
 * never writes make all of it unreadable, which means off: a file that a person wrote may mean anything.
 */
import { isDay } from "../participant/epochs.js";
import type { Choice } from "./modes.js";

/** The choice for all programs, and those for single ones. */
export interface Choices {
  readonly all?: Choice;
  readonly apps: ReadonlyMap<string, Choice>;
}

const LINE = /^(mode|since) = "([a-z0-9-]*)"$/;
const APP = /^\[app\."([a-z0-9_-]+)"\]$/;

/** Whether a line names a day that there is; a program that counted periods from another would never send any. */
const isPossible = ([, key, value]: readonly string[]): boolean => key !== "since" || isDay(value);

/** Read the file; null if it cannot be. */
export function choicesOf(text: string): Choices | null {
  const tables = new Map<string | null, Record<string, string>>();
  let current: string | null = null;
  for (const line of text.split(/\r?\n/).filter((each) => each.trim() && !each.startsWith("#"))) {
    const [said, header] = [LINE.exec(line), APP.exec(line)];
    if (header) current = header[1];
    else if (!said || tables.get(current)?.[said[1]] !== undefined || !isPossible(said)) return null;
    const table = tables.get(current) ?? {};
    tables.set(current, said && !header ? { ...table, [said[1]]: said[2] } : table);
  }
  const choices = [...tables].filter(([, { mode }]) => mode !== undefined) as unknown as [string | null, Choice][];
  const apps = new Map(choices.filter(([app]) => app !== null) as [string, Choice][]);
  return { all: choices.find(([app]) => app === null)?.[1], apps };
}

/** Write the file, as Python does. */
export function choicesText({ all, apps }: Choices): string {
  const lines = ({ mode, since }: Choice): string[] => [`mode = "${mode}"`, ...(since ? [`since = "${since}"`] : [])];
  const tables = [...apps].flatMap(([app, choice]) => ["", `[app."${app}"]`, ...lines(choice)]);
  return [...(all ? lines(all) : []), ...tables].join("\n").concat("\n");
}
