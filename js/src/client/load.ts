/** Loading: a survey from its collector, by its name. */

import type { Fields, OracleClass } from "../oracles/base/oracle.js";
import { SURVEY_NAME } from "../support/constants.js";
import { CollectorError } from "../support/errors.js";
import { addressOf } from "../support/web_origin.js";
import { type Kinds, requireForm, Survey } from "../survey/survey.js";
import { exchange, type Relay } from "./retry.js";

/** Oracles that a survey may use, or what finds them for a specification that was not checked yet. */
export type Offered = readonly OracleClass[] | ((specification: Fields) => Promise<readonly OracleClass[]>);

/**
 * Fetch a survey by its name from the collector at `url`, and refuse one that is not what its version says.
 *
 * `oracles` are those that may be asked for; only they end up in a bundle. `every` is nearly all of them. Given as a
 * function of what was fetched, they can be imported when a survey needs them. Through a `relay`, the collector does not
 * learn who asks.
 */
export async function load(
  url: string,
  name: string,
  oracles: Offered,
  { version, relay, ...kinds }: { version?: string; relay?: Relay } & Kinds = {},
): Promise<Survey> {
  const address = addressOf(url);
  requireForm(SURVEY_NAME, "name", name);
  const query = version === undefined ? "" : `?version=${encodeURIComponent(version)}`;
  const { survey, version: claimed, state } = Object(await exchange(address, `/v1/surveys/${name}${query}`, {}, relay));
  if (survey?.name !== name || (version ?? claimed) !== claimed) {
    throw new CollectorError(`${address.origin}: the answer is not about survey ${name}`);
  }
  const offered = typeof oracles === "function" ? await oracles(survey) : oracles;
  return Survey.of(survey, url, offered, { version: String(claimed), state, ...kinds });
}
