// What is about to be published: what its reports give away, whether people's devices would answer it, and its version.
import { privacyCard } from "../answer/learned.js";
import { BudgetError, build, every, memoryStore, Participant, Survey } from "../fldp.js";
import { card } from "../shared/card.js";
import { element, notice, present } from "../shared/dom.js";
import { oraclesOf } from "../shared/oracles.js";
import { collector } from "../shared/session.js";
import { concerned } from "../shared/treatment.js";

/** @import { Limits, OracleClass } from "../fldp.js" */
/** @import { PlanRow } from "../shared/replies.d.ts" */
/** @import { Specification } from "./form_to_survey.js" */

/**
 * Make the parts that show what would be published, given its specification and the row of the plan for its oracle.
 *
 * @param {Specification} specification
 * @param {PlanRow} row
 */
export async function preview(specification, row) {
  const oracles = await oraclesOf({ oracle: row.oracle }).catch(() => every);
  const survey = await Survey.of(answered(specification, row), collector, oracles).catch(() => null);
  const warning = survey && (await limitText(survey));
  return present([
    warning ? notice("warn", element("p", {}, warning)) : null,
    cardOf(row, oracles, survey && concerned(survey)),
    survey && !specification.search
      ? element("p", { class: "small muted" }, "Version that would be published: ", element("code", {}, survey.version))
      : null,
  ]);
}

/**
 * Return the survey that a person answers. The collector works out the rounds of a search; the plan knows the size of
 * the first.
 *
 * @param {Specification} specification
 * @param {PlanRow} row
 */
function answered({ search, domain, oracle, ...rest }, { oracle: { domain_size: size, ...own } }) {
  return search ? { ...rest, domain_size: size, oracle: own } : { ...rest, ...(domain ? { domain } : {}), oracle };
}

/**
 * Make the card of an oracle; of one that this page does not know, what the planner says.
 *
 * @param {PlanRow} row
 * @param {readonly OracleClass[]} oracles
 * @param {string | null} differs
 */
function cardOf(row, oracles, differs) {
  try {
    return privacyCard(card(build(row.oracle, oracles)), differs);
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
    : `The usual limits of a device forbid to answer this: ${reasons}. The answer page asks people whether they allow it.`;
}

/**
 * Return why a device with these limits would not answer, or null: by trying, on one that keeps and sends nothing.
 *
 * @param {Survey} survey
 * @param {Limits} [limits]
 */
async function refusal(survey, limits = {}) {
  const device = new Participant(survey, { store: memoryStore(), limits });
  const answer = await device
    .prepare(survey.labels?.[0] ?? "0", { confirm: () => true, ticket: "none" })
    .catch((error) => error);
  return answer instanceof BudgetError ? answer.message.replace(/^participant: /, "") : null;
}
