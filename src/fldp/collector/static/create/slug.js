// The name of a survey, made from its question: what its address ends in.

const MAX_LENGTH = 48;
const LETTERS = { ß: "ss", æ: "ae", œ: "oe", ø: "o", ł: "l", đ: "d" };

/**
 * Return a name made of a text: letters without accents, digits and hyphens; "survey" where nothing is left.
 *
 * @param {string} text
 */
export function slugOf(text) {
  const plain = text
    .toLowerCase()
    .replace(/[ßæœøłđ]/g, (letter) => LETTERS[/** @type {keyof typeof LETTERS} */ (letter)])
    .normalize("NFKD")
    .replace(/\p{M}/gu, "");
  const words = plain.split(/[^a-z0-9]+/).filter(Boolean);
  const kept = words.filter((_, place) => words.slice(0, place + 1).join("-").length <= MAX_LENGTH);
  return kept.join("-") || words.join("-").slice(0, MAX_LENGTH) || "survey";
}

/**
 * Return a name that is not taken: with a number if need be.
 *
 * @param {string} name
 * @param {ReadonlySet<string>} taken
 */
export function freeName(name, taken) {
  let number = 1;
  const next = () => (number === 1 ? name : `${name}-${number}`);
  while (taken.has(next())) number += 1;
  return next();
}
