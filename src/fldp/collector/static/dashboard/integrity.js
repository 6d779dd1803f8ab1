// Whether the reports look honest: a warning if they do not, and what nobody can see.
import { element, list, notice } from "../shared/dom.js";
import { count } from "../shared/format.js";
import { get } from "../shared/session.js";

const PAUSE = 60_000; // between two looks at reports that keep coming, since a look goes through all of them

/** Make the part about honesty: a warning, hidden while there is none, and a panel with all tests. */
export function honesty(survey) {
  const said = element("p");
  const warning = notice("warn", said);
  const words = element("p");
  const seen = element("div");
  const node = element(
    "section",
    { class: "panel", hidden: true },
    element("h2", {}, "Are the reports honest?"),
    words,
    seen,
  );
  warning.hidden = true;
  let last = { query: null, n: 0, time: 0 };

  /** Look, unless that was done lately or nothing has come since: `n` is the number of all reports. */
  async function refresh(query, n) {
    const now = { query: `${query}`, n, time: Date.now() };
    if (now.query === last.query && (n === last.n || now.time - last.time < PAUSE)) return;
    const found = await get(`v1/versions/${survey.version}/integrity?${query}`).catch(tooFew);
    last = now;
    node.hidden = found === null;
    warning.hidden = found === null || found.passed;
    if (found === null) return;
    said.textContent = `${found.conclusion} Estimates below may be those that somebody wants to be seen.`;
    words.textContent = verdict(found);
    seen.replaceChildren(
      details("All tests", found.tests.map(line)),
      details("What no test here can see", found.blind),
    );
  }
  return { warning, node, refresh };
}

function tooFew(error) {
  if (error.kind === "too-few") return null;
  throw error;
}

function verdict({ passed, n, source, tests, false_alarm }) {
  const what =
    source === "tally"
      ? `the tally of ${count(n)} reports, which shows less than the reports themselves`
      : `${count(n)} reports`;
  const odd = tests.filter(({ flagged }) => flagged).length;
  const result = passed
    ? `All ${count(tests.length)} tests of ${what} were passed. That is no proof.`
    : `${count(odd)} of ${count(tests.length)} tests of ${what} failed.`;
  return `${result} They look for what honest reports never do, whatever people answered, and fail honest reports in at most ${(100 * false_alarm).toLocaleString("en-US")} % of all surveys at any one time; who looks again and again sees that more often.`;
}

const line = ({ test, claim, worst, flagged }) =>
  `${flagged ? "FAILED" : "passed"}, ${test}: ${claim}. The worst: ${worst}.`;

const details = (summary, lines) => element("details", {}, element("summary", {}, summary), list(lines));
