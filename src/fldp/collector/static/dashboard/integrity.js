// Whether the reports look honest: a warning if they do not, and what nobody can see.
import { element, list, notice } from "../shared/dom.js";
import { count } from "../shared/format.js";
import { get, kindOf } from "../shared/session.js";

/** @import { Survey } from "../fldp.js" */
/** @import { Integrity, IntegrityTest } from "../shared/replies.d.ts" */

const PAUSE = 60_000; // between two looks at reports that keep coming, since a look goes through all of them

/**
 * Make the part about honesty: a warning, hidden while there is none, and a panel with all tests.
 *
 * @param {Survey} survey
 */
export function integrity(survey) {
  const conclusion = element("p");
  const warning = notice("warn", conclusion);
  const verdict = element("p");
  const tests = element("div");
  const heading = element("h2", {}, "Are the reports honest?");
  const node = element("section", { class: "panel", hidden: true }, heading, verdict, tests);
  warning.hidden = true;
  let last = { query: "none", n: 0, time: 0 };

  /**
   * Look, unless that was done lately or nothing has come since: `n` is the number of all reports.
   *
   * @param {URLSearchParams} query
   * @param {number} n
   */
  async function refresh(query, n) {
    const now = { query: `?${query}`, n, time: Date.now() };
    if (now.query === last.query && (n === last.n || now.time - last.time < PAUSE)) return;
    const path = `v1/versions/${survey.version}/integrity${now.query}`;
    const reply = await /** @type {Promise<Integrity>} */ (get(path)).catch(tooFew);
    last = now;
    node.hidden = reply === null;
    warning.hidden = reply === null || reply.passed;
    if (reply === null) return;
    conclusion.textContent = `${reply.conclusion} Estimates below may be those that somebody wants to be seen.`;
    verdict.textContent = verdictText(reply);
    tests.replaceChildren(
      details("All tests", reply.tests.map(testText)),
      details("What no test here can see", reply.blind),
    );
  }
  return { warning, node, refresh };
}

/** @param {unknown} error */
function tooFew(error) {
  if (kindOf(error) === "too-few") return null;
  throw error;
}

/** @param {Integrity} reply */
function verdictText({ passed, n, source, tests, false_alarm, anytime }) {
  const tested =
    source === "tally"
      ? `the tally of ${count(n)} reports, which shows less than the reports themselves`
      : `${count(n)} reports`;
  const failed = tests.filter(({ flagged }) => flagged).length;
  const one = tests.length === 1;
  const result = passed
    ? `${one ? "The only test" : `All ${count(tests.length)} tests`} of ${tested} ${one ? "was" : "were"} passed. That is no proof.`
    : `${count(failed)} of ${count(tests.length)} tests of ${tested} failed.`;
  const rate = (100 * false_alarm).toLocaleString("en-US");
  return (
    `${result} ${one ? "It looks" : "They look"} for what honest reports never do, whatever people answered, and ${one ? "fails" : "fail"} honest reports ` +
    (anytime
      ? `in at most ${rate} % of all surveys, however often you look. Where reports were taken back, that is so only if it did not depend on what they said.`
      : `in at most ${rate} % of all surveys at any one time. Checking repeatedly makes a false alarm more likely.`)
  );
}

/** @param {IntegrityTest} result */
const testText = ({ test, claim, worst, flagged }) =>
  `${flagged ? "FAILED" : "passed"}, ${test}: ${claim}. The worst: ${worst}.`;

/**
 * @param {string} summary
 * @param {readonly string[]} lines
 */
const details = (summary, lines) => element("details", {}, element("summary", {}, summary), list(lines));
