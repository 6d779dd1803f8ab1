// Numbers in words, the same on all pages.
export const count = (number) => Math.round(number).toLocaleString("en-US").replace(/^-0$/, "0");
export const percent = (share) => `${(100 * share).toLocaleString("en-US", { maximumSignificantDigits: 3 })} %`;
export const percentFixed = (share) => `${(100 * share).toFixed(2).replace(/^-(0\.00)$/, "$1")} %`;

/** Write an interval; a minus stays with its number. */
export const interval = (low, high, write = count) => `${write(low)} to ${write(high)}`;

/** Shorten a text to fit. */
export const short = (text, most) => (text.length <= most ? text : `${text.slice(0, Math.max(1, most - 1))}…`);

/** Write a share: a power of two as one part of so many, any other as a decimal number. */
export const shareText = (eta) => (eta > 0 && eta < 1 && Math.log2(eta) % 1 === 0 ? `1/${1 / eta}` : String(eta));

const SCALES = [
  [1e12, " trillion"],
  [1e9, " billion"],
  [1e6, " million"],
  [0, ""],
];

/** Write a number as people do, with so many digits that matter; halves go to the even neighbour, or all up. */
export function numberText(amount, digits = 3, up = false) {
  const power = 10 ** (digits - 1 - Math.floor(Math.log10(amount)));
  const scaled = amount * power;
  const below = Math.floor(scaled);
  const more = up ? scaled > below : scaled - below > 0.5 || (scaled - below === 0.5 && below % 2 === 1);
  const rounded = (below + Number(more)) / power;
  const [scale, name] = SCALES.find(([least]) => rounded >= least);
  return (rounded / (scale || 1)).toLocaleString("en-US", { maximumSignificantDigits: 15 }) + name;
}

/** Write a label so that it can be seen: a text may begin with nothing, or be of blanks. */
export const visible = (label) => (label.trim() ? label : label ? "(blank)" : "(empty)");
