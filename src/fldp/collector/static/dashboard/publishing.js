// How to have a survey answered: its page, and what to put on a page of one's own.
import { element } from "../shared/dom.js";
import { collector } from "../shared/session.js";

/** @import { Survey } from "../fldp.js" */

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
  open: "Everybody can answer.",
  ticket: "Each person needs a link with a ticket.",
  token: "It is answered by programs with a token.",
};

/**
 * Make the part about the answer page.
 *
 * @param {Survey} survey
 */
export function publishing(survey) {
  const { submit, origins } = survey.collect;
  const page = `${collector}s/${survey.name}`;
  const where = origins.length
    ? `On a page of one of these origins: ${origins.join(", ")}`
    : "The survey names no origins, so its page is shown by itself only. With origins it can be put on other pages by";
  return element(
    "section",
    { class: "panel", "aria-labelledby": "publishing" },
    element("h2", { id: "publishing" }, "The answer page"),
    element("p", {}, element("a", { href: page }, page), ` ${WHO[submit]}`),
    element("p", {}, where),
    element(
      "code",
      { class: "bytes", tabindex: "0", role: "textbox", "aria-readonly": "true", "aria-label": "Embed code" },
      embedCode(survey),
    ),
  );
}
