// The page on which a person answers a survey. It shows what leaves the device before it leaves.

import { BudgetError, CollectorError, flush } from "../fldp.js";
import { card } from "../shared/card.js";
import { ask, element, list, mainOf, notice, panel, present } from "../shared/dom.js";
import { refusal as limitOf } from "../shared/limits.js";
import { concerned } from "../shared/treatment.js";
import { choices } from "./choices.js";
import { explain } from "./explain.js";
import { begin, bringIntoView, enterFrame, tellSent, wayOut } from "./frame.js";
import { guessed, learned, privacyCard } from "./learned.js";
import { parties } from "./parties.js";
import { fetched, hasNewKeys, isRelayed, nameHere, passFor, personFor, relays } from "./place.js";
import { aboutPanel, answersPanel, beforeQuestions, explainSeveral, questionsForm } from "./several.js";
import { en } from "./texts/en.js";
import { textsOf } from "./texts/texts.js";
import { askedVersion, forgetTicket, takeTicket } from "./ticket.js";

/** @import { Answer, Respondent, Survey } from "../fldp.js" */
/** @import { Content } from "../shared/dom.js" */
/** @import { Explanation } from "./explain.js" */
/** @import { Answers } from "./several.js" */

const main = mainOf();
const name = nameHere();
let ticket = takeTicket();
/** @type {string | undefined} */
let pass; // what the ticket was exchanged for, where the survey takes passes
let version = askedVersion();
let words = en; // in the survey's language, once it is known
let isFirst = true; // what is shown first does not take the focus
let waitsFor = ""; // what is done when there is a connection: the state of an answer

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
  const elsewhere = wayOut(error, words, ticket);
  if (elsewhere) return show(words.ownTab, notice("warn", elsewhere));
  const isExpected = error instanceof BudgetError || error instanceof CollectorError;
  if (error instanceof CollectorError && error.status === 404) {
    return show(words.notFound, notice("bad", element("p", {}, words.missing)));
  }
  return show(
    isExpected ? words.notAnswered : words.wrong,
    notice("bad", element("p", {}, error instanceof BudgetError ? words.toProtect : words.failed)),
    element("p", { class: "small muted" }, error.message),
  );
}

/** @param {() => Promise<void>} work */
const attempt = (work) => () => work().catch(failed);

async function start() {
  const survey = await fetched(name, version);
  speak(survey);
  if (survey.collect.submit === "pass" && (isRelayed || !survey.collect.oblivious)) await exchangeTicket(survey);
  const person = personFor(survey);
  const before = await person.recall();
  const reason = refusal(survey);
  if (before && !(await person.isDue())) await showReport(survey, person, before, null);
  else if (reason) show(titleOf(survey), notice("warn", element("p", {}, reason)));
  else if (survey.questions) await beginQuestions(survey, person);
  else await showQuestion(survey, person);
}

/**
 * Exchange the ticket for a pass, as soon as the survey is opened: the more time lies between the two, the less it tells.
 *
 * @param {Survey} survey
 */
async function exchangeTicket(survey) {
  pass = await passFor(survey, survey.state === "open" ? ticket : undefined);
  if (pass) forgetTicket();
}

/** Return what the report is sent with. */
const shown = () => ({ ticket: pass ?? ticket });

/**
 * Return what stands above a survey: its question, or what stands for several.
 *
 * @param {Survey} survey
 */
const titleOf = ({ question, questions, title }) =>
  questions ? (title ?? words.questions(questions.length)) : question;

/**
 * Speak the language of a survey.
 *
 * @param {Survey} survey
 */
function speak(survey) {
  words = textsOf(survey);
  document.documentElement.lang = words.language;
}

/**
 * Write a moment as it is said where the person is.
 *
 * @param {string} moment
 */
const timeText = (moment) => new Date(moment).toLocaleString(words.language, { dateStyle: "long", timeStyle: "short" });

/**
 * Return why a survey cannot be answered here and now, or null.
 *
 * @param {Survey} survey
 */
