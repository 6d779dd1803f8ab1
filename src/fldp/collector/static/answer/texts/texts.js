// The words of the answer page, in the language that a survey declares.
import { de } from "./de.js";
import { en } from "./en.js";

/** @import { Survey } from "../../fldp.js" */

const LANGUAGES = { en, de };

/** The languages to choose from, as pairs of what a survey declares and their names; English need not be declared. */
export const NAMES = [
  ["", "English"],
  ["de", "Deutsch"],
];

/**
 * Return the words for a survey: in its language, or in English where there are none in it, or none is declared.
 *
 * @param {Pick<Survey, "specification">} survey
 */
export function textsOf({ specification }) {
  const [language] = String(specification.language ?? "en").split("-");
  return LANGUAGES[/** @type {keyof typeof LANGUAGES} */ (language)] ?? en;
}
