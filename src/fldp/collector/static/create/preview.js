// What is about to be published: what its reports give away, whether people's devices would answer it, and its version.
import { privacyCard } from "../answer/learned.js";
import { build, every, number, Survey } from "../fldp.js";
import { analystWords } from "../shared/analyst_words.js";
import { card } from "../shared/card.js";
import { element, notice } from "../shared/dom.js";
import { howMany, howOften, refusal } from "../shared/limits.js";
import { oraclesOf } from "../shared/oracles.js";
import { collector } from "../shared/session.js";
import { concerned } from "../shared/treatment.js";

/** @import { PlanRow } from "../shared/replies.d.ts" */
/** @import { Specification } from "./form_to_survey.js" */

const MOST = 12; // surveys like this one that are tried

/**
 * What would be published: whether devices would answer it, to be read before the button, and everything else.
 *
 * @typedef {{ answered: HTMLElement[], more: HTMLElement[] }} Preview
 */

/**
 * Make the parts that show what would be published, given its specification and the row of the plan for its oracle; the
 * card may be folded.
 *
 * @param {Specification} specification
 * @param {PlanRow} row
 * @returns {Promise<Preview>}
 */
export async function preview(specification, row, isFolded = false) {
  const oracles = await oraclesOf({ oracle: row.oracle }).catch(() => every);
  const survey = await Survey.of(answered(specification, row), collector, oracles, { number }).catch(() => null);
  const told = cardOf(
    row,
    () => survey?.oracle ?? build(row.oracle, oracles),
    survey && concerned(survey, analystWords),
  );
  const isUnknown = specification.search || isWithoutKey(specification);
  const version = survey && !isUnknown ? survey.version : null;
  const more = [
    isFolded ? element("details", {}, element("summary", {}, "What a report gives away"), told) : told,
    element(
      "p",
      { class: "small muted", hidden: !version },
      "Version that would be published: ",
      element("code", {}, version),
    ),
    isWithoutKey(specification) ? element("p", { class: "small muted" }, KEY_TO_COME) : null,
  ].filter((part) => part !== null);
  return { answered: survey ? [await answering(survey)] : [], more };
}

/**
 * Say whether devices would answer: a warning, or how often they would.
 *
 * @param {Survey} survey
 */
export async function answering(survey) {
  const warning = await limitText(survey);
  if (warning) return notice("warn", element("p", {}, warning));
  return element("p", { class: "small" }, await againText(survey));
}

/**
 * Say how many surveys like this one a person can answer.
 *
 * @param {Survey} survey
 */
async function againText(survey) {
  const { repeat } = survey.collect;
  if ((repeat === "weekly" || repeat === "monthly") && !survey.oracle.lastingEpsilon) {
    const [times, period] = [await howOften(survey, collector, MOST), repeat === "weekly" ? "week" : "month"];
    const often = times === 1 ? `one ${period}` : `${times}${times === MOST ? " or more" : ""} ${period}s`;
    return `Devices limit what they give away to one collector: with the usual limits a person answers this survey in ${often}, and then no more.`;
  }
  const number = await howMany(survey, collector, MOST);
  const surveys = number === 1 ? "one survey" : `${number}${number === MOST ? " or more" : ""} surveys`;
  return `Devices limit what they give away to one collector: with the usual limits a person can answer ${surveys} like this one here, ever.`;
}

const KEY_TO_COME =
  "The key of its passes is made when you publish this survey, and is part of the version, which is known then.";

/**
 * Whether a survey takes passes of the collector, whose key is made when it is published.
 *
 * @param {Pick<Specification, "collect">} specification
 */
const isWithoutKey = ({ collect }) => collect.submit === "pass" && !collect.issuer_key;

/**
 * Return the survey that a person answers. The collector works out the rounds of a search; the plan knows the size of
 * the first.
 *
 * @param {Specification} specification
 * @param {PlanRow} row
 */
function answered({ search, domain, oracle, ...all }, { oracle: { domain_size: size, ...own } }) {
  const { issuer_key: _, ...others } = all.collect;
  const rest = isWithoutKey(all) ? { ...all, collect: { ...others, submit: "ticket" } } : all;
  return search ? { ...rest, domain_size: size, oracle: own } : { ...rest, ...(domain ? { domain } : {}), oracle };
}

/**
 * Make the card of an oracle; of one that this page does not know, what the planner says.
 *
 * @param {PlanRow} row
 * @param {() => Survey["oracle"]} oracle
 * @param {string | null} differs
 */
function cardOf(row, oracle, differs) {
  try {
    return privacyCard(card(oracle(), analystWords), differs);
  } catch {
    return privacyCard({ certain: [row.exposure], numbers: [`epsilon ${row.oracle.epsilon}`, `eta ${row.eta}`] });
  }
}

/**
 * Say who cannot answer a survey; null if everybody can.
 *
 * @param {Survey} survey
 */
async function limitText(survey) {
  const reasons = await refusal(survey);
  if (!reasons) return null;
  return (await refusal(survey, { minAnonymity: 1 }))
    ? `With the usual limits of a device, and on the answer page, nobody can answer this: ${reasons}.`
    : `The usual limits of a device do not allow this survey: ${reasons}. The answer page asks people whether they allow it.`;
}
