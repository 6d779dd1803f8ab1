// Numbers in words, the same on all pages.

/** @param {number} number */
export const count = (number) => Math.round(number).toLocaleString("en-US").replace(/^-0$/, "0");

/** @param {number} number */
export const threeDigits = (number) => number.toLocaleString("en-US", { maximumSignificantDigits: 3 });

/** @param {number} share */
export const percent = (share) => `${threeDigits(100 * share)} %`;

/** @param {number} share */
export const percentFixed = (share) => `${(100 * share).toFixed(2).replace(/^-(0\.00)$/, "$1")} %`;

/**
 * Return how to write shares that are known so well: in percent, with as many digits as that deserves.
 *
 * @param {number} reach
 */
export function rounded(reach) {
  const digits = reach > 0 ? Math.min(4, Math.max(0, -Math.floor(Math.log10(100 * reach)))) : 2;
  return (/** @type {number} */ share) => (100 * share).toFixed(digits).replace(/^-(0(\.0*)?)$/, "$1");
}

/**
 * Write a share and how well it is known.
 *
 * @param {number} share
 * @param {number} reach
 */
export const points = (share, reach) => `${rounded(reach)(share)} % ± ${rounded(reach)(reach)}`;

/**
 * Write an interval; a minus stays with its number.
 *
 * @param {number} low
 * @param {number} high
 */
export const interval = (low, high, write = count) => `${write(low)} to ${write(high)}`;

/**
 * Shorten a text to fit.
 *
 * @param {string} text
 * @param {number} most
 */
export const short = (text, most) => (text.length <= most ? text : `${text.slice(0, Math.max(1, most - 1))}…`);

/**
 * Write a share: a power of two as a fraction, any other as a decimal number.
 *
 * @param {number} eta
 */
export const shareText = (eta) => (eta > 0 && eta < 1 && Math.log2(eta) % 1 === 0 ? `1/${1 / eta}` : String(eta));

/**
 * Write an amount rounded to some digits; halves go to the even neighbour, or everything up.
 *
 * @param {number} amount
 */
export function numberText(amount, digits = 3, up = false) {
  const power = 10 ** (digits - 1 - Math.floor(Math.log10(amount)));
  const scaled = amount * power;
  const below = Math.floor(scaled);
  const more = up ? scaled > below : scaled - below > 0.5 || (scaled - below === 0.5 && below % 2 === 1);
  const rounded = (below + Number(more)) / power;
  const [scale, name] = scaleOf(rounded);
  return (rounded / scale).toLocaleString("en-US", { maximumSignificantDigits: 15 }) + name;
}

/**
 * @param {number} amount
 * @returns {[number, string]}
 */
function scaleOf(amount) {
  if (amount >= 1e12) return [1e12, " trillion"];
  if (amount >= 1e9) return [1e9, " billion"];
  return amount >= 1e6 ? [1e6, " million"] : [1, ""];
}

/**
 * Write a label so that it can be seen: a text may be empty, or of blanks.
 *
 * @param {string} label
 */
export const visible = (label) => (label.trim() ? label : label ? "(blank)" : "(empty)");
