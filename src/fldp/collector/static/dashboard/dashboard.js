// The dashboard: a token, then the surveys, then one of them. What is shown is asked for again while somebody looks.
import { createView } from "../create/create.js";
import { questionsFormView } from "../create/questions.js";
import { stepsView } from "../create/steps.js";
import { CollectorError, FldpError } from "../fldp.js";
import { element, mainOf, notice, present } from "../shared/dom.js";
import { isAdmin, keep, messageOf, Refused, token, Unreachable } from "../shared/session.js";
import { appView } from "./app.js";
import { surveyView } from "./survey.js";
import { surveysView } from "./surveys.js";
import { tokensView } from "./tokens.js";

/** @import { Content } from "../shared/dom.js" */

/**
 * What the dashboard shows: `refresh` asks for all that may have changed.
 *
 * @typedef {{ heading: string, content: Content[], refresh: () => Promise<void> }} View
 */

const EVERY = 2000; // milliseconds
const main = mainOf();
const nav = document.querySelector("header nav");
const out = document.querySelector("header .out");

/** @type {View | null} */
let view = null;
let isFirst = true; // what is shown first does not take the focus
let timer = 0;

/**
 * Show a view: its heading gets the focus, so that a screen reader begins there.
 *
 * @param {string} heading
 * @param {Content[]} content
 */
function show(heading, ...content) {
  nav?.replaceChildren(...(token() ? links() : []));
  out?.replaceChildren(...(token() ? [signOut()] : []));
  const title = element("h1", { tabindex: "-1" }, heading);
  main.removeAttribute("aria-busy");
  main.classList.remove("entrance");
  main.replaceChildren(title, ...present(content));
  document.title = heading;
  scrollTo(0, 0);
  if (!isFirst) title.focus();
  isFirst = false;
}

/**
 * Forget the token and ask for one; `reason` says why.
 *
 * @param {string} [reason]
 */
function leave(reason) {
  keep(null);
  view = null;
  const input = element("input", {
    type: "password",
    id: "token",
    autocomplete: "off",
    spellcheck: "false",
    required: true,
  });
  const form = element(
    "form",
    {
      submit: (event) => {
        event.preventDefault();
        keep(input.value.trim());
        go();
      },
    },
    element("label", { for: "token" }, "Token"),
    input,
    element(
      "p",
      { class: "small muted" },
      "Whoever runs this collector gives you one. This tab forgets it when you close it.",
    ),
    element("div", { class: "actions" }, element("button", { type: "submit", class: "primary" }, "Sign in")),
  );
  const problem = reason ? notice("bad", element("p", {}, reason)) : null;
  const words = element("p", { class: "muted" }, PURPOSE);
  show("Sign in", words, problem, element("div", { class: "panel" }, form));
  main.classList.add("entrance");
}

const PURPOSE = "See what everybody's answers show together, with error bars. Nobody's own answer is here.";

/** A link may bring a token after #; it goes out of sight before anything else is done. */
function arrive() {
  const brought = new URLSearchParams(location.hash.slice(1)).get("token");
  if (brought === null) return;
  history.replaceState(null, "", location.pathname);
  keep(brought);
}

/** @type {Record<number, string>} */
const REASONS = {
  401: "This token is invalid or has been revoked. Enter another one.",
  403: "This token may not read surveys. Enter one of scope read or admin.",
};

/** @type {Map<string | undefined, () => Promise<View>>} */
const FORMS = new Map([
  ["advanced", createView],
  ["questions", questionsFormView],
]);

/** Make the view that the address names. */
async function addressed() {
  const [, kind, name, version, question] = location.hash.split("/");
  if (kind === "survey" && name && version) return surveyView(name, version, tick, question);
  if (kind === "app" && name) return appView(name);
  if (kind === "new" && isAdmin()) return (FORMS.get(name) ?? stepsView)();
  if (kind === "tokens" && isAdmin()) return tokensView();
  return surveysView();
}

/** Go to what the address names. */
async function go() {
  clearTimeout(timer);
  if (!token()) return leave();
  const asked = location.hash;
  try {
    const next = await addressed();
    if (asked !== location.hash) return undefined;
    view = next;
    show(view.heading, offline, ...view.content);
  } catch (error) {
    return failed(error, true);
  }
  return tick();
}

/** Make the links of the header: where one is stands out. */
function links() {
  const [, kind = ""] = location.hash.split("/");
  const part = kind === "survey" || kind === "app" ? "" : kind; // one of the surveys is a part of them
  const pages = isAdmin() ? PAGES : PAGES.slice(0, 1);
  return pages.map(([page, text]) =>
    element("a", { href: `#/${page}`, "aria-current": page === kind ? "page" : page === part ? "true" : null }, text),
  );
}

const signOut = () => element("button", { type: "button", class: "quiet", click: () => leave() }, "Sign out");

const PAGES = [
  ["", "Surveys"],
  ["new", "New survey"],
  ["tokens", "Tokens"],
];

const offline = notice(
  "warn",
  element("p", {}, "The collector cannot be reached. What you see may be out of date; this page keeps trying."),
);
offline.hidden = true;

/** Ask again what may have changed, while somebody looks. */
async function tick() {
  clearTimeout(timer);
  const current = view;
  if (current && !document.hidden) {
    try {
      await current.refresh();
      offline.hidden = true;
    } catch (error) {
      if (current === view) failed(error, false);
    }
  }
  clearTimeout(timer); // another round may have begun meanwhile
  if (view) timer = setTimeout(tick, EVERY);
}

/**
 * Say what went wrong. Where the token is the reason, ask for another.
 *
 * @param {unknown} error
 * @param {boolean} isNew
 */
function failed(error, isNew) {
  if (error instanceof Refused && (error.status === 401 || error.kind === "forbidden")) {
    leave(REASONS[error.status]);
  } else if (isFinal(error) || isNew) {
    view = null;
    const isGone = (error instanceof Refused || error instanceof CollectorError) && error.status === 404;
    const [heading, words] = isGone
      ? ["No such survey", "This survey is not here. It may have been deleted."]
      : ["Something went wrong", `${sentence(messageOf(error))}.`];
    const home = element("a", { class: "button", href: "#/" }, "All surveys");
    const actions = element("div", { class: "actions" }, isFinal(error) ? null : again(), home);
    show(heading, notice("bad", element("p", {}, words)), actions);
  } else {
    offline.hidden = false;
  }
  if (![Refused, Unreachable, FldpError].some((kind) => error instanceof kind)) throw error; // a mistake of the page
}

/**
 * Whether asking again would be pointless.
 *
 * @param {unknown} error
 */
const isFinal = (error) => error instanceof Refused && error.status < 500 && ![408, 429].includes(error.status);

const again = () => element("button", { type: "button", class: "primary", click: () => go() }, "Try again");

/** @param {string} text */
const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);

addEventListener("hashchange", () => {
  arrive();
  go();
});
document.addEventListener("visibilitychange", () => !document.hidden && tick());
arrive();
go();