function refusal({ state, collect }) {
  if (state === "scheduled") return words.scheduled(timeText(String(collect.opens)));
  if (state !== "open") return words.closed;
  if (collect.submit === "token") return words.programs;
  if (collect.oblivious && !isRelayed) return words.relayOnly;
  if (collect.submit === "pass") return pass ? null : words.personal;
  return collect.submit === "ticket" && !ticket ? words.personal : null;
}

/**
 * @param {Survey} survey
 * @param {Respondent} person
 */
async function showQuestion(survey, person) {
  const chosen = choices(survey, words);
  const button = element("button", { type: "submit", class: "primary" }, words.seeReport);
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
  const told = isExposing(survey) ? null : concerned(survey, words.card); // else it stands above
  show(
    survey.question,
    survey.description ? element("p", {}, survey.description) : null,
    await limitNotice(survey),
    anewNotice(survey),
    notice(
      isExposing(survey) ? "warn" : "",
      element("p", {}, isExposing(survey) ? words.exposing : words.protected),
      isRelayed ? element("p", {}, words.relayed) : null,
    ),
    isFollowing(survey) ? notice("", element("p", {}, words.following)) : null,
    hasNewKeys() ? notice("warn", element("p", {}, words.newKeys)) : null,
    form,
    details(
      privacyCard(card(survey.oracle, words.card), told, words.card),
      parties(survey, words.parties),
      versionLine(survey),
    ),
  );
  if (survey.title) main.prepend(element("p", { class: "eyebrow above" }, survey.title));
}

/**
 * Ask several questions. Where chance chooses a few of them, nobody sees which before they begin.
 *
 * @param {Survey} survey
 * @param {Respondent} person
 */
async function beginQuestions(survey, person) {
  const go = attempt(() => showQuestions(survey, person));
  if (survey.asksLess) show(...(await aboveQuestions(survey)), beforeQuestions(survey, words, go), ...cardOf(survey));
  else await showQuestions(survey, person);
}

/**
 * @param {Survey} survey
 * @param {Respondent} person
 */
async function showQuestions(survey, person) {
  const asked = await person.asked(shown());
  const answering = (/** @type {Answers} */ answers) => attempt(() => prepare(survey, person, answers))();
  show(...(await aboveQuestions(survey)), questionsForm(asked, words, answering), ...cardOf(survey));
}

/**
 * @param {Survey} survey
 * @returns {Promise<[string, ...Content[]]>}
 */
async function aboveQuestions(survey) {
  return [
    titleOf(survey),
    survey.description ? element("p", {}, survey.description) : null,
    await limitNotice(survey),
    anewNotice(survey),
    notice("", element("p", {}, words.protectedSeveral), isRelayed ? element("p", {}, words.relayed) : null),
    hasNewKeys() ? notice("warn", element("p", {}, words.newKeys)) : null,
  ];
}

/** @param {Survey} survey */
const cardOf = (survey) => [
  details(
    privacyCard(card(survey.oracle, words.card), null, words.card),
    parties(survey, words.parties),
    versionLine(survey),
  ),
];

/**
 * Make a part that people open if they want to know more.
 *
 * @param {Content[]} content
 */
const details = (...content) =>
  element("details", { class: "more" }, element("summary", {}, words.details), ...content);

/**
 * Say at once if no device with the usual limits would answer, before anybody has chosen something.
 *
 * @param {Survey} survey
 */
async function limitNotice(survey) {
  const reason = await limitOf(survey, isExposing(survey) ? { minAnonymity: 1 } : {});
  return reason && notice("warn", element("p", {}, words.tooMuch), element("p", { class: "small" }, `${reason}.`));
}

/**
 * Whether the answer is asked for again on other days.
 *
 * @param {Survey} survey
 */
const isFollowing = ({ oracle, collect }) => oracle.follows && collect.repeat !== undefined;

/** @param {Survey} survey */
const isExposing = ({ oracle }) => oracle.anonymity < 2;

/**
 * Return the person who has allowed what the usual limits refuse: that a report leaves one answer.
 *
 * @param {Survey} survey
 */
const allowing = (survey) => personFor(survey, { limits: { minAnonymity: 1 } });

/**
 * Ask for that, before there is an answer: whether somebody agrees must not depend on it.
 *
 * @param {Survey} survey
 */
