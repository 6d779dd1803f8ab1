// Makes elements. Text is only ever text, so nothing that a survey says can become part of the page's code.

/** Make an element: its attributes (functions listen, true is a bare one, false and null are left out), its content. */
export function element(tag, attributes = {}, ...content) {
  const made = document.createElement(tag);
  set(made, attributes);
  made.append(...content.flat().filter((part) => part !== null && part !== undefined));
  return made;
}

/** Make an element of a drawing. */
export function drawn(tag, attributes = {}, ...content) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  set(made, attributes);
  made.append(...content.flat());
  return made;
}

function set(made, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value !== false && value !== null) made.setAttribute(name, value === true ? "" : value);
  }
}

/** Make a list of lines. */
export const list = (lines, attributes = {}) =>
  element(
    "ul",
    attributes,
    lines.map((line) => element("li", {}, line)),
  );

/** Make a box with something to notice: plain, `warn` or `bad`. */
export const notice = (kind, ...content) =>
  element("div", { class: `notice ${kind}`, role: kind === "bad" ? "alert" : "status" }, ...content);

/** Ask a question in a dialog; the answer is whether it was confirmed. */
export function ask(title, lines, yes, no) {
  return new Promise((resolve) => {
    const heading = element("h2", { id: "asked" }, title);
    const refuse = element("button", { type: "submit", value: "no" }, no);
    const agree = element("button", { type: "submit", value: "yes", class: "primary" }, yes);
    const form = element(
      "form",
      { method: "dialog" },
      heading,
      list(lines),
      element("div", { class: "actions" }, agree, refuse),
    );
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
