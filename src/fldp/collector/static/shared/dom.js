// Makes elements. Text is only ever text, so nothing that a survey says can become part of the page's code.

/**
 * @template {Event} Kind
 * @typedef {(event: Kind) => unknown} Listener
 */

/**
 * Attributes of an element: functions listen, true is a bare attribute, false and null are left out.
 *
 * @typedef {{
 *   change?: Listener<Event>,
 *   click?: Listener<MouseEvent>,
 *   focusin?: Listener<FocusEvent>,
 *   input?: Listener<Event> | boolean,
 *   keydown?: Listener<KeyboardEvent>,
 *   submit?: Listener<SubmitEvent>,
 *   [name: string]: string | number | boolean | null | undefined | Listener<never>,
 * }} Attributes
 */

/** @typedef {Node | string | null | undefined} Part */
/** @typedef {Part | readonly Part[]} Content */

/**
 * Make an element of a page.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes]
 * @param {Content[]} content
 */
export function element(tag, attributes = {}, ...content) {
  return filled(document.createElement(tag), attributes, content);
}

/**
 * Make an element of a drawing.
 *
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes]
 * @param {Content[]} content
 */
export function drawn(tag, attributes = {}, ...content) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, content);
}

/**
 * @template {Element} Kind
 * @param {Kind} node
 * @param {Attributes} attributes
 * @param {readonly Content[]} content
 */
function filled(node, attributes, content) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, /** @type {EventListener} */ (value));
    else if (value !== false && value !== null) node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...present(content));
  return node;
}

/**
 * Return the parts that are there, in their order.
 *
 * @param {readonly Content[]} content
 */
export function present(content) {
  return /** @type {readonly Part[]} */ (content.flat()).filter((part) => part !== null && part !== undefined);
}

/**
 * Return the element that a page is shown in.
 *
 * @returns {HTMLElement}
 */
export function mainOf() {
  return document.querySelector("main") ?? document.body;
}

/**
 * Make a list of lines.
 *
 * @param {readonly string[]} lines
 */
export const list = (lines) =>
  element(
    "ul",
    {},
    lines.map((line) => element("li", {}, line)),
  );

/**
 * Make a panel: a section with a heading.
 *
 * @param {string} title
 * @param {Content[]} content
 */
export const panel = (title, ...content) =>
  element("section", { class: "panel" }, element("h2", {}, title), ...content);

/**
 * Make a box with something to notice: plain, `warn` or `bad`.
 *
 * @param {"" | "warn" | "bad"} kind
 * @param {Content[]} content
 */
export const notice = (kind, ...content) =>
  element("div", { class: `notice ${kind}`, role: kind === "bad" ? "alert" : "status" }, ...content);

/**
 * Ask a question in a dialog; the answer is whether it was confirmed.
 *
 * @param {string} title
 * @param {readonly string[]} lines
 * @param {string} yes
 * @param {string} no
 * @returns {Promise<boolean>}
 */
export function ask(title, lines, yes, no) {
  return new Promise((resolve) => {
    const heading = element("h2", { id: "asked" }, title);
    const refuse = element("button", { type: "submit", value: "no" }, no);
    const agree = element("button", { type: "submit", value: "yes", class: "primary" }, yes);
    const buttons = element("div", { class: "actions" }, agree, refuse);
    const form = element("form", { method: "dialog" }, heading, list(lines), buttons);
    const box = element("dialog", { "aria-labelledby": "asked" }, form);
    box.addEventListener("close", () => {
      box.remove();
      resolve(box.returnValue === "yes");
    });
    document.body.append(box);
    box.showModal();
    refuse.focus({ preventScroll: true });
  });
}

/**
 * Ask for something that cannot be undone: a word must be typed. The answer is whether it was.
 *
 * @param {string} title
 * @param {readonly string[]} lines
 * @param {string} word
 * @param {string} yes
 * @returns {Promise<boolean>}
 */
export function askForWord(title, lines, word, yes) {
  return new Promise((resolve) => {
    const input = element("input", { type: "text", id: "word", autocomplete: "off", spellcheck: "false" });
    const agree = element("button", { type: "submit", value: "yes", class: "danger", disabled: true }, yes);
    input.addEventListener("input", () => {
      agree.disabled = input.value !== word;
    });
    const label = element("label", { for: "word" }, "Type ", element("strong", {}, word), " to go on");
    const refuse = element("button", { type: "submit", value: "no" }, "Cancel");
    const buttons = element("div", { class: "actions" }, agree, refuse);
    const heading = element("h2", { id: "asked" }, title);
    const form = element("form", { method: "dialog" }, heading, list(lines), label, input, buttons);
    const box = element("dialog", { "aria-labelledby": "asked" }, form);
    box.addEventListener("close", () => {
      box.remove();
      resolve(box.returnValue === "yes" && input.value === word);
    });
    document.body.append(box);
    box.showModal();
    input.focus();
  });
}

/**
 * Make a part that is folded, with a heading to open it by.
 *
 * @param {string} title
 * @param {Content[]} content
 */
export const folded = (title, ...content) =>
  element("details", { class: "panel fold" }, element("summary", {}, element("h2", {}, title)), ...content);

/**
 * Make columns: what comes first, with something beside it on a wide screen and below it on a narrow one, and the rest.
 *
 * @param {readonly Content[]} first
 * @param {HTMLElement} beside
 * @param {readonly Content[]} rest
 */
export const columns = (first, beside, rest) =>
  element("div", { class: "columns" }, element("div", {}, ...first), beside, element("div", {}, ...rest));
