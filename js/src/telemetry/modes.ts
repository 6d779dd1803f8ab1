/**
 * Modes: whether a program collects and sends, and who decided that.
 *
 * Strongest first: `FLDP_TELEMETRY`; `DO_NOT_TRACK`, Global Privacy Control, the browser's Do Not Track, and the marks of
 * continuous integration, which all mean off; the person's choice; the program's default.
 */
import { CI } from "../support/constants.js";
import { MODES, type ModeName } from "./metrics.js";

const [VARIABLE, DO_NOT_TRACK] = ["FLDP_TELEMETRY", "DO_NOT_TRACK"];
const NOT_SET = ["", "0", "false"];

/** A mode, why it is that one, and the UTC day from which the person wants reports to be sent. */
export interface Mode {
  readonly mode: ModeName;
  readonly reason: string;
  readonly since?: string;
}

/** What a person chose, and when. */
export interface Choice {
  readonly mode: string;
  readonly since?: string;
  /** Whether it is for one program, or for all of them. */
  readonly all?: boolean;
}

/** The variables of a process; a browser has none. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** What a browser says about its person's wish. */
export interface Wishes {
  readonly globalPrivacyControl?: unknown;
  readonly doNotTrack?: unknown;
}

const off = (reason: string): Mode => ({ mode: "off", reason });

/** Return the mode that the environment decides on, if it does. */
export function byEnvironment(variables: Variables, wishes: Wishes): Mode | undefined {
  const said = variables[VARIABLE];
  if (said)
    return MODES.includes(said)
      ? { mode: said as ModeName, reason: `${VARIABLE} is ${said}` }
      : off(`${VARIABLE} is set, but not to one of ${MODES.join(", ")}`);
  if (!["", "0"].includes(variables[DO_NOT_TRACK] ?? "")) return off(`${DO_NOT_TRACK} is set`);
  if (wishes.globalPrivacyControl) return off("Global Privacy Control is set in this browser");
  if (["1", "yes"].includes(String(wishes.doNotTrack))) return off("Do Not Track is set in this browser");
  const mark = CI.find((name) => !NOT_SET.includes((variables[name] ?? "").toLowerCase()));
  return mark === undefined ? undefined : off(`${mark} is set: nobody is at this machine`);
}

/** Say that a program's default is no mode: then nothing else counts. */
export const byMistake = (app: string, initial: string): Mode | undefined =>
  MODES.includes(initial) ? undefined : off(`the default of ${app} is no mode; fldp telemetry lint says more`);

/** Return the mode that a person chose, or the program's default. */
export function byChoice(app: string, choice: Choice | null, initial: string): Mode {
  if (!choice) return { mode: initial as ModeName, reason: `the default of ${app}` };
  const { mode, since = "", all } = choice;
  if (!MODES.includes(mode)) return off("the stored choice names an unknown mode; choosing on, local or off mends it");
  return { mode: mode as ModeName, reason: `chosen for ${all ? "all programs" : app}`, since };
}
