// The page on which a person answers a survey. It shows what leaves the device before it leaves.

import { BudgetError, CollectorError, flush, load, participant, search } from "../fldp.js";
import { card } from "../shared/card.js";
import { ask, element, mainOf, notice, panel, present } from "../shared/dom.js";
import { oraclesOf } from "../shared/oracles.js";
import { concerned } from "../shared/treatment.js";
import { choices } from "./choices.js";
import { explain } from "./explain.js";
import { begin, bringIntoView, enterFrame, tellSent, wayOut } from "./frame.js";
import { learned, privacyCard } from "./learned.js";
import { forgetTicket, takeTicket } from "./ticket.js";

/** @import { Answer, Respondent, Survey } from "../fldp.js" */
/** @import { Content } from "../shared/dom.js" */
/** @import { Explanation } from "./explain.js" */

const main = mainOf();
const collector = new URL("..", location.href).href;
const name = location.pathname.split("/").pop() ?? "";
let ticket = takeTicket();
let isFirst = true; // what is shown first does not take the focus
let isWaiting = false; // for a connection

/**
 * Show a page: its heading gets the focus, so that a screen reader begins there.
 *
 * @param {string} heading
 * @param {Content[]} content
 */
function show(heading, ...content) {
  const title = element("h1", { tabindex: "-1" }, heading);
  main.removeAttribute("aria-busy");
  main.replaceChildren(title, ...present(content));
  document.title = heading;
  if (!isFirst) begin(title);
  isFirst = false;
}

/**
 * Say what went wrong in words for the person; the error itself stands below.
 *
 * @param {Error} error
 */
function failed(error) {
  const elsewhere = wayOut(error, ticket);
  if (elsewhere) return show("Open this survey in its own tab", notice("warn", elsewhere));
  const isExpected = error instanceof BudgetError || error instanceof CollectorError;
  show(
    isExpected ? "Not answered" : "Something is wrong",
    notice("bad", element("p", {}, failure(error))),
    element("p", { class: "small muted" }, error.message),
  );
}

/** @param {Error} error */
function failure(error) {
  if (error instanceof BudgetError) return "This survey was not answered, to protect you.";
  return error instanceof CollectorError && error.status === 404
    ? "There is no such survey here. The address may be wrong, or the survey was deleted."
    : "This did not work. Nothing was sent.";
}

/** @param {() => Promise<void>} work */
const attempt = (work) => () => work().catch(failed);

async function start() {
  const survey = await load(collector, name, oraclesOf, { search });
  const person = participant(survey);
  const before = await person.recall();
  const reason = refusal(survey);
  if (before) await showReport(survey, person, before, null);
  else if (reason) show(survey.question, notice("warn", element("p", {}, reason)));
  else showQuestion(survey, person);
}

/**
 * Return why a survey cannot be answered here and now, or null.
 *
 * @param {Survey} survey
 */
function refusal({ state, collect }) {
  if (state === "scheduled") return `This survey is not open yet. It opens at ${collect.opens}.`;
  if (state !== "open") return "This survey is closed. It takes no more answers.";
  if (collect.submit === "token") return "This survey is answered by programs, not on this page.";
  if (collect.submit === "ticket" && !ticket) {
    return "This survey needs a personal link. Open the one that you were sent.";
  }
  return null;
}

/**
 * @param {Survey} survey
 * @param {Respondent} person
 */
function showQuestion(survey, person) {
  const chosen = choices(survey);
  const button = element("button", { type: "submit", class: "primary" }, "See my report");
  const form = element(
    "form",
    { autocomplete: "off" },
    consent(survey),
    chosen.field,
    element("div", { class: "actions" }, button),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const label = chosen.value();
    if (label === null) {
      bringIntoView(chosen.field); // a field out of view is not checked by the browser
      return;
    }
    button.disabled = true;
    attempt(() => prepare(survey, isExposing(survey) ? allowing(survey) : person, label))();
  });
  show(
    survey.question,
    survey.description ? element("p", {}, survey.description) : null,
    isExposing(survey) ? notice("warn", element("p", {}, EXPOSING)) : notice("", element("p", {}, PROTECTED)),
    form,
    privacyCard(card(survey.oracle), isExposing(survey) ? null : concerned(survey)), // else it stands above
    footer(survey),
  );
}

const PROTECTED =
  "Your answer stays on this device. What is sent is a report that was drawn at random from it. You see it first.";
const EXPOSING =
  "What is sent is a report that is drawn at random from your answer, and it may name your answer. You see it first.";

/** @param {Survey} survey */
const isExposing = ({ oracle }) => oracle.anonymity < 2;

/**
 * Return the person who has allowed what the usual limits refuse: that a report leaves one answer.
 *
 * @param {Survey} survey
 */
const allowing = (survey) => participant(survey, { limits: { minAnonymity: 1 } });

/**
 * Ask for that, before there is an answer: whether somebody agrees must not depend on it.
 *
 * @param {Survey} survey
 */
function consent(survey) {
  if (!isExposing(survey)) return null;
  const box = element("input", { type: "checkbox", id: "exposing", required: true });
  const words = concerned(survey) ?? "A report may leave only one answer possible.";
  const label = element("label", { for: "exposing" }, box, " I allow that my report may name my answer for certain.");
  return element(
    "fieldset",
    {},
    element("legend", {}, "Not every answer is protected"),
    element("p", {}, words),
    label,
  );
}

/** Ask the browser to keep the ledger when space runs out: without it this page would draw a second report. */
const keepLedger = () => navigator.storage?.persist?.().catch(() => false);

/**
 * @param {Survey} survey
 * @param {Respondent} person
 * @param {string} label
 */