function consent(survey) {
  if (!isExposing(survey)) return null;
  const box = element("input", { type: "checkbox", id: "exposing", required: true });
  const reason = concerned(survey, words.card) ?? words.consentReason;
  const label = element("label", { for: "exposing" }, box, ` ${words.consent}`);
  return element("fieldset", {}, element("legend", {}, words.consentTitle), element("p", {}, reason), label);
}

/** Ask the browser to keep the ledger when space runs out: without it this page would draw a second report. */
const keepLedger = () => navigator.storage?.persist?.().catch(() => false);

/**
 * @param {Survey} survey
 * @param {Respondent} person
 * @param {string | Answers} label
 */
async function prepare(survey, person, label) {
  keepLedger();
  const confirm = (/** @type {readonly string[]} */ notices) =>
    ask(words.askTitle, notices.map(words.notice), words.goOn, words.doNotAnswer);
  const answer = await person.prepare(label, { confirm, ...shown() });
  await showReport(survey, person, answer, answer.repeated ? null : label);
}

/**
 * Show a report: before it is sent with a button, after that as what it was. What is folded takes the focus, so nothing
 * above it may depend on the answer: that and what the report rules out stand below.
 *
 * @param {Survey} survey
 * @param {Respondent} person
 * @param {Answer} answer
 * @param {string | Answers | null} label
 */
async function showReport(survey, person, answer, label) {
  const about = survey.questions ? await explainSeveral(survey, answer.batch) : null;
  const explanation = about ?? (await explain(survey, answer.batch));
  waitsFor = ["queued", "withdrawing"].includes(answer.state) ? answer.state : "";
  if (answer.state === "sent") forgetTicket();
  show(
    words.headings[answer.state],
    element("p", { class: "eyebrow" }, titleOf(survey)),
    status(survey, answer, label === null),
    panel(words.report, reportLine(survey, explanation), details(...report(survey, answer.batch))),
    typeof label === "string" ? answerPanel(survey, label, explanation) : null,
    about ? aboutPanel(survey, about, words) : learnedPanel(survey, explanation),
    about && label !== null && typeof label !== "string" ? answersPanel(survey, label, about, words) : null,
    actions(survey, person, answer),
  );
}

/**
 * Say how much better a guess becomes; of several questions it stands below, since chance chose what it is about.
 *
 * @param {Survey} survey
 * @param {Explanation} explanation
 */
const reportLine = (survey, explanation) =>
  survey.questions ? element("p", {}, words.oneReport) : guessed(survey, explanation, words);

/**
 * @param {Survey} survey
 * @param {string} label
 * @param {Explanation} explanation
 */
const answerPanel = (survey, label, explanation) =>
  panel(words.answer, element("p", {}, label), element("p", { class: "small muted" }, fate(survey, explanation)));

/**
 * @param {Survey} survey
 * @param {Explanation} explanation
 */
const learnedPanel = (survey, explanation) => panel(words.learned, ...learned(survey, explanation, words));

/**
 * Say what becomes of the answer itself.
 *
 * @param {Survey} survey
 * @param {Explanation} explanation
 */
function fate(survey, { left }) {
  if (left === 1) return words.named;
  if (isFollowing(survey)) return words.notKeptFollowing;
  return survey.collect.repeat && survey.oracle.keep ? words.notKeptDaily : words.notKept;
}

/**
 * Make what is known of a report itself: its bytes, and which part of them is about the answer.
 *
 * @param {Survey} survey
 * @param {Uint8Array} batch
 */
const report = (survey, batch) => [
  element("p", {}, reportText(survey)),
  bytes(batch),
  numbers(survey),
  parties(survey, words.parties, true),
  versionLine(survey),
];

/**
 * Say what is promised, in numbers.
 *
 * @param {Survey} survey
 */
const numbers = ({ oracle }) => list(card(oracle, words.card).numbers);

/** @param {Survey} survey */
function reportText({ oracle, collect }) {
  const text = words.bytes(oracle.reportBits.toLocaleString(words.language));
  if (collect.submit === "pass") return [text, words.pass, collect.derive && words.unlinked].filter(Boolean).join(" ");
  return [text, collect.submit === "ticket" && words.ticket, collect.derive && words.linked].filter(Boolean).join(" ");
}

