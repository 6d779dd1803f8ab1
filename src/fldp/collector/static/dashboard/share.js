// How to have a survey answered: its link, a QR code of it, what to put on a page of one's own, and personal links.
import { copyable } from "../shared/copy.js";
import { drawn, element, notice } from "../shared/dom.js";
import { count } from "../shared/format.js";
import { qrCode } from "../shared/qr.js";
import { collector, isAdmin, messageOf, post, save } from "../shared/session.js";
import { field } from "./controls.js";

/** @import { Survey } from "../fldp.js" */

const QUIET = 4; // light modules around a code
const MAX_TICKETS = 100_000;

/** @param {string} text */
const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");

/**
 * Return the code that puts a survey on a page.
 *
 * @param {Survey} survey
 */
const embedCode = ({ name, title, question }) =>
  `<script src="${collector}static/embed.js" data-survey="${name}" data-title="${escaped(title ?? question)}" async></script>`;

const WHO = {
  open: "Anybody with this link can answer.",
  ticket: "Everybody needs a personal link; this one alone lets nobody answer.",
  pass: "Everybody needs a personal link; this one alone lets nobody answer. Nobody can tell which report came by which link.",
  token: "This survey is answered by programs with a token, not on its page.",
};

/**
 * Draw a QR code.
 *
 * @param {string} text
 */
function picture(text) {
  const code = qrCode(text);
  if (!code) return null;
  const size = code.length + 2 * QUIET;
  const path = code.flatMap((line, row) =>
    line.map((isDark, column) => (isDark ? `M${column + QUIET} ${row + QUIET}h1v1h-1z` : "")),
  );
  return drawn(
    "svg",
    { class: "qr", viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": "QR code of the link" },
    drawn("rect", { width: size, height: size, fill: "#fff" }),
    drawn("path", { d: path.join(""), fill: "#000" }),
  );
}

/**
 * Make the part with the QR code, and a button that saves it.
 *
 * @param {string} link
 * @param {string} name
 */
function qrPart(link, name) {
  const svg = picture(link);
  if (!svg) return element("p", { class: "small muted" }, "The link is too long for a QR code.");
  const keep = () =>
    save(new Blob([new XMLSerializer().serializeToString(svg)], { type: "image/svg+xml" }), `${name}.svg`);
  const button = element("button", { type: "button", class: "quiet", click: keep }, "Save the QR code");
  return element("div", { class: "code" }, svg, button);
}

/**
 * Make the part that makes personal links: they are saved as a file, and shown nowhere.
 *
 * @param {Survey} survey
 * @param {string} link what a ticket is put behind
 */
function ticketPart({ name, version }, link) {
  const input = element("input", { id: "tickets", type: "number", min: 1, max: MAX_TICKETS, step: 1, value: 100 });
  input.required = true;
  const button = element("button", { type: "submit" }, "Create and save links");
  const said = element("div", { "aria-live": "polite" });
  const form = element("form", { class: "stack" }, field("How many people to invite", input), button, said);
  const make = async () => {
    /** @type {{ tickets: string[] }} */
    const { tickets } = await post(`v1/versions/${version}/tickets`, { count: input.valueAsNumber });
    const lines = ["link", ...tickets.map((ticket) => `${link}ticket=${ticket}`)];
    save(new Blob([`${lines.join("\r\n")}\r\n`], { type: "text/csv" }), `${name}-links.csv`);
    return `${count(tickets.length)} ${tickets.length === 1 ? "link was" : "links were"} made and saved. Each works once. They are not shown again.`;
  };
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    const words = await make().catch((error) => `No links were made: ${messageOf(error)}.`);
    said.replaceChildren(element("p", { class: "small" }, words));
    button.disabled = false;
  });
  return element("div", {}, element("h3", {}, "Personal links"), form);
}

/**
 * Make the part about the page of somebody's own.
 *
 * @param {Survey} survey
 */
function embedPart(survey) {
  const { origins } = survey.collect;
  const where = origins.length
    ? `Put this where you want the survey, on a page of ${origins.join(" or ")}:`
    : "This survey names no pages that may embed it. Name their origins when you make a survey (under Advanced), then put this there:";
  return element(
    "details",
    {},
    element("summary", {}, "Show it on your own page"),
    element("p", {}, where),
    copyable("Embed code", embedCode(survey), "Copy the code"),
  );
}

/**
 * @param {Survey} survey
 * @param {string} link
 */
function ticketed(survey, link) {
  const { submit, issuer } = survey.collect;
  if (submit !== "ticket" && submit !== "pass") return null;
  if (issuer) return notice("", element("p", {}, `Personal links come from whoever issues the passes, ${issuer}.`));
  const words = "To make personal links, sign in with an admin token, or run fldp ticket create.";
  return isAdmin() ? ticketPart(survey, link + (link.includes("#") ? "&" : "#")) : notice("", element("p", {}, words));
}

/**
 * Make what shares a link: to copy, to open, as a QR code, and a personal one for everybody.
 *
 * @param {Survey} survey
 * @param {string} link
 */
function linkPart(survey, link) {
  const { submit } = survey.collect;
  return element(
    "div",
    { class: "sharing" },
    element(
      "div",
      {},
      element("p", {}, WHO[submit]),
      submit === "token" ? null : copyable("Link", link, "Copy the link"),
      element("p", {}, element("a", { href: link, target: "_blank", rel: "noopener" }, "Open the page")),
      ticketed(survey, link),
    ),
    submit === "open" ? qrPart(link, survey.name) : null,
  );
}

const RELAYED =
  "This survey is answered through a relay only, on the page of whoever runs it: the page of this collector refuses. " +
  "Somebody else starts the relay with the command below, and tells you its address.";

/**
 * Make the part of a survey that is answered through a relay, whose address somebody enters.
 *
 * @param {Survey} survey
 */
function relayPart(survey) {
  const input = element("input", {
    id: "relay",
    type: "url",
    placeholder: "https://relay.example",
    spellcheck: "false",
  });
  const shown = element("div");
  input.addEventListener("input", () => {
    const isGood = input.validity.valid && /^https?:/.test(input.value);
    const link = `${input.value.replace(/\/+$/, "")}/s/#${survey.name}`;
    shown.replaceChildren(...(isGood ? [linkPart(survey, link)] : []));
  });
  const command = `fldp relay --to ${collector.replace(/\/$/, "")} --pages`;
  return element(
    "div",
    { class: "stack" },
    element("p", {}, RELAYED),
    copyable("Command", command, "Copy the command"),
    field("Address of the relay", input),
    shown,
  );
}

/**
 * Make the part that shares a survey.
 *
 * @param {Survey} survey
 */
export function share(survey) {
  const { submit, oblivious } = survey.collect;
  const isOnPages = submit !== "token" && !oblivious; // the page of a relay cannot stand on another one
  return element(
    "section",
    { class: "panel share", "aria-labelledby": "share" },
    element("h2", { id: "share" }, "Share"),
    oblivious ? relayPart(survey) : linkPart(survey, `${collector}s/${survey.name}`),
    isOnPages ? embedPart(survey) : null,
  );
}
