// A new survey: what it asks, what the planner says of it, and the card of what is about to be published.
import { card } from "./card.js";
import { field, selected } from "./controls.js";
import { element, notice } from "./dom.js";
import { build, Survey } from "./fldp.js";
import { privacyCard } from "./learned.js";
import { known } from "./oracles.js";
import { collector, post } from "./session.js";
import { count, percent } from "./words.js";

const PAUSE = 300; // milliseconds after the last key before the planner is asked
const ETAS = [
  ["1", "plain LDP: a report rules out nothing"],
  ["0.5", "1/2: a report may rule out answers"],
  ["0.25", "1/4"],
  ["0.125", "1/8"],
];
const KINDS = [
  ["labels", "one of a list"],
  ["strings", "any text"],
];
const SUBMIT = [
  ["open", "everybody"],
  ["ticket", "who has a ticket"],
  ["token", "programs with a token"],
];
const RETENTION = [
  ["raw", "the reports"],
  ["tally", "their tally only"],
];

const input = (id, type, more = {}) => element("input", { id, type, autocomplete: "off", ...more });

/** Make the fields of a survey. */
function inputs() {
  return {
    name: input("name", "text", { required: true, pattern: "[a-z0-9]([a-z0-9_\\-]{0,62}[a-z0-9])?", spellcheck: "false" }),
    question: input("question", "text", { required: true, maxlength: 2000 }),
    description: input("description", "text", { maxlength: 2000 }),
    kind: selected("kind", KINDS, "labels"),
    labels: element("textarea", { id: "labels", rows: 8, required: true, spellcheck: "false" }),
    users: input("users", "number", { min: 1, step: 1, value: 10000, required: true }),
    epsilon: input("epsilon", "number", { min: 0.01, max: 20, step: "any", value: 1, required: true }),
    eta: selected("eta", ETAS, "1"),
    oracle: selected("oracle", [["", "the recommended one"]], ""),
    minimum: input("minimum", "number", { min: 1, step: 1, value: 100, required: true }),
    submit: selected("submit", SUBMIT, "open"),
    retention: selected("retention", RETENTION, "raw"),
    origins: input("origins", "text", { placeholder: "https://www.example.org", spellcheck: "false" }),
  };
}

const WORDS = {
  name: "Name, in the address",
  question: "Question",
  description: "Description, if any",
  kind: "What people answer",
  labels: "Answers, one on a line",
  users: "Reports that you expect",
  epsilon: "Epsilon of a report",
  eta: "Least eta",
  oracle: "Oracle",
  minimum: "Least reports to show anything",
  submit: "Who may answer",
  retention: "What is kept",
  origins: "Origins of pages that may show it",
};

const linesOf = (text) => text.split("\n").map((line) => line.trim()).filter(Boolean);

/** Make the view with the form. */
export async function createView() {
  const given = inputs();
  const advice = element("section", { class: "panel", "aria-labelledby": "advice" });
  const preview = element("div", {});
  const said = element("div", { "aria-live": "assertive" });
  const button = element("button", { type: "submit", class: "primary" }, "Publish this survey");
  const parts = Object.fromEntries(Object.entries(given).map(([name, part]) => [name, field(WORDS[name], part)]));
  const form = element("form", { class: "panel" }, Object.values(parts), said, element("div", { class: "actions" }, button));
  const state = { turn: 0, timer: null };

  /** Ask the planner, and show what it says unless something was typed meanwhile; return its plan, null if there is none. */
  async function think() {
    clearTimeout(state.timer);
    const turn = ++state.turn;
    for (const name of ["labels", "eta"]) parts[name].hidden = isText(given);
    given.labels.required = !isText(given);
    const wanted = question(given);
    if (wanted.domain_size < 2) return tell(advice, "Enter at least two answers. What the oracles would do for them is shown here.");
    const made = await post("v1/plan", wanted).catch((error) => error);
    const plan = made instanceof Error ? null : made;
    if (turn !== state.turn) return plan;
    if (!plan) return tell(advice, `Not planned: ${made.message}.`);
    offer(given.oracle, plan);
    advice.replaceChildren(...adviceParts(plan));
    await look(plan, turn);
    return plan;
  }

  /** Show what would be published: the card of the chosen oracle, and the version. */
  async function look(plan, turn) {
    const chosen = chosenRow(plan, given.oracle.value);
    if (!chosen) return;
    const oracles = await known(chosen);
    const content = [privacyCard(card(build(chosen.oracle, oracles)))];
    const survey = await Survey.of(specification(given, chosen), collector, oracles).catch(() => null);
    if (survey) content.push(element("p", { class: "small muted" }, "Version that would be published: ", element("code", {}, survey.version)));
    if (turn === state.turn) preview.replaceChildren(...content);
  }

  form.addEventListener("input", () => {
    clearTimeout(state.timer);
    state.timer = setTimeout(think, PAUSE);
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    const plan = await think();
    await publish(given, chosenRow(plan, given.oracle.value), said);
    button.disabled = false;
  });
  await think();
  const content = element("div", { class: "beside" }, form, element("div", {}, advice, preview));
  return { heading: "New survey", content, refresh: async () => {} };
}

