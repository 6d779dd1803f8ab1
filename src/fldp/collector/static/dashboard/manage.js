// What an administrator does with a survey: close it, reopen it, delete it.
import { ask, askForWord, element, notice, panel } from "../shared/dom.js";
import { act, messageOf } from "../shared/session.js";

/** @import { Survey } from "../fldp.js" */

const CLOSING = [
  "Nobody can answer it any more. What was reported stays, and is shown as before.",
  "It can be reopened later.",
];
const REOPENING = [
  "People can answer it again. What was reported before stays in the count, and nobody is counted twice.",
  "If you reopen it because of what the results say, intervals for one look are too narrow. Those that hold whenever you look stay right.",
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
export function manage({ name, version, round }, state, again) {
  const said = element("div", { "aria-live": "assertive" });
  const path = `v1/surveys/${name}`;
  const attempt = (/** @type {() => Promise<unknown>} */ work) => () =>
    work().catch((error) => said.replaceChildren(notice("bad", element("p", {}, `Not done: ${messageOf(error)}.`))));
  const end = (/** @type {boolean} */ isClosed) => {
    closing.hidden = isClosed;
    reopening.hidden = !isClosed || round !== undefined;
  };
  /** @type {(is: string, asked: Promise<boolean>) => Promise<void>} */
  const change = async (is, asked) => {
    if (!(await asked)) return;
    await act("POST", `${path}/${is === "closed" ? "close" : "reopen"}?version=${version}`);
    end(is === "closed");
    said.replaceChildren(notice("", element("p", {}, `The survey is ${is}.`)));
    again();
  };
  const close = attempt(() => change("closed", ask("Close this survey?", CLOSING, "Close it", "Leave it open")));
  const reopen = attempt(() =>
    change("open again", ask("Reopen this survey?", REOPENING, "Reopen it", "Leave it closed")),
  );
  const destroy = attempt(async () => {
    if (!(await askForWord("Delete this survey?", DELETING, name, "Delete it"))) return;
    await act("DELETE", `${path}?version=${version}`);
    location.hash = "#/";
  });
  const closing = element("button", { type: "button", click: close }, "Close this survey");
  const reopening = element("button", { type: "button", click: reopen }, "Reopen this survey");
  end(state === "closed");
  const deleting = element("button", { type: "button", class: "danger", click: destroy }, "Delete this survey");
  return panel("Manage", said, element("div", { class: "actions" }, closing, reopening, deleting));
}
