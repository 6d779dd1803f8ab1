// What an administrator does with a survey: close it, delete it.
import { ask, askForWord, element, notice, panel } from "../shared/dom.js";
import { act, messageOf } from "../shared/session.js";

/** @import { Survey } from "../fldp.js" */

const CLOSING = [
  "Nobody can answer it any more. What was reported stays, and is shown as before.",
  "A closed survey cannot be opened again. To go on asking, publish it under another name.",
];
const DELETING = [
  "All its reports, estimates, keys and personal links are deleted, here and for everybody.",
  "This cannot be undone.",
];

/**
 * Make the part with what can be done; `again` asks for everything once more.
 *
 * @param {Survey} survey
 * @param {string} state
 * @param {() => unknown} again
 */
export function manage({ name, version }, state, again) {
  const said = element("div", { "aria-live": "assertive" });
  const path = `v1/surveys/${name}`;
  const attempt = (/** @type {() => Promise<unknown>} */ work) => () =>
    work().catch((error) => said.replaceChildren(notice("bad", element("p", {}, `Not done: ${messageOf(error)}.`))));
  const close = attempt(async () => {
    if (!(await ask("Close this survey?", CLOSING, "Close it", "Leave it open"))) return;
    await act("POST", `${path}/close?version=${version}`);
    closing.hidden = true;
    said.replaceChildren(notice("", element("p", {}, "The survey is closed.")));
    again();
  });
  const destroy = attempt(async () => {
    if (!(await askForWord("Delete this survey?", DELETING, name, "Delete it"))) return;
    await act("DELETE", `${path}?version=${version}`);
    location.hash = "#/";
  });
  const closing = element("button", { type: "button", click: close }, "Close this survey");
  closing.hidden = state === "closed";
  const deleting = element("button", { type: "button", class: "danger", click: destroy }, "Delete this survey");
  return panel("Manage", said, element("div", { class: "actions" }, closing, deleting));
}
