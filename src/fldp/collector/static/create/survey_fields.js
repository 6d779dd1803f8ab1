// The fields of a new survey: what it asks, what is protected, and how it is collected. Those that do not apply are hidden.
import { NAMES } from "../answer/texts/texts.js";
import { selected } from "../dashboard/controls.js";
import { element } from "../shared/dom.js";
import { threeDigits } from "../shared/format.js";
import { protection, TREATMENTS } from "./protection.js";
import { slugOf } from "./slug.js";

/** @import { Attributes } from "../shared/dom.js" */
/** @import { Draft } from "./draft.js" */
/** @import { Declared } from "./protection.js" */

/** @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Control */

/**
 * What the fields say.
 *
 * @typedef {{
 *   name: string,
 *   question: string,
 *   description: string,
 *   language: string,
 *   kind: string,
 *   labels: readonly string[],
 *   k: number,
 *   low: number,
 *   high: number,
 *   unit: string,
 *   goal: string,
 *   bins: number,
 *   apart: string,
 *   treatment: string,
 *   repeat: string,
 *   kept: boolean,
 *   epsilon: number,
 *   lasting: number,
 *   eta: string,
 *   users: number,
 *   quota: number,
 *   oracle: string,
 *   minimum: number,
 *   submit: string,
 *   issuer: string,
 *   issuerKey: string,
 *   derive: boolean,
 *   oblivious: boolean,
 *   retention: string,
 *   origins: string,
 * }} Entered
 */

/** @typedef {keyof Entered} Name */

/** @param {Entered} entered */
const isNumber = ({ kind }) => kind === "number";

/**
 * Whether people may be asked again and again: not in a search, nor where answers differ in their protection.
 *
 * @param {Pick<Entered, "kind" | "treatment">} entered
 */
const isRepeatable = ({ kind, treatment }) => kind !== "search" && (kind !== "labels" || treatment === "alike");

/** @param {Pick<Entered, "repeat">} entered */
const isPeriodic = ({ repeat }) => repeat === "weekly" || repeat === "monthly";

/**
 * Whether all reports of a person are made of noise that is kept.
 *
 * @param {Pick<Entered, "kind" | "repeat" | "kept">} entered
 */
export const keepsNoise = ({ kind, repeat, kept }) =>
  (kind !== "number" && repeat === "daily") || (kind === "labels" && kept && repeat !== "once");

/**
 * What a survey is planned and made from: also how answers differ, and what is to be entered first.
 *
 * @typedef {Entered & { declared: Declared, wanted: string }} Values
 */

const ETAS = [
  ["1", "plain LDP: a report rules out nothing"],
  ["0.5", "1/2: a report may rule out answers"],
  ["0.25", "1/4"],
  ["0.125", "1/8"],
];
const KINDS = [
  ["labels", "one answer from a list"],
  ["number", "a number"],
  ["strings", "any text"],
  ["search", "any text: find what many answer"],
];
const REPEATS = [
  ["once", "once"],
  ["daily", "every day, with noise that is kept"],
  ["weekly", "every week"],
  ["monthly", "every month"],
];
export const GOALS = [
  ["distribution", "how the numbers are spread, and their mean"],
  ["mean", "the mean alone, more exactly"],
];
const SUBMIT = [
  ["open", "everybody"],
  ["ticket", "anybody with a ticket"],
  ["pass", "anybody with a pass"],
  ["token", "programs with a token"],
];
const RETENTION = [
  ["raw", "the reports"],
  ["tally", "their tally only"],
];

/**
 * @param {string} id
 * @param {string} type
 * @param {Attributes} [more]
 */
const input = (id, type, more = {}) => element("input", { id, type, autocomplete: "off", ...more });

/**
 * @param {string} id
 * @param {number} value
 * @param {Attributes} [more]
 */
const amount = (id, value, more = {}) => input(id, "number", { min: 1, step: 1, value, required: true, ...more });

const EPSILON = { min: 0.01, max: 20, step: "any" };

/**
 * Make the fields, by the parts of the form.
 *
 * @returns {Record<string, Partial<Record<Name, Control>>>}
 */
