// A survey of several questions: each with its estimates, two of them together, which go together, and people per view.
import { privacyCard } from "../answer/learned.js";
import { analystWords } from "../shared/analyst_words.js";
import { card } from "../shared/card.js";
import { columns, element, folded, notice, panel, present } from "../shared/dom.js";
import { count } from "../shared/format.js";
import { download, get, isAdmin, kindOf, messageOf } from "../shared/session.js";
import { associations } from "./associations.js";
import { comparison } from "./comparison.js";
import { tableControls } from "./controls.js";
import { crossTable } from "./cross_table.js";
import { headlineText } from "./headline.js";
import { integrity } from "./integrity.js";
import { manage } from "./manage.js";
import { lineOf, overTime, tableOf } from "./over_time.js";
import { questionPart, TABLES_METHOD } from "./question.js";
import { addressOf } from "./question_view.js";
import { share } from "./share.js";
import { amountOf, rowOf, statusLine, tooFew, windowOf } from "./status.js";

/** @import { Survey } from "../fldp.js" */
/** @import { SurveyRow, TableEstimates } from "../shared/replies.d.ts" */
/** @import { View } from "./dashboard.js" */

/**
 * Make the view of a survey of several questions.
 *
 * @param {Survey} survey
 * @param {SurveyRow} first
 * @param {() => unknown} again
 * @returns {Promise<View>}
 */
export async function questionsView(survey, first, again) {
  const asked = tableControls(again);
  const status = statusLine();
  const tables = tablesPart(survey, asked.query, again);
  const isStepped = survey.collect.release !== undefined && !isAdmin(); // then all results together are shown, no parts
  const daily = isStepped ? null : overTime(survey);
  const compare = isStepped ? null : comparison(survey, asked, get);
  const tools = element("div", { class: "tools" }, ...asked.period);
  const honesty = integrity(survey);
  let shown = "";

  async function refresh() {
    const row = await rowOf(survey.version);
    status.put(row);
    const tests = row.n < survey.collect.minimum ? null : honesty.refresh(windowOf(asked.query()), row.n);
    tools.hidden = row.n < survey.collect.minimum;
    const now = `${amountOf(row)}\n${asked.query()}`;
    const isSame = now === shown;
    await Promise.all([isSame || tables.refresh(row), isSame || daily?.refresh().then(compare?.offer), tests]);
    shown = now;
  }

  const content = present([
    status.node,
    honesty.warning,
    isStepped ? null : tools,
    columns(tables.content.slice(0, 2), share(survey), [
      ...tables.content.slice(2),
      daily?.node,
      compare?.node,
      folded(
        "How this was computed",
        asked.methods,
        element("p", {}, TABLES_METHOD),
        tables.methods,
        honesty.node,
        privacyCard(card(survey.oracle, analystWords)),
      ),
      isAdmin() ? manage(survey, first.state, again) : null,
    ]),
  ]);
  return { heading: survey.question, content, refresh };
}

/**
 * Make the part with all tables, which is hidden while there are too few reports.
 *
 * @param {Survey} survey
 * @param {() => URLSearchParams} query
 * @param {() => unknown} again
 */
function tablesPart(survey, query, again) {
  const questions = survey.questions ?? [];
  const parts = questions.map((each) => questionPart(each));
  const reason = element("p");
  const few = notice("", reason);
  const lines = questions.map(({ question, name }) => overviewLine(question, addressOf(survey, name)));
  const overview = element(
    "tbody",
    {},
    lines.map(({ node }) => node),
  );
  const looks = element("p", { class: "small" });
  const path = (/** @type {string} */ more) => `v1/versions/${survey.version}/estimates?${query()}${more}`;
  const save = () => download(path("&format=csv"), `${survey.name}.csv`, null).catch(again); // which says what is wrong
  const file = element("button", { type: "button", click: save }, "Download all tables as CSV");
  const list = panel(
    "Questions",
    element(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Results in short" },
      element("table", { class: "overview" }, overview),
    ),
    looks,
    element("div", { class: "actions" }, file),
  );
  const cross = crossTable(survey, path);
  const pairs = associations(survey, path);
  const people = element("tbody");
  const about = element("p", { class: "small" });
  const views = panel(
    "People per view",
    about,
    tableOf("As a table", ["What a report is about", "People"], people, "People per view"),
  );
  const methods = element("div");
  const tables = [list, ...parts.map(({ node }) => node), cross.node, pairs.node, views, methods];

  /** @param {string | null} text */
  function show(text) {
    reason.textContent = text ?? "";
    few.hidden = text === null;
    for (const part of tables) part.hidden = text !== null;
  }

  /** @param {TableEstimates} reply */
  function put(reply) {
    show(null);
    const { n, level, views: seen } = reply;
    looks.textContent = query().has("anytime") ? EVERY_LOOK : ONE_LOOK;
    reply.questions.forEach((estimates, place) => {
      parts[place].put(estimates, n, level);
    });
    reply.questions.forEach((estimates, place) => {
      lines[place].put(estimates, n, level);
    });
    const numbers = seen.map((view) => view.people);
    about.textContent = `Chance put the ${count(n)} people into ${count(seen.length)} views, with ${count(Math.min(...numbers))} to ${count(Math.max(...numbers))} people each. A report tells what it is about, and nothing about the other questions.`;
    people.replaceChildren(...seen.map((view) => lineOf([view.questions, count(view.people)])));
    const biased = reply.biased
      ? "Post-processed to be consistent, which is biased. The intervals belong to the unbiased tables."
      : "Unbiased: a share may be below zero.";
    methods.replaceChildren(element("p", {}, biased));
  }

  /** @param {SurveyRow} row */
  async function refresh({ n }) {
    const { minimum } = survey.collect;
    if (n < minimum) return show(tooFew(n, minimum));
    try {
      /** @type {TableEstimates} */
      const reply = await get(path(""));
      put(reply);
    } catch (error) {
      if (kindOf(error) !== "too-few") throw error;
      return show(`Nothing is shown: ${messageOf(error)}.`);
    }
    await Promise.all([cross.refresh(), pairs.refresh()]);
    return undefined;
  }
  show(tooFew(0, survey.collect.minimum));
  return { content: [few, ...tables.slice(0, -1)], methods, refresh };
}

const EVERY_LOOK =
  "The intervals of a question hold for all of its answers and whenever you look, on days that were chosen beforehand. " +
  "Cross-tables, associations and shares among those who answered are for this one look.";
const ONE_LOOK =
  "Intervals are for one question and this one look. Looking every day, or at many questions, misleads more often than the level says.";

/**
 * Make the line of a question in the list: what it asks, which leads to its own page, and its result in one sentence.
 * The link stays the same element, so that a click on it is not lost when `put` changes the result.
 *
 * @param {string} question
 * @param {string} href
 */
function overviewLine(question, href) {
  const result = element("td");
  const node = element("tr", {}, element("th", { scope: "row" }, element("a", { href }, question)), result);

  /**
   * @param {TableEstimates["questions"][number]} estimates
   * @param {number} n
   * @param {number} level
   */
  function put(estimates, n, level) {
    result.textContent = estimates.note ? `Not shown: ${estimates.note}.` : headlineText({ ...estimates, n, level })[0];
  }
  return { node, put };
}
