// The dashboard: a token, then the surveys, then one of them. What is shown is asked for again while somebody looks.
import { createView } from "../create/create.js";
import { FldpError } from "../fldp.js";
import { element, notice } from "../shared/dom.js";
import { isAdmin, keep, Refused, token, Unreachable } from "../shared/session.js";
import { surveyView } from "./survey.js";
import { surveysView } from "./surveys.js";

const EVERY = 2000; // milliseconds
const main = document.querySelector("main");
let view = null;
let shown = 0;
let timer = null;

/** Show a view: its heading gets the focus, so that a screen reader begins there. */
function show(heading, ...content) {
  const title = element("h1", { tabindex: "-1" }, heading);
  main.removeAttribute("aria-busy");
  main.replaceChildren(title, ...content.flat().filter(Boolean));
  document.title = heading;
  scrollTo(0, 0);
  if (shown++) title.focus();
}

/** Forget the token and ask for one; `words` say why. */
function leave(words = null) {
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
    { submit: (event) => (event.preventDefault(), enter(input.value.trim())) },
    element("label", { for: "token" }, "Token"),
    input,
    element(
      "p",
      { class: "small muted" },
      "One of scope read or admin. It is kept until this tab is closed, and nowhere else.",
    ),
    element("div", { class: "actions" }, element("button", { type: "submit", class: "primary" }, "Show the surveys")),
  );
  show(
    "Surveys",
    words ? notice("bad", element("p", {}, words)) : null,
    element("div", { class: "panel narrow" }, form),
  );
}

function enter(secret) {
  keep(secret);
  go();
}

/** A link may bring a token after #; it goes out of sight before anything else is done. */
function arrive() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given === null) return;
  history.replaceState(null, "", location.pathname);
  keep(given);
}

const REASONS = {
  401: "This token is not good, or not any more. Enter another one.",
  403: "This token may not read surveys. Enter one of scope read or admin.",
};

/** Make the view that the address names. */
async function made() {
  const [, kind, name, version] = location.hash.split("/");
  if (kind === "survey" && name && version) return surveyView(name, version, tick);
  if (kind === "new" && isAdmin()) return createView();
  return surveysView();
}

/** Go to what the address names. */
async function go() {
  clearTimeout(timer);
  if (!token()) return leave();
  const asked = location.hash;
  try {
    const next = await made();
    if (asked !== location.hash) return null;
    view = next;
    show(view.heading, bar(), offline, view.content);
  } catch (error) {
    return failed(error, true);
  }
  return tick();
}

function bar() {
  const home = view.isHome ? null : element("a", { href: "#/" }, "All surveys");
  const admin = isAdmin() && view.isHome ? element("a", { href: "#/new" }, "New survey") : null;
  const out = element("button", { type: "button", class: "quiet", click: () => leave() }, "Forget the token");
  return element("nav", { class: "bar", "aria-label": "Dashboard" }, home, admin, out);
}

const offline = notice(
  "warn",
  element("p", {}, "The collector cannot be reached. What is shown may be old; it is asked again."),
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

/** Say what went wrong. Where the token is the reason, ask for another. */
function failed(error, isNew) {
  if (error instanceof Refused && (error.status === 401 || error.kind === "forbidden")) {
    leave(REASONS[error.status]);
  } else if (isFinal(error) || isNew) {
    view = null;
    const words =
      error.status === 404
        ? "This survey is not here. It may have been deleted."
        : `This did not work: ${error.message}.`;
    const home = element("p", {}, element("a", { href: "#/" }, "All surveys"));
    show("Not shown", notice("bad", element("p", {}, words)), home, isFinal(error) ? null : again());
  } else {
    offline.hidden = false;
  }
  if (![Refused, Unreachable, FldpError].some((kind) => error instanceof kind)) throw error; // a mistake of the page
}

/** Tell whether asking again would be in vain. */
const isFinal = (error) => error instanceof Refused && error.status < 500 && ![408, 429].includes(error.status);

const again = () => element("button", { type: "button", click: () => go() }, "Try again");

addEventListener("hashchange", () => (arrive(), go()));
document.addEventListener("visibilitychange", () => !document.hidden && tick());
arrive();
go();