const parts = () => ({
  "The question": {
    name: input("name", "text", {
      required: true,
      pattern: "[a-z0-9]([a-z0-9_\\-]{0,62}[a-z0-9])?",
      spellcheck: "false",
      title: "Lower-case letters, digits, hyphens and underscores; a letter or a digit at both ends.",
    }),
    question: input("question", "text", { required: true, maxlength: 2000 }),
    description: input("description", "text", { maxlength: 2000 }),
    language: selected("language", NAMES, ""),
    kind: selected("kind", KINDS, "labels"),
    labels: element("textarea", { id: "labels", rows: 8, required: true, spellcheck: "false" }),
    k: amount("k", 20, { max: 4096 }),
    low: input("low", "number", { step: "any", required: true }),
    high: input("high", "number", { step: "any", required: true }),
    unit: input("unit", "text", { maxlength: 20 }),
    goal: selected("goal", GOALS, "distribution"),
    bins: amount("bins", 32, { min: 3, max: 4096 }),
    apart: input("apart", "text"),
  },
  Protection: {
    treatment: selected("treatment", Object.entries(TREATMENTS), "alike"),
    repeat: selected("repeat", REPEATS, "once"),
    kept: input("kept", "checkbox"),
    epsilon: amount("epsilon", 1, EPSILON),
    lasting: amount("lasting", 2, EPSILON),
    eta: selected("eta", ETAS, "1"),
  },
  "How it is collected": {
    users: amount("users", 10000),
    quota: amount("quota", 10000),
    oracle: selected("oracle", [["", "the recommended one"]], ""),
    minimum: amount("minimum", 100),
    submit: selected("submit", SUBMIT, "open"),
    issuer: input("issuer", "url", { placeholder: "https://issuer.example", spellcheck: "false" }),
    issuerKey: input("issuerKey", "text", { required: true, spellcheck: "false" }),
    derive: input("derive", "checkbox"),
    oblivious: input("oblivious", "checkbox"),
    retention: selected("retention", RETENTION, "raw"),
    origins: input("origins", "text", { placeholder: "https://www.example.org", spellcheck: "false" }),
  },
});

/** @type {Record<Name, string>} */
const LABELS = {
  name: "Name, in the address",
  question: "Question",
  description: "Description, if any",
  language: "Language of the page",
  kind: "What people answer",
  labels: "Answers, one per line",
  k: "How many texts to find",
  low: "From",
  high: "To",
  unit: "Unit, if there is one",
  goal: "What you want to know",
  bins: "Cells",
  apart: "Values that many hold exactly, such as 0",
  treatment: "What must be protected",
  repeat: "How often a person reports",
  epsilon: "Epsilon of a report",
  kept: "Devices keep their noise: for answers that seldom change",
  lasting: "Epsilon of all reports of a person, while the answer stays",
  eta: "Smallest eta",
  users: "Reports you expect",
  quota: "Reports of a round",
  oracle: "Oracle",
  minimum: "Reports before results are shown",
  submit: "Who may answer",
  issuer: "Who issues passes, if not this collector",
  issuerKey: "Key of that issuer",
  derive: "Tickets decide the public random words",
  oblivious: "Through a relay only",
  retention: "What is kept",
  origins: "Origins of pages that may embed it",
};

const hasGateway = document.querySelector('meta[name="fldp-gateway"]')?.getAttribute("content") === "yes";

/** @type {Partial<Record<Name, string>>} */
const HINTS = {
  name: "Derived from the question. Lower-case letters, digits, hyphens and underscores.",
  k: "People are asked in rounds, each person once. A round asks for longer beginnings of the texts that stood out in the one before. Everybody can see which beginnings go on.",
  low: "A number below or above the range counts as its nearest end: choose a range that holds nearly all.",
  bins: "More cells show more detail, and each of them is known less well. What to expect is shown beside the form.",
  apart: "Numbers, separated by commas. Each gets its own cell.",
  submit:
    "With tickets and passes, each person answers once, by a personal link. A ticket is sent with the report: whoever knows who got it can tell whose report that is. A pass is exchanged for a ticket, and nobody can tell for which. Searches and surveys that repeat take no passes.",
  issuer:
    "Blank: this collector makes a key for this survey when you publish it, and issues passes itself. Better: somebody whom people trust with the list of tickets runs fldp issuer serve.",
  issuerKey:
    "What fldp issuer create printed after issuer_key. A key signs for one survey only, so each survey needs a new one.",
  oblivious: hasGateway
    ? "This collector then never sees the addresses of those who answer, and refuses reports that come directly. Somebody else runs the relay; Share says how. This cannot be changed later."
    : "This collector does not accept requests from relays yet. Whoever runs it starts it with --ohttp true, or sets ohttp = true; then you can choose this.",
};

/** @param {Entered} entered */
const deriveHint = ({ submit }) =>
  "Nobody can then pick a hash function or mask that favours some answers, and so count for several people. " +
  (submit === "pass"
    ? "They follow from the pass, which nobody can choose and nobody can link to a ticket."
    : "But whoever keeps the tickets can tell which report was sent with which.");

const LINKED = "Reports of one person resemble each other, so that they can be linked.";
const FOLLOWED =
  "A device draws its noise once, keeps it, and is charged once. What that costs: while the answer stays, all reports together give away no more than the second epsilon. " +
  "If it changes, they give away at least twice as much, and that it changed, and when, may show: no epsilon covers that. The figures stand beside the form. " +
  LINKED;

