// The page in a frame on somebody else's page, the host, which must learn nothing of the answer or of what is typed.
//
// The frame has one height, and its content scrolls inside (frame.css). A browser that brings something into view also
// scrolls the host, whose scroll position then tells where that was. So whatever takes the focus stands where neither the
// answer nor the typed text can move it, and a field takes no text while the caret could be outside the visible part.
import { element } from "../shared/dom.js";

/** @import { Texts } from "./texts/en.js" */

const HEIGHT = 640; // CSS pixels: the height of the frame that embed.js makes
const MAX_CUT = 4; // CSS pixels of a field that may be hidden; its padding is wider
const THRESHOLDS = [0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.97, 0.98, 0.99, 1]; // shares in view at which the browser looks again
const HOLD = 500; // milliseconds that a field must be in view again before it takes text

export const isFramed = parent !== self;

/**
 * Lay the page out for its frame, and tell the host its height: once, and always the same one.
 *
 * @param {string} name
 */
export function enterFrame(name) {
  if (!isFramed) return;
  document.documentElement.classList.add("framed");
  parent.postMessage({ fldp: name, height: HEIGHT }, "*");
}

/**
 * Tell the host that a report was sent, as the request to the collector tells it anyway: the same message for everybody,
 * as soon as the collector has answered, before anything is made of the report.
 *
 * @param {string} name
 */
export function tellSent(name) {
  if (isFramed) parent.postMessage({ fldp: name, sent: true }, "*");
}

/**
 * Return a link to the survey in a tab of its own, where a browser lets a frame keep nothing; null for other errors. This
 * is found out when the page is loaded, before there is an answer.
 *
 * @param {Error} error
 * @param {Texts} words
 * @param {string} [ticket]
 */
export function wayOut(error, words, ticket) {
  const isDenied = error.name === "SecurityError" || error.message.startsWith("store:");
  if (!isFramed || !isDenied) return null;
  const address = new URL(location.href);
  address.hash = ticket ? `ticket=${encodeURIComponent(ticket)}` : "";
  const link = element("a", { href: address.href, target: "_blank", rel: "noopener" }, words.toOwnTab);
  return [element("p", {}, words.noStorage), element("p", {}, link)];
}

/**
 * Go to the top and give a heading the focus. The host is not scrolled, and keeps the focus if it has it.
 *
 * @param {HTMLElement} heading
 */
export function begin(heading) {
  document.body.scrollTop = 0;
  document.documentElement.scrollTop = 0;
  if (!isFramed || document.hasFocus()) heading.focus({ preventScroll: true });
}

/**
 * Scroll the frame to its beginning before the focus goes on. The browser then brings what takes the focus into view from
 * there, so that its place depends on where it stands in the page, and not on the answer that was looked at before.
 *
 * @param {KeyboardEvent} event
 */
export function settle({ key }) {
  if (isFramed && key === "Tab") document.body.scrollTop = 0;
}

/** Return the height of the buttons, which stand on the end of the frame. */
function coveredHeight() {
  const buttons = document.querySelector(".actions");
  return buttons instanceof HTMLElement ? buttons.offsetHeight : 0;
}

/**
 * Bring an element into view by scrolling inside the frame alone.
 *
 * @param {Element} target
 */
export function bringIntoView(target) {
  if (!isFramed) return;
  const covered = coveredHeight();
  for (let box = target.parentElement; box && box !== document.documentElement; box = box.parentElement) {
    const [inner, outer] = [target.getBoundingClientRect(), box.getBoundingClientRect()];
    const bottom = outer.bottom - (box === document.body ? covered : 0);
    if (inner.top < outer.top) box.scrollTop -= outer.top - inner.top;
    else if (inner.bottom > bottom) box.scrollTop += inner.bottom - bottom;
  }
}

/**
 * Whether a side of a field is out of view, within the frame or on the host.
 *
 * @param {IntersectionObserverEntry} entry
 */
function isCut({ boundingClientRect: whole, intersectionRect: seen }) {
  const hidden = [seen.left - whole.left, seen.top - whole.top, whole.right - seen.right, whole.bottom - seen.bottom];
  return seen.width === 0 || Math.max(...hidden) > MAX_CUT;
}

/**
 * Let a field take text only while all of it is in view: with every key a browser scrolls the host to the caret, so that
 * a host that hides a part of the field could follow it. Return the note that says so, for the page.
 *
 * @param {HTMLInputElement} input
 */
export function guard(input) {
  if (!isFramed) return null;
  const note = element(
    "p",
    { class: "small guard", role: "status", hidden: true },
    "Scroll until this field is in full view. Then you can write in it.",
  );
  let timer = 0;
  const release = () => {
    input.readOnly = false;
    note.hidden = true;
  };
  const look = (/** @type {readonly IntersectionObserverEntry[]} */ entries) => {
    clearTimeout(timer);
    if (entries.slice(-1).some(isCut)) {
      input.readOnly = true;
      note.hidden = false;
    } else timer = setTimeout(release, note.hidden ? 0 : HOLD);
  };
  input.readOnly = true;
  input.addEventListener("keydown", (event) => {
    if (!input.readOnly || event.key === "Tab") return;
    event.preventDefault(); // some keys would scroll
    document.body.scrollTop = 0; // as before the focus
    input.scrollIntoView({ block: "nearest" });
  });
  new IntersectionObserver(look, { threshold: THRESHOLDS }).observe(input);
  return note;
}
