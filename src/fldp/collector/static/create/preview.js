// What is about to be published: what its reports give away, whether people's devices would answer it, and its version.

import { privacyCard } from "../answer/learned.js";
import { BudgetError, build, every, memoryStore, Participant, Survey } from "../fldp.js";
import { card } from "../shared/card.js";
import { element, notice } from "../shared/dom.js";
import { known } from "../shared/oracles.js";
import { collector } from "../shared/session.js";
import { concerned } from "../shared/treatment.js";

/** Make the parts that show what would be published, given its specification and the row of the plan for its oracle. */
export async function preview(specification, row) {
  const oracles = await known(row).catch(() => every);
  const survey = await Survey.of(asked(specification, row), collector, oracles).catch(() => null);
  const words = survey && (await limited(survey));
  return [
    words ? notice("warn", element("p", {}, words)) : null,
    gives(row, oracles, survey && concerned(survey)),
    survey && !specification.search
      ? element("p", { class: "small muted" }, "Version that would be published: ", element("code", {}, survey.version))
      : null,
  ].filter(Boolean);
}

/** Return what a person answers to. The rounds of a search are worked out by the collector; the first has so many values. */
function asked({ search, domain, oracle, ...rest }, { oracle: { domain_size: size, ...own } }) {
  return search ? { ...rest, domain_size: size, oracle: own } : { ...rest, ...(domain ? { domain } : {}), oracle };
}

/** Make the card of an oracle; of one that this page does not know, what the planner says. */
function gives(row, oracles, whom) {
  try {
    return privacyCard(card(build(row.oracle, oracles)), whom);
  } catch {
    return privacyCard({ certain: [row.exposure], numbers: [`epsilon ${row.oracle.epsilon}`, `eta ${row.eta}`] });
  }
}

/** Say who cannot answer a survey; null if everybody can. */
async function limited(survey) {
  const reasons = await refusal(survey);
  if (!reasons) return null;
  return (await refusal(survey, { minAnonymity: 1 }))
    ? `With the usual limits of a device, and on the answer page, nobody can answer this: ${reasons}.`
    : `The usual limits of a device forbid to answer this: ${reasons}. The answer page asks people whether they allow it.`;
}

/** Return why a device with these limits would not answer, or null: by trying, on one that keeps and sends nothing. */
async function refusal(survey, limits = {}) {
  const device = new Participant(survey, { store: memoryStore(), limits });
  const said = await device
    .prepare(survey.labels?.[0] ?? "0", { confirm: () => true, ticket: "none" })
    .catch((error) => error);
  return said instanceof BudgetError ? said.message.replace(/^participant: /, "") : null;
}