const isText = ({ kind }) => kind.value === "strings";

/** Return what the planner is asked. */
function question({ kind, labels, users, epsilon, eta }) {
  const asked = { users: users.valueAsNumber, epsilon: epsilon.valueAsNumber };
  if (isText({ kind })) return { domain: "strings", ...asked };
  return { domain_size: linesOf(labels.value).length, ...asked, eta: Number(eta.value) };
}

function tell(box, words) {
  box.replaceChildren(element("h2", { id: "advice" }, "Which oracle"), element("p", {}, words));
  return null;
}

const title = ({ oracle }) => `${oracle.name.toUpperCase()}${oracle.eta === undefined ? "" : `, eta ${oracle.eta}`}`;
const defaults = ({ rows }) => rows.filter((row, place) => rows.findIndex(({ oracle }) => oracle.name === row.oracle.name) === place);

function chosenRow(plan, name) {
  return plan?.rows.find((row) => (name ? row.oracle.name === name : row.recommended)) ?? null;
}

/** Offer the oracles of a plan, and keep what was chosen if it is still there. */
function offer(select, plan) {
  const before = select.value;
  const best = chosenRow(plan, "");
  const options = defaults(plan).map((row) => element("option", { value: row.oracle.name }, title(row)));
  select.replaceChildren(element("option", { value: "" }, `the recommended one: ${title(best)}`), ...options);
  select.value = [...select.options].some(({ value }) => value === before) ? before : "";
}

function adviceParts(plan) {
  const heads = ["Oracle", plan.domain ? "Error" : "Mean error", "Seen from", "Eta", "Bits"].map((words) => element("th", { scope: "col" }, words));
  const lines = defaults(plan).map((row) =>
    element(
      "tr",
      row.recommended ? { class: "best" } : {},
      element("th", { scope: "row" }, title(row), row.recommended ? element("span", { class: "visually-hidden" }, " (recommended)") : null),
      [percent(row.error_mean ?? row.error_rare), row.detectable === null ? "never" : percent(row.detectable), String(row.eta), count(row.bits)].map((words) =>
        element("td", { class: "number" }, words),
      ),
    ),
  );
  const table = element("table", { class: "values" }, element("thead", {}, element("tr", {}, heads)), element("tbody", {}, lines));
  return [
    element("h2", { id: "advice" }, "Which oracle"),
    element("p", { role: "status" }, plan.reason),
    element("div", { class: "scroll tall", tabindex: "0", role: "region", "aria-label": "Oracles" }, table),
    element("p", { class: "small" }, "Errors are standard errors, as shares of all who report. Seen from: the least share that is told from zero."),
  ];
}

/** Return the survey that the form describes. */
function specification(given, { oracle: { domain_size: _, ...oracle } }) {
  const { name, question, description, labels, minimum, submit, retention, origins } = given;
  return {
    name: name.value.trim(),
    question: question.value.trim(),
    ...(description.value.trim() ? { description: description.value.trim() } : {}),
    ...(isText(given) ? { domain: "strings" } : { labels: linesOf(labels.value) }),
    oracle,
    collect: {
      submit: submit.value,
      retention: retention.value,
      minimum: minimum.valueAsNumber,
      origins: origins.value.split(/[\s,]+/).filter(Boolean),
    },
  };
}

async function publish(given, chosen, said) {
  if (!chosen) return said.replaceChildren(notice("bad", element("p", {}, "There is no oracle for this yet.")));
  try {
    const { name, version } = await post("v1/surveys", specification(given, chosen));
    location.hash = `#/survey/${name}/${version}`;
  } catch (error) {
    const lines = error.mistakes?.length ? error.mistakes : [`${error.message}.`];
    said.replaceChildren(notice("bad", element("p", {}, "Not published."), lines.map((line) => element("p", { class: "small" }, line))));
  }
  return null;
}
