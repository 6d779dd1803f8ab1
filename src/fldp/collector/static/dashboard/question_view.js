// The page of one question of several: its estimates, and the questions that it is crossed with.
import { element, folded, notice, present } from "../shared/dom.js";
import { get, isAdmin, kindOf, messageOf } from "../shared/session.js";
import { tableControls } from "./controls.js";
import { crossesOf, crossTable } from "./cross_table.js";
import { headlineText } from "./headline.js";
import { questionPart, TABLES_METHOD } from "./question.js";
import { amountOf, rowOf, statusLine, tooFew } from "./status.js";

/** @import { AskedQuestion, Survey } from "../fldp.js" */
/** @import { SurveyRow, TableEstimates } from "../shared/replies.d.ts" */
/** @import { View } from "./dashboard.js" */

/**
 * Return the address of the page of a question; without one, of its survey.
 *
 * @param {Survey} survey
 * @param {string} [question]
 */
export const addressOf = ({ name, version }, question) =>
  ["#/survey", name, version, ...(question === undefined ? [] : [question])].join("/");

/**
 * Make the view of a question.
 *
 * @param {Survey} survey
 * @param {AskedQuestion} chosen
 * @param {() => unknown} again
 * @returns {View}
 */
export function questionView(survey, chosen, again) {
  const { minimum, release } = survey.collect;
  const place = (survey.questions ?? []).indexOf(chosen);
  const asked = tableControls(again);
  const status = statusLine();
  const part = questionPart(chosen);
  const result = element("p", { class: "headline" });
  part.node.querySelector("h2")?.after(result);
  const path = (/** @type {string} */ more) => `v1/versions/${survey.version}/estimates?${asked.query()}${more}`;
  const isCrossed = crossesOf(survey).some((pair) => pair.includes(place));
  const cross = isCrossed ? crossTable(survey, path, chosen.name) : null;
  const isStepped = release !== undefined && !isAdmin(); // then all results together are shown, no parts
  const tools = element("div", { class: "tools" }, ...asked.period);
  const reason = element("p");
  const few = notice("", reason);
  let shown = "";

  /** @param {string | null} text */
  function show(text) {
    reason.textContent = text ?? "";
    few.hidden = text === null;
    for (const each of [part.node, cross?.node]) if (each) each.hidden = text !== null;
  }

  /** @param {SurveyRow} row */
  async function estimate({ n }) {
    if (n < minimum) return show(tooFew(n, minimum));
    try {
      /** @type {TableEstimates} */
      const reply = await get(path(""));
      const estimates = reply.questions[place];
      part.put(estimates, reply.n, reply.level);
      result.textContent = estimates.note ? "" : headlineText({ ...estimates, n: reply.n, level: reply.level })[0];
      show(null);
    } catch (error) {
      if (kindOf(error) !== "too-few") throw error;
      return show(`Nothing is shown: ${messageOf(error)}.`);
    }
    return cross?.refresh();
  }

  async function refresh() {
    const row = await rowOf(survey.version);
    status.put(row);
    tools.hidden = row.n < minimum;
    const now = `${amountOf(row)}\n${asked.query()}`;
    if (now === shown) return;
    await estimate(row);
    shown = now;
  }
  show(tooFew(0, minimum));
  const content = present([
    ways(survey, place),
    status.node,
    isStepped ? null : tools,
    few,
    part.node,
    cross?.node,
    folded("How this was computed", asked.methods, element("p", {}, TABLES_METHOD)),
  ]);
  return { heading: survey.question, content, refresh };
}

/**
 * Make the links to the survey, and to the questions before and after this one.
 *
 * @param {Survey} survey
 * @param {number} place
 */
function ways(survey, place) {
  const questions = survey.questions ?? [];
  const to = (/** @type {AskedQuestion | undefined} */ each, /** @type {string} */ text) =>
    each ? element("a", { href: addressOf(survey, each.name) }, text) : null;
  return element(
    "nav",
    { class: "ways", "aria-label": "Questions of this survey" },
    element("a", { href: addressOf(survey) }, "All questions"),
    to(questions[place - 1], "Previous question"),
    to(questions[place + 1], "Next question"),
  );
}
