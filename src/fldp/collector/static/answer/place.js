// Where the page came from: from the collector itself, or from a relay, through which then everything goes.
import { load, number, participant, search } from "../fldp.js";
import { oraclesOf } from "../shared/oracles.js";

/** @import { Relays, Survey } from "../fldp.js" */
/** @import { through } from "../fldp_oblivious.js" */

const named = document.querySelector('meta[name="fldp-collector"]')?.getAttribute("content") ?? "";
const home = new URL("..", location.href).href;
const collector = named || home;

/** Whether a relay has served the page: the collector then never sees this browser. */
export const isRelayed = named !== "";

/** @type {ReturnType<typeof through> | undefined} */
let relay;
/** @type {Relays | undefined} */
export let relays;

/** Return the name of the survey; on a relay's page it stands after #, which is not sent with the address. */
export const nameHere = () =>
  isRelayed ? location.hash.slice(1).split("&")[0] : (location.pathname.split("/").pop() ?? "");

/** Get the way to the collector ready. At a relay all files are fetched, or it would know kinds of surveys by them. */
async function findWay() {
  if (!isRelayed || relay) return;
  const files = [import("../fldp_unequal.js"), import("../fldp_passes.js")];
  const [oblivious] = await Promise.all([import("../fldp_oblivious.js"), ...files]);
  relays = oblivious.through;
  relay = oblivious.through(home);
}

/**
 * Fetch a survey: of several versions the newest, or the one that is named.
 *
 * @param {string} name
 * @param {string} version
 */
export async function fetched(name, version) {
  await findWay();
  return load(collector, name, oraclesOf, { ...(version && { version }), search, number, relay });
}

/**
 * Return who answers a survey here.
 *
 * @param {Survey} survey
 * @param {Parameters<typeof participant>[1]} [options]
 */
export const personFor = (survey, options = {}) => participant(survey, { ...options, relay });

/**
 * Return the pass to a survey that takes passes: the one that is kept here, or one for a ticket.
 *
 * @param {Survey} survey
 * @param {string} [ticket]
 */
export async function passFor(survey, ticket) {
  const { obtainPass } = await import("../fldp_passes.js");
  return obtainPass(survey, { ticket, relay });
}

/** Whether the collector's keys were replaced within a day. */
export const hasNewKeys = () => relay?.hasNewKeys === true;