/**
 * Say what it costs to report again and again.
 *
 * @param {Entered} entered
 */
function repeatHint({ kind, repeat, kept, epsilon }) {
  if (repeat === "once") return "Somebody who is asked again sends the same report, which gives away nothing more.";
  if (kind === "labels" && (kept || repeat === "daily")) return FOLLOWED;
  if (repeat === "daily") return `Reports are made of noise that a device draws once and keeps. ${LINKED}`;
  const [period, times] = repeat === "weekly" ? ["week", 52] : ["month", 12];
  return (
    `Each ${period} is a new draw, and costs its full epsilon again: whoever answers for a year has given away ${times} times as much, epsilon ${threeDigits(times * epsilon)}. ` +
    "Devices stop at their limits and send nothing from then on; above the button you see how soon."
  );
}

/**
 * Where a field applies; others always do.
 *
 * @type {Partial<Record<Name, (entered: Entered) => boolean>>}
 */
const APPLIES = {
  labels: ({ kind }) => kind === "labels",
  k: ({ kind }) => kind === "search",
  treatment: ({ kind }) => kind === "labels",
  low: isNumber,
  high: isNumber,
  unit: isNumber,
  goal: isNumber,
  oracle: ({ kind }) => kind !== "number",
  bins: ({ kind, goal }) => kind === "number" && goal === "distribution",
  apart: ({ kind, goal }) => kind === "number" && goal === "distribution",
  repeat: isRepeatable,
  kept: (entered) => entered.kind === "labels" && isRepeatable(entered) && isPeriodic(entered),
  lasting: (entered) => isRepeatable(entered) && keepsNoise(entered),
  eta: (entered) =>
    entered.kind === "search" ||
    (entered.kind === "labels" && entered.treatment === "alike" && entered.repeat === "once"),
  users: ({ kind }) => kind !== "search",
  quota: ({ kind }) => kind === "search",
  issuer: ({ submit }) => submit === "pass",
  issuerKey: ({ submit, issuer }) => submit === "pass" && issuer !== "",
  derive: ({ kind, repeat, submit }) =>
    (submit === "ticket" || submit === "pass") && (kind === "labels" || (kind === "strings" && repeat === "once")),
};

const IMPOSSIBLE = new Set(hasGateway ? [] : ["oblivious"]); // shown with what it takes, and not to be chosen

/**
 * @param {Name} name
 * @param {Entered} entered
 */
const applies = (name, entered) => APPLIES[name]?.(entered) ?? true;

/**
 * Make a field: its label, what is entered, and a hint if there is one. A box to tick stands before its label.
 *
 * @param {Name} name
 * @param {Control} control
 */
function fieldOf(name, control) {
  const [label, hint] = [element("label", { for: name }, LABELS[name]), HINTS[name]];
  if (hint) control.setAttribute("aria-describedby", `${name}-hint`);
  const below = hint ? element("p", { id: `${name}-hint`, class: "small muted" }, hint) : null;
  const isTicked = control.type === "checkbox";
  return element(
    "div",
    { class: isTicked ? "field ticked" : "field" },
    isTicked ? [control, label] : [label, control],
    below,
  );
}

/** @param {Control} control */
function entryOf(control) {
  if (control instanceof HTMLTextAreaElement) return linesOf(control.value);
  if (control.type === "checkbox") return /** @type {HTMLInputElement} */ (control).checked;
  if (control.type === "number") return /** @type {HTMLInputElement} */ (control).valueAsNumber;
  return control.value.trim();
}

const RANGE = "Enter the range, the smaller number first. What to expect is shown here.";
const TWO = "Enter at least two answers. What the oracles would do for them is shown here.";

/**
 * Return the lines of a text that are not blank.
 *
 * @param {string} text
 */
export const linesOf = (text) =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

/**
 * Say which answer stands in a list twice; null if none does.
 *
 * @param {readonly string[]} labels
 */
export function twiceText(labels) {
  const known = new Set();
  const twice = labels.find((label) => known.size === known.add(label).size);
  return twice === undefined ? null : `The answer “${twice}” appears twice. Remove one of them.`;
}

/**
 * Say what is to be entered first, if anything.
 *
 * @param {Entered} entered
 */
function missing({ kind, labels, low, high }) {
  if (kind === "labels") return labels.length < 2 ? TWO : (twiceText(labels) ?? "");
  return kind === "number" && !(low < high) ? RANGE : "";
}

/**
 * Offer daily reports where noise can be kept: not of a number.
 *
 * @param {Record<Name, Control>} controls
 */
