// What was entered in the three steps, for whoever goes on with all settings.

/**
 * @typedef {{
 *   question: string,
 *   kind: string,
 *   labels: string,
 *   low: string,
 *   high: string,
 *   unit: string,
 *   goal: string,
 *   language: string,
 *   users: string,
 *   epsilon: string,
 *   submit: string,
 * }} Draft
 */

/** @type {Partial<Draft>} */
let kept = {};

/** @param {Partial<Draft>} draft */
export const keepDraft = (draft) => {
  kept = draft;
};

/** Return what was kept, once. */
export function takeDraft() {
  const draft = kept;
  kept = {};
  return draft;
}
