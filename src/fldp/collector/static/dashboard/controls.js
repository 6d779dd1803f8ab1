// How estimates are to be made: decoder, method, post-processing, level, and days.
import { element } from "../shared/dom.js";

const LEVELS = ["0.5", "0.8", "0.9", "0.95", "0.99", "0.999"];
const POST = [
  ["", "none: unbiased"],
  ["clip", "clip (biased)"],
  ["norm-sub", "norm-sub (biased)"],
  ["simplex", "simplex (biased)"],
];

const METHODS = { linear: "all texts", select: "those that stand out" };

export const levelWords = (level) => `${+(100 * level).toFixed(4)} %`;

/** Make a field: a label, and what is chosen or entered below it. */
export function field(words, input) {
  return element("div", { class: "field" }, element("label", { for: input.id }, words), input);
}

/** Make a list to choose one from: pairs of a value and its words. */
export function selected(id, pairs, chosen) {
  return element(
    "select",
    { id },
    pairs.map(([value, words]) => element("option", { value, selected: value === chosen }, words)),
  );
}

/** Make a field for a UTC day. */
export const dayInput = (id) => element("input", { type: "date", id });

/** Make the controls. `query()` is what they say, as the collector reads it; `changed` is called when it differs. */
export function controls({ decoders, methods }, changed) {
  const decoder = selected(
    "decoder",
    decoders.map((name, place) => [name, place ? name : `${name} (the default)`]),
    decoders[0],
  );
  const method = selected(
    "method",
    methods.map((name) => [name, METHODS[name] ?? name]),
    methods[0],
  );
  const post = selected("post", POST, "");
  const level = selected(
    "level",
    LEVELS.map((one) => [one, levelWords(one)]),
    "0.95",
  );
  const [from, to] = [dayInput("from"), dayInput("to")];
  const fields = [
    decoders.length > 1 ? field("Decoder", decoder) : null,
    methods.length > 1 ? field("What is estimated", method) : null,
    field("Post-processing", post),
    field("Interval level", level),
    field("From day (UTC)", from),
    field("To day (UTC)", to),
  ];
  const said = element("p", { class: "small bad", role: "alert" });

  function query() {
    const found = new URLSearchParams({ level: level.value });
    if (decoders.length > 1) found.set("decoder", decoder.value);
    if (methods.length > 1) found.set("method", method.value);
    for (const [name, { value }] of Object.entries({ post, from, to })) if (value) found.set(name, value);
    return found;
  }

  function check() {
    const wrong = from.value && to.value && from.value > to.value;
    said.textContent = wrong ? "The first day must not be after the last." : "";
    if (!wrong) changed();
  }
  return { content: [element("div", { class: "controls", change: check }, fields), said], query };
}
