// Numbers in words, the same on all pages.
export const count = (number) => Math.round(number).toLocaleString("en-US").replace(/^-0$/, "0");
export const percent = (share) => `${(100 * share).toLocaleString("en-US", { maximumSignificantDigits: 3 })} %`;
export const percentFixed = (share) => `${(100 * share).toFixed(2).replace(/^-(0\.00)$/, "$1")} %`;

/** Write an interval; a minus stays with its number. */
export const interval = (low, high, write = count) => `${write(low)} to ${write(high)}`;

/** Shorten a text to fit. */
export const short = (text, most) => (text.length <= most ? text : `${text.slice(0, Math.max(1, most - 1))}…`);