function offerRepeats({ kind, repeat }) {
  const daily = /** @type {HTMLOptionElement} */ (repeat.querySelector("option[value=daily]"));
  daily.disabled = kind.value === "number";
  if (daily.disabled && daily.selected) repeat.value = "once";
}

/**
 * Offer passes where a person answers once, and to one version.
 *
 * @param {Record<Name, Control>} controls
 */
function offerPasses({ kind, treatment, repeat, submit }) {
  const isAgain = isRepeatable({ kind: kind.value, treatment: treatment.value }) && repeat.value !== "once";
  const pass = /** @type {HTMLOptionElement} */ (submit.querySelector("option[value=pass]"));
  pass.disabled = isAgain || kind.value === "search";
  if (pass.disabled && pass.selected) submit.value = "ticket";
}

const USUAL = ["1", "2"]; // epsilons of a report, and of all
const FOLLOWING = ["0.5", "1"]; // those that the usual limits of a device allow where an answer is followed

/**
 * Suggest epsilons that devices allow, until somebody enters others.
 *
 * @param {Record<Name, Control>} controls
 */
function suggest({ kind, repeat, kept, epsilon, lasting }) {
  const chosen = { kind: kind.value, repeat: repeat.value, kept: /** @type {HTMLInputElement} */ (kept).checked };
  const isFollowed = kind.value === "labels" && keepsNoise(chosen);
  const [before, after] = isFollowed ? [USUAL, FOLLOWING] : [FOLLOWING, USUAL];
  if (epsilon.value === before[0] && lasting.value === before[1]) [epsilon.value, lasting.value] = after;
}

/**
 * Make the name from the question, until somebody writes another one.
 *
 * @param {Control} name
 * @param {Control} question
 */
function nameByQuestion(name, question) {
  let isOwn = false;
  const make = () => {
    if (!isOwn) name.value = question.value.trim() ? slugOf(question.value) : "";
  };
  name.addEventListener("input", () => {
    isOwn = name.value !== "";
  });
  question.addEventListener("input", make);
  make();
}

/**
 * Make the fields. `read()` hides what does not apply and returns what the others say. `offer(options)` sets the oracles
 * to choose from, and returns the one that is chosen: the same as before if it is there.
 *
 * @param {Partial<Draft>} [draft] what was entered before
 */
export function surveyFields(draft = {}) {
  const groups = parts();
  /** @type {Record<Name, Control>} */
  const controls = Object.assign({}, ...Object.values(groups));
  const names = /** @type {Name[]} */ (Object.keys(controls));
  /** @type {Partial<Record<string, HTMLElement>>} */
  const fields = Object.fromEntries(names.map((name) => [name, fieldOf(name, controls[name])]));
  const differing = protection();
  const told = element("p", { id: "repeat-hint", class: "small muted", role: "status" });
  fields.repeat?.append(told);
  controls.repeat.setAttribute("aria-describedby", told.id);
  const derived = element("p", { id: "derive-hint", class: "small muted" });
  fields.derive?.append(derived);
  controls.derive.setAttribute("aria-describedby", derived.id);
  for (const [name, value] of Object.entries(draft)) controls[/** @type {Name} */ (name)].value = value;
  nameByQuestion(controls.name, controls.question);

  /** @returns {Values} */
  function read() {
    offerRepeats(controls);
    offerPasses(controls);
    suggest(controls);
    const values = Object.fromEntries(names.map((name) => [name, entryOf(controls[name])]));
    const entered = /** @type {Entered} */ (/** @type {unknown} */ (values));
    told.textContent = repeatHint(entered);
    derived.textContent = deriveHint(entered);
    for (const name of names) {
      const field = fields[name];
      controls[name].disabled = IMPOSSIBLE.has(name) || !applies(name, entered); // what is hidden is not required
      if (field) field.hidden = !applies(name, entered);
    }
    const treatment = applies("treatment", entered) ? entered.treatment : "alike";
    differing.put(treatment, entered.labels, entered.epsilon);
    return {
      ...entered,
      treatment,
      repeat: applies("repeat", entered) ? entered.repeat : "once",
      declared: differing.declared(),
      wanted: missing(entered) || differing.wanted(),
      derive: entered.derive && applies("derive", entered),
    };
  }

  /** @param {readonly (readonly string[])[]} options */
  function offer(options) {
    const { oracle } = controls;
    const before = oracle.value;
    oracle.replaceChildren(...options.map(([value, text]) => element("option", { value }, text)));
    oracle.value = options.some(([value]) => value === before) ? before : "";
    return oracle.value;
  }

  const nodes = Object.entries(groups).map(([title, group]) =>
    element(
      "fieldset",
      { class: "part" },
      element("legend", {}, title),
      Object.keys(group).map((name) => fields[name]),
    ),
  );
  fields.treatment?.after(differing.node);
  return { nodes, read, offer };
}