async function prepare(survey, person, label) {
  keepLedger();
  const confirm = (/** @type {readonly string[]} */ notices) =>
    ask("Before you answer", notices, "Go on", "Do not answer");
  const answer = await person.prepare(label, { confirm, ticket });
  await showReport(survey, person, answer, answer.repeated ? null : label);
}

const REPEATED = "This report was drawn before, on an earlier visit or in another tab. There is only ever one.";
const RENEWED =
  "This is today's report. It was drawn from what this device keeps of your first answer, which is not asked again.";
const DRAWN = "It was drawn at random from your answer, once: going back would not change it.";
const DONE = "You have answered this survey. Another visit sends nothing more.";
const QUEUED = "The collector cannot be reached. Your report is kept here, and sent as soon as it can be.";
const AGAIN =
  "You have answered this survey today. On another day you can send another report, made of the same answer.";

const HEADINGS = { drawn: "This would be sent", queued: "Not sent yet", sent: "Thank you, this was sent" };

/**
 * Show a report: before it is sent with a button, after that as what it was. The answer stands below the bytes, which take
 * the focus: its length must not move them.
 *
 * @param {Survey} survey
 * @param {Respondent} person
 * @param {Answer} answer
 * @param {string | null} label
 */
async function showReport(survey, person, answer, label) {
  const explanation = await explain(survey, answer.batch);
  isWaiting = answer.state === "queued";
  if (answer.state === "sent") forgetTicket();
  show(
    HEADINGS[answer.state],
    element("p", { class: "eyebrow" }, survey.question),
    status(survey, answer, label),
    panel("Your report", element("p", {}, reportText(survey)), bytes(answer.batch)),
    label === null
      ? null
      : panel(
          "Your answer",
          element("p", {}, label),
          element("p", { class: "small muted" }, fate(survey, explanation)),
        ),
    panel("What anybody can learn from it", ...learned(survey, explanation)),
    actions(survey, person, answer),
    footer(survey),
  );
}

/**
 * Say what becomes of the answer itself.
 *
 * @param {Survey} survey
 * @param {Explanation} explanation
 */
function fate({ collect }, { left }) {
  if (left === 1) return "The report above names it.";
  return collect.repeat === "daily"
    ? "It is not sent, and it is not kept. What is kept here was drawn at random from it, once; the reports of all days are drawn from that."
    : "It is not sent, and it is not kept.";
}

/** @param {Survey} survey */
function reportText({ oracle, collect }) {
  const bits = oracle.reportBits.toLocaleString("en-US");
  const text =
    "These bytes are sent, and a random number that keeps them from being counted twice. " +
    `Only ${bits} bits of them were drawn from your answer; the others name the survey, or are checksums.`;
  return [text, collect.submit === "ticket" && TICKET, collect.derive && LINKED].filter(Boolean).join(" ");
}

const TICKET = "The ticket in your link is sent with them, and is not kept beside them.";
const LINKED =
  "A part of them is computed from that ticket, so whoever has kept the links can tell which report is yours. " +
  "How little it says of your answer is shown below.";

/**
 * Say what became of a report.
 *
 * @param {Survey} survey
 * @param {Answer} answer
 * @param {string | null} label
 */
function status(survey, { state }, label) {
  const isDaily = survey.collect.repeat === "daily";
  if (state === "sent") return notice("", element("p", {}, isDaily ? AGAIN : DONE));
  if (state === "queued") return notice("warn", element("p", {}, QUEUED));
  const earlier = isDaily ? RENEWED : REPEATED;
  const reason = refusal(survey);
  return notice(
    reason ? "warn" : "",
    element("p", {}, label === null ? earlier : DRAWN),
    reason ? element("p", {}, reason) : null,
  );
}

/**
 * Make the buttons for what can be done with a report.
 *
 * @param {Survey} survey
 * @param {Respondent} person
 * @param {Answer} answer
 */
function actions(survey, person, { state }) {
  if (state === "sent" || (state === "drawn" && refusal(survey))) return null;
  const send = element(
    "button",
    { type: "button", class: "primary" },
    state === "queued" ? "Try again now" : "Send this report",
  );
  send.addEventListener("click", () => {
    send.disabled = true;
    attempt(() => deliver(survey, person))();
  });
  return element("div", { class: "actions" }, send, state === "queued" ? null : leave());
}

function leave() {
  const words = "You can close this page. If you come back, you will see the same report.";
  return element(
    "button",
    { type: "button", click: () => show("Nothing was sent", element("p", {}, words)) },
    "Do not send",
  );
}

/**
 * @param {Survey} survey
 * @param {Respondent} person
 */
async function deliver(survey, person) {
  const answer = await person.send({ ticket });
  if (answer.state === "sent") tellSent(name);
  await showReport(survey, person, answer, null);
}

/** @param {Uint8Array} batch */
function bytes(batch) {
  const text = Array.from(batch, (byte) => byte.toString(16).padStart(2, "0")).join(" ");
  return element(
    "code",
    {
      class: "bytes",
      tabindex: "0",
      role: "textbox",
      "aria-readonly": "true",
      "aria-label": "The report, byte for byte",
    },
    text,
  );
}

/** @param {Survey} survey */
const footer = ({ version }) =>
  element("p", { class: "small muted" }, "Version of the survey, computed here: ", element("code", {}, version));

/** Send what is queued, now that there may be a connection, and show that it was sent. */
async function resume() {
  if (!isWaiting || (await flush()) !== 0) return;
  tellSent(name);
  await start();
}

/** Another link was opened in this tab: only what stands after # has changed, so the page was not loaded again. */
function arrive() {
  const before = ticket;
  ticket = takeTicket();
  if (ticket !== before) attempt(start)();
}

enterFrame(name);
addEventListener("hashchange", arrive);
addEventListener("online", attempt(resume));
attempt(() => start().then(resume))();