/**
 * Say when there can be another report, and how an earlier one came about.
 *
 * @param {Survey} survey
 */
function again(survey) {
  const { repeat } = survey.collect;
  if (isFollowing(survey)) return { done: `${words.doneForNow} ${words.following}`, earlier: words.drawnForNow };
  if (!repeat) return { done: words.done, earlier: words.repeated };
  if (repeat === "daily") return { done: words.doneToday, earlier: words.renewed };
  const { done, doneKept, repeated, renewed } = words.periods[repeat];
  return survey.oracle.keep ? { done: doneKept, earlier: renewed } : { done, earlier: repeated };
}

/**
 * Say that answers add up, where one is drawn anew in each period.
 *
 * @param {Survey} survey
 */
function anewNotice({ collect: { repeat }, oracle }) {
  return repeat && repeat !== "daily" && !oracle.keep ? notice("", element("p", {}, words.periods[repeat].anew)) : null;
}

/**
 * Say what became of a report.
 *
 * @param {Survey} survey
 * @param {Answer} answer
 * @param {boolean} isEarlier
 */
function status(survey, { state }, isEarlier) {
  const { done, earlier } = again(survey);
  if (state === "sent") return notice("", element("p", {}, done));
  if (state === "queued") return notice("warn", element("p", {}, words.queued));
  if (state === "withdrawing") return notice("warn", element("p", {}, words.withdrawing));
  if (state === "withdrawn") return notice("", element("p", {}, words.withdrawn));
  const reason = refusal(survey);
  return notice(
    reason ? "warn" : "",
    element("p", {}, isEarlier ? earlier : survey.questions ? words.drawnSeveral : words.drawn),
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
  if (state === "sent" || state === "withdrawing") return taking(survey, person, state);
  if (state === "withdrawn" || (state === "drawn" && refusal(survey))) return null;
  const send = element(
    "button",
    { type: "button", class: "primary" },
    state === "queued" ? words.sendAgain : words.send,
  );
  send.addEventListener("click", () => {
    send.disabled = true;
    attempt(() => deliver(survey, person))();
  });
  return element("div", { class: "actions" }, send, state === "queued" ? null : leave());
}

/**
 * Make the button that takes a report back.
 *
 * @param {Survey} survey
 * @param {Respondent} person
 * @param {"sent" | "withdrawing"} state
 */
function taking(survey, person, state) {
  const take = element("button", { type: "button" }, state === "sent" ? words.takeBack : words.takeBackAgain);
  take.addEventListener("click", () => attempt(() => takeBack(survey, person, state === "sent"))());
  return element("div", { class: "actions" }, take);
}

/**
 * @param {Survey} survey
 * @param {Respondent} person
 * @param {boolean} asks
 */
async function takeBack(survey, person, asks) {
  if (asks && !(await ask(words.takeBackTitle, words.takeBackNotices, words.takeBack, words.keepIt))) return;
  await showReport(survey, person, await person.withdraw(shown()), null);
}

const leave = () =>
  element(
    "button",
    { type: "button", click: () => show(words.nothingSent, element("p", {}, words.comeBack)) },
    words.doNotSend,
  );

/**
 * @param {Survey} survey
 * @param {Respondent} person
 */
async function deliver(survey, person) {
  const answer = await person.send(shown());
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
      "aria-label": words.reportBytes,
    },
    text,
  );
}

/** @param {Survey} survey */
const versionLine = ({ version }) =>
  element("p", { class: "small muted" }, words.version, element("code", {}, version));

/** Send what is queued or take it back, now that there may be a connection, and show that it was done. */
async function resume() {
  const waited = waitsFor;
  if (!waited || (await flush({ relays })) !== 0) return;
  if (waited === "queued") tellSent(name);
  await start();
}

/** Another link was opened in this tab: only what stands after # has changed, so the page was not loaded again. */
function arrive() {
  if (nameHere() !== name) return location.reload();
  const before = ticket + version;
  ticket = takeTicket();
  version = askedVersion();
  if (ticket + version !== before) attempt(start)();
}

enterFrame(name);
addEventListener("hashchange", arrive);
addEventListener("online", attempt(resume));
attempt(() => start().then(resume))();
