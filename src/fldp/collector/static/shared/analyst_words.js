// The words of a card for those who look at a survey: the report is not theirs.
import { en } from "../answer/texts/en.js";
import { count } from "./format.js";

/** @type {typeof en.card} */
export const analystWords = {
  ...en.card,
  onlyYours: "only the person's own possible",
  leftInMean: (mean, least) =>
    `${mean} possible on average, and ${least > 1 ? `at least ${count(least)}` : "sometimes only the person's own"}`,
  nothingBoth: "Nothing. Both answers could have given any report.",
  nothing: (size) => `Nothing. Each of the ${count(size)} answers could have given any report.`,
  nothingText: "Nothing. Every text could have given any report.",
  someNot: "That some answers are not the person's, whatever epsilon is.",
  group: en.card.group.replace("your answer", "the answer"),
  distance: (near, far) => en.card.distance(near, far).replace("your answer", "an answer"),
  concernedSensitive: (names) =>
    `Protected: ${names}. ` +
    "No report says for certain that somebody gave one of these. Any other answer may be named by its report.",
};
