// A text to copy: shown, with a button that copies it.
import { element } from "./dom.js";

/**
 * Mark all of a text, so that the keyboard can copy it.
 *
 * @param {HTMLElement} node
 */
function mark(node) {
  getSelection()?.selectAllChildren(node);
  node.focus();
}

/**
 * Make a text with a button that copies it. Where the browser forbids that, the text is marked.
 *
 * @param {string} label
 * @param {string} text
 * @param {string} [button]
 */
export function copyable(label, text, button = "Copy") {
  const shown = element(
    "code",
    { class: "bytes", tabindex: "0", role: "textbox", "aria-readonly": "true", "aria-label": label },
    text,
  );
  const said = element("span", { class: "small muted", role: "status" });
  const copy = async () => {
    const isCopied = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    );
    if (!isCopied) mark(shown);
    said.textContent = isCopied ? "Copied." : "Selected: copy it with the keyboard.";
  };
  const taker = element("button", { type: "button", class: "quiet", click: copy }, button);
  return element("div", { class: "copyable" }, shown, taker, said);
}
