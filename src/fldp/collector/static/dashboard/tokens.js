// The tokens of a collector: who may administer, read, or send. A secret is shown once.
import { copyable } from "../shared/copy.js";
import { ask, element, notice, panel } from "../shared/dom.js";
import { act, get, messageOf, post } from "../shared/session.js";
import { field, selected } from "./controls.js";

/** @import { SurveyRow, TokenRow } from "../shared/replies.d.ts" */
/** @import { View } from "./dashboard.js" */

const SCOPES = [
  ["read", "read: see the dashboard"],
  ["send", "send: send reports from a program"],
  ["admin", "admin: everything"],
];
const REVOKING = ["Whoever uses it is refused from now on.", "This cannot be undone; create another one instead."];

/** @param {TokenRow} token */
function stateOf({ revoked, expires }) {
  if (revoked) return "revoked";
  return expires && expires <= new Date().toISOString() ? "expired" : "active";
}

/**
 * Make the view of all tokens.
 *
 * @returns {Promise<View>}
 */
export async function tokensView() {
  const body = element("tbody");
  const said = element("div", { "aria-live": "polite" });
  let shown = "";

  /** @param {unknown} error */
  const complain = (error) =>
    said.replaceChildren(notice("bad", element("p", {}, `This did not work: ${messageOf(error)}.`)));

  /** @param {TokenRow} token */
  async function revoke({ id, scope }) {
    if (!(await ask(`Revoke the ${scope} token ${id}?`, REVOKING, "Revoke it", "Keep it"))) return;
    await act("DELETE", `v1/tokens/${id}`);
    await refresh();
  }

  async function refresh() {
    /** @type {TokenRow[]} */
    const tokens = await get("v1/tokens");
    const now = JSON.stringify(tokens.map((token) => [token.id, stateOf(token)]));
    if (now === shown) return; // so that the focus stays where it is
    shown = now;
    body.replaceChildren(...tokens.map((token) => lineOf(token, () => revoke(token).catch(complain))));
  }

  /** @param {{ token: string }} created */
  async function show({ token }) {
    const words = "This is the only time that it is shown. Keep it in a safe place.";
    said.replaceChildren(notice("", element("p", {}, words), copyable("New token", token, "Copy the token")));
    await refresh();
  }
  await refresh();
  const heads = ["Token", "Survey", "Created", "Expires", "State", ""];
  const cells = heads.map((text) =>
    element(
      text ? "th" : "td",
      { ...(text ? { scope: "col" } : {}), class: MINOR.includes(text) ? "minor" : null },
      text,
    ),
  );
  const table = element("table", { class: "tokens" }, element("thead", {}, element("tr", {}, cells)), body);
  const box = element("div", { class: "scroll sheet", tabindex: "0", role: "region", "aria-label": "Tokens" }, table);
  const form = await orderForm((order) => post("v1/tokens", order).then(show).catch(complain));
  return { heading: "Tokens", content: [said, panel("New token", form), box], refresh };
}

const MINOR = ["Created", "Expires"];

/**
 * @param {TokenRow} token
 * @param {() => unknown} revoke
 */
function lineOf(token, revoke) {
  const { id, scope, survey, created, expires } = token;
  const state = stateOf(token);
  const button = element(
    "button",
    { type: "button", class: "quiet", click: revoke, "aria-label": `Revoke ${scope} token ${id}` },
    "Revoke",
  );
  return element(
    "tr",
    state === "active" ? {} : { class: "unsure" },
    element("th", { scope: "row" }, scope, element("div", { class: "small muted" }, id)),
    element("td", {}, survey ?? "all"),
    element("td", { class: "small minor" }, created.slice(0, 10)),
    element("td", { class: "small minor" }, expires?.slice(0, 10) ?? "never"),
    element("td", {}, state),
    element("td", {}, state === "active" ? button : null),
  );
}

/**
 * Make the form for a new token.
 *
 * @param {(order: object) => unknown} make
 */
async function orderForm(make) {
  /** @type {SurveyRow[]} */
  const rows = await get("v1/surveys");
  const names = [...new Set(rows.map(({ name }) => name))].sort();
  const scope = selected("scope", SCOPES, "read");
  const survey = selected("token-survey", [["", "all surveys"], ...names.map((name) => [name, name])], "");
  const expires = element("input", { id: "expires", type: "date" });
  const form = element(
    "form",
    {
      submit: (event) => {
        event.preventDefault();
        const until = expires.value ? `${expires.value}T23:59:59Z` : null;
        make({ scope: scope.value, survey: survey.value || null, expires: until });
      },
    },
    element(
      "div",
      { class: "controls" },
      field("What it is for", scope),
      field("Which surveys", survey),
      field("Last day (UTC), if any", expires),
    ),
    element("button", { type: "submit", class: "primary" }, "Create the token"),
  );
  return form;
}
