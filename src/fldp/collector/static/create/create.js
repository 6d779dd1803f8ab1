// A new survey: what it asks, what the planner says of it, and the card of what is about to be published.

import { element, notice } from "../shared/dom.js";
import { post } from "../shared/session.js";
import { question, specification } from "./form_to_survey.js";
import { advice, choicesOf, chosenRow } from "./plan_table.js";
import { preview } from "./preview.js";
import { surveyFields } from "./survey_fields.js";

const PAUSE = 300; // milliseconds after the last key before the planner is asked

/** Make the view with the form. */
export async function createView() {
  const fields = surveyFields();
  const advised = element("section", { class: "panel", "aria-labelledby": "advice" });
  const shown = element("div", {});
  const said = element("div", { "aria-live": "assertive" });
  const button = element("button", { type: "submit", class: "primary" }, "Publish this survey");
  const form = element("form", { class: "panel" }, fields.nodes, said, element("div", { class: "actions" }, button));
  const state = { turn: 0, timer: null };

  function tell(words) {
    advised.replaceChildren(...advice(words));
    shown.replaceChildren();
    return null;
  }

  /**
   * Ask the planner, and show what it says unless something was typed meanwhile. Return what was asked and the row of
   * the oracle for exactly that, so that nothing else is published; null if there is none.
   */
  async function think() {
    clearTimeout(state.timer);
    const turn = ++state.turn;
    const values = fields.read();
    if (values.wanted) return tell(values.wanted);
    const made = await post("v1/plan", question(values)).catch((error) => error);
    const plan = made instanceof Error ? null : made;
    if (turn !== state.turn) return plan && { values, row: chosenRow(plan, values) };
    if (!plan) return tell(`Not planned: ${made.message}.`);
    const asked = { ...values, oracle: fields.offer(choicesOf(plan, values)) };
    const row = chosenRow(plan, asked);
    advised.replaceChildren(...advice("", plan, asked));
    const content = row ? await preview(specification(asked, row), row) : [];
    if (turn === state.turn) shown.replaceChildren(...content);
    return { values: asked, row };
  }

  form.addEventListener("input", () => {
    clearTimeout(state.timer);
    fields.read(); // what applies is shown at once
    state.timer = setTimeout(think, PAUSE);
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    await publish(await think(), said);
    button.disabled = false;
  });
  await think();
  const content = element("div", { class: "beside" }, form, element("div", {}, advised, shown));
  return { heading: "New survey", content, refresh: async () => {} };
}

async function publish(made, said) {
  if (!made?.row) return said.replaceChildren(notice("bad", element("p", {}, "There is no oracle for this yet.")));
  const { values, row } = made;
  try {
    const { name, version } = await post("v1/surveys", { ...specification(values, row), ...values.declared });
    location.hash = `#/survey/${name}/${version}`;
  } catch (error) {
    const lines = error.mistakes?.length ? error.mistakes : [`${error.message}.`];
    said.replaceChildren(
      notice(
        "bad",
        element("p", {}, "Not published."),
        lines.map((line) => element("p", { class: "small" }, line)),
      ),
    );
  }
  return null;
}
