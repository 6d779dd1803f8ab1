// A new survey with all settings: what it asks, what the planner says of it, and the card of what is about to be published.
import { element, notice } from "../shared/dom.js";
import { messageOf, post, Refused } from "../shared/session.js";
import { takeDraft } from "./draft.js";
import { question, specification } from "./form_to_survey.js";
import { numberAdvice, numberRow } from "./number_plan.js";
import { advice, choicesOf, chosenRow, unplanned } from "./plan_table.js";
import { preview } from "./preview.js";
import { surveyFields } from "./survey_fields.js";

/** @import { View } from "../dashboard/dashboard.js" */
/** @import { NumberPlan, Plan, PlanRow } from "../shared/replies.d.ts" */
/** @import { Values } from "./survey_fields.js" */

/**
 * What was entered, and the row of the oracle for exactly that.
 *
 * @typedef {{ values: Values, row: PlanRow | null }} Draft
 */

const PAUSE = 300; // milliseconds after the last key before the planner is asked

/**
 * Make the view with the form.
 *
 * @returns {Promise<View>}
 */
export async function createView() {
  const fields = surveyFields(takeDraft());
  const advised = element("section", { class: "panel", "aria-labelledby": "advice" });
  const shown = element("div", {});
  const warned = element("div");
  const problem = element("div", { "aria-live": "assertive" });
  const button = element("button", { type: "submit", class: "primary", form: "draft" }, "Publish this survey");
  const form = element("form", { class: "panel", id: "draft" }, fields.nodes);
  const key = keyOfPasses();
  let newest = 0;
  let timer = 0;

  /** @param {string} text */
  function tell(text) {
    advised.replaceChildren(...unplanned(text));
    shown.replaceChildren();
    warned.replaceChildren();
    return null;
  }

  /**
   * Ask the planner, and show what it says unless something was typed meanwhile. Return what was asked and the row of
   * the oracle for exactly that, so that nothing else is published; null if there is none.
   *
   * @returns {Promise<Draft | null>}
   */
  async function think() {
    clearTimeout(timer);
    newest += 1;
    const turn = newest;
    const values = fields.read();
    if (values.wanted) return tell(values.wanted);
    const plan = await post("v1/plan", question(values)).catch((error) => error);
    const isOld = turn !== newest;
    if (plan instanceof Error) return isOld ? null : tell(`Not planned: ${plan.message}.`);
    const { asked, row, told } = considered(values, plan);
    if (isOld) return { values, row };
    advised.replaceChildren(...told());
    const { answered, more } = row ? await preview(specification(asked, row), row) : { answered: [], more: [] };
    if (turn !== newest) return { values: asked, row };
    warned.replaceChildren(...answered);
    shown.replaceChildren(...more);
    return { values: asked, row };
  }

  /**
   * Return what is asked with its oracle, the row of that, and what the plan says.
   *
   * @param {Values} values
   * @param {Plan & NumberPlan} plan
   */
  function considered(values, plan) {
    if (values.kind === "number")
      return { asked: values, row: numberRow(plan), told: () => numberAdvice(plan, values) };
    const asked = { ...values, oracle: fields.offer(choicesOf(plan, values)) };
    return { asked, row: chosenRow(plan, asked), told: () => advice(plan, asked) };
  }

  form.addEventListener("input", () => {
    clearTimeout(timer);
    fields.read(); // what applies is shown at once
    timer = setTimeout(think, PAUSE);
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    problem.replaceChildren(...(await publish(await think(), fields.read().wanted, key)));
    button.disabled = false;
  });
  await think();
  const end = element("div", { class: "end" }, warned, problem, element("div", { class: "actions" }, button));
  const content = element("div", { class: "beside" }, form, element("div", { class: "advice" }, advised, shown), end);
  const steps = element("p", {}, element("a", { href: "#/new" }, "In three steps"));
  return { heading: "New survey, all settings", content: [steps, content], refresh: async () => {} };
}

/**
 * Return what has the collector make a key that signs passes: once for all attempts to publish a survey.
 *
 * @returns {() => Promise<string>}
 */
function keyOfPasses() {
  /** @type {string | undefined} */
  let issuerKey;
  return async () => {
    /** @type {() => Promise<{ issuer_key: string }>} */
    const make = () => post("v1/issuers", {});
    issuerKey ??= (await make()).issuer_key;
    return issuerKey;
  };
}

/**
 * Publish a survey and go to it; return what went wrong, if anything.
 *
 * @param {Draft | null} draft
 * @param {string} wanted
 * @param {() => Promise<string>} key
 */
async function publish(draft, wanted, key) {
  if (!draft?.row) return [notice("bad", element("p", {}, wanted || "There is no oracle for this yet."))];
  const { values, row } = draft;
  try {
    const isIssuing = values.submit === "pass" && !values.issuer;
    const asked = isIssuing ? { ...values, issuerKey: await key() } : values;
    /** @type {{ name: string, version: string }} */
    const { name, version } = await post("v1/surveys", { ...specification(asked, row), ...values.declared });
    location.hash = `#/survey/${name}/${version}`;
    return [];
  } catch (error) {
    const lines = mistakesOf(error).map((line) => element("p", { class: "small" }, line));
    return [notice("bad", element("p", {}, "Not published."), lines)];
  }
}

/**
 * Return the mistakes that the collector found, or what else went wrong.
 *
 * @param {unknown} error
 */
export const mistakesOf = (error) =>
  error instanceof Refused && error.mistakes.length ? error.mistakes : [`${messageOf(error)}.`];
