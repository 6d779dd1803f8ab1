// The words of the answer page in English: every other language has the same keys.
import { count, percent } from "../../shared/format.js";

/** @typedef {typeof en} Texts */

export const en = {
  language: "en",
  percent,
  // The question.
  protected: "Your answer stays on this device. We send a randomised version of it, and you see it first.",
  exposing: "We send a report that is drawn at random from your answer. It may name your answer. You see it first.",
  relayed: "Your report goes through a relay: the collector that reads it does not see who sends it.",
  newKeys:
    "The collector replaced its keys within the last day, which is rare. Together with the relay, a collector could do so to recognise you.",
  answer: "Your answer",
  // Several questions.
  /** @type {(questions: number) => string} */
  questions: (questions) => `A survey of ${questions} questions`,
  protectedSeveral:
    "Your answers stay on this device. Chance chooses which questions your report is about. We send a randomised version of your answers to these, and you see it first.",
  answers: "Your answers",
  noAnswer: "No answer",
  optional: "(optional)",
  lacking: "This question needs an answer.",
  begin: "Begin",
  /** @type {(questions: number) => string} */
  asksLess: (questions) =>
    `There are ${questions} questions. You are asked only a few of them, and chance chooses which.`,
  asksLessWhy:
    "Please answer whichever you get. If people stopped because of what they are asked, the result would be wrong.",
  oneReport: "There is one report for all questions. Below you see which of them it is about, and what it tells.",
  /** @type {(questions: number) => string} */
  about: (questions) => (questions === 1 ? "The question it is about" : `The ${questions} questions it is about`),
  chanceChose: "Chance chose this, not your answers.",
  /** @type {(questions: number) => string} */
  notAbout: (questions) =>
    questions === 1 ? "It says nothing about the other one:" : "It says nothing about the others:",
  notKeptSeveral: "They are not sent, and they are not kept.",
  seeReport: "See my report",
  search: "Search the answers",
  /** @type {(matches: number, all: number) => string} */
  found: (matches, all) => `${count(matches)} of ${count(all)} answers.`,
  /** @type {(most: number) => string} */
  firstShown: (most) => ` The first ${most} are shown; search for others.`,
  /** @type {(last: number) => string} */
  number: (last) => `A whole number from 0 to ${count(last)}`,
  /** @type {(low: number, high: number, unit: string) => string} */
  range: (low, high, unit) => `A number from ${low} to ${high}${unit ? ` ${unit}` : ""}`,
  outside: "A number outside this range counts as its nearest end.",
  /** @type {(cell: string) => string} */
  countsAs: (cell) => `Counts as ${cell}.`,
  textRule: "Any text. It counts as you write it: capitals and accents matter, spaces around it do not.",
  textMissing: "Write something.",
  /** @type {(size: number, most: number) => string} */
  textLong: (size, most) => `Write less: this text takes ${size} bytes, and at most ${most} are allowed.`,
  scroll: "Scroll until you see this whole field. Then you can write in it.",
  consentTitle: "Not every answer is protected",
  consentReason: "A report may fit only one answer.",
  consent: "I accept that my report may name my answer for certain.",
  details: "Details",
  version: "Version of the survey, computed here: ",
  // Before a report is drawn.
  askTitle: "Before you answer",
  notice: (/** @type {string} */ text) => text, // as the client says it
  goOn: "Go on",
  doNotAnswer: "Do not answer",
  // The report.
  headings: {
    drawn: "This would be sent",
    queued: "Not sent yet",
    sent: "Thank you, this was sent",
    withdrawing: "Not taken back yet",
    withdrawn: "Your report was taken back",
  },
  report: "Your report",
  reportBytes: "The report, byte for byte",
  /** @type {(bits: string) => string} */
  bytes: (bits) =>
    "These bytes are sent, with a random number that keeps them from being counted twice. " +
    `Only ${bits} bits of them were drawn from your answer; the others name the survey or are checksums.`,
  ticket: "The ticket in your link is sent with them, and is not kept beside them.",
  linked:
    "A part of them is computed from that ticket, so whoever has kept the links can tell which report is yours. " +
    "Below you see how little it says about your answer.",
  pass: "A pass is sent with them, for which the ticket in your link was exchanged. Nobody can tell which ticket it was.",
  unlinked:
    "A part of them is computed from that pass: you could not choose it, and nobody can tell from it which report is yours.",
  named: "The report above names it.",
  notKept: "It is not sent, and it is not kept.",
  notKeptDaily:
    "It is not sent, and it is not kept. Your device keeps a random version of it, drawn once. The reports of all days are drawn from that.",
  notKeptFollowing:
    "It is not sent, and it is not kept. Your device keeps random numbers that it drew before you answered. Each day's report is drawn from them and from the answer of the day.",
  following:
    "You can answer again on another day, also differently. Reports of different days do not reveal your answer; that it changed may show.",
  learned: "What anybody can learn from it",
  drawn: "It was drawn at random from your answer, once: going back would not change it.",
  drawnSeveral: "It was drawn at random from your answers, once: going back would not change it.",
  repeated: "This report was drawn before, on an earlier visit or in another tab. There is only ever one.",
  renewed:
    "This is today's report. It was drawn from what this device keeps of your first answer, which is not asked again.",
  takeBack: "Take my answer back",
  takeBackAgain: "Try again now",
  takeBackTitle: "Take your answer back?",
  takeBackNotices: [
    "Your report is taken out of the count. You cannot answer this survey again.",
    "The report was seen. What it told stays told.",
  ],
  keepIt: "Leave it",
  withdrawing: "The collector cannot be reached. Your report is taken back as soon as it can be.",
  withdrawn: "Your report was taken out of the count. Results that were published before may still contain it.",
  done: "You have answered this survey. Visiting again sends nothing more.",
  doneToday:
    "You have answered this survey today. On another day you can send another report, made of the same answer.",
  doneForNow: "You have answered this survey for now.",
  drawnForNow:
    "This report was drawn before, on an earlier visit or in another tab. There is one for each time that you are asked.",
  periods: {
    weekly: {
      anew: "You can answer once a week. Each answer is drawn anew, and adds to what the earlier ones have given away.",
      done: "You have answered this survey for this week. You can answer again from Monday, within your limits.",
      repeated: "This report was drawn before, on an earlier visit or in another tab. There is only one for this week.",
      renewed:
        "This is this week's report. It was drawn from what this device keeps of your first answer, which is not asked again.",
      doneKept:
        "You have answered this survey this week. From Monday you can send another report, made of the same answer.",
    },
    monthly: {
      anew: "You can answer once a month. Each answer is drawn anew, and adds to what the earlier ones have given away.",
      done: "You have answered this survey for this month. You can answer again from the first of next month, within your limits.",
      repeated:
        "This report was drawn before, on an earlier visit or in another tab. There is only one for this month.",
      renewed:
        "This is this month's report. It was drawn from what this device keeps of your first answer, which is not asked again.",
      doneKept:
        "You have answered this survey this month. From the first of next month you can send another report, made of the same answer.",
    },
  },
  queued: "The collector cannot be reached. Your report is kept here, and sent as soon as it can be.",
  send: "Send this report",
  sendAgain: "Try again now",
  doNotSend: "Do not send",
  nothingSent: "Nothing was sent",
  comeBack: "You can close this page. If you come back, you will see the same report.",
  // What a report tells.
  /** @type {(before: number) => string} */
  guess: (before) =>
    `A stranger guesses your answer. Without this report, the guess is right in ${percent(before)} of all cases. With it, in at most `,
  /** @type {(before: number, size: number) => string} */
  guessText: (before, size) =>
    `Somebody knows that your answer is one of ${count(size)} texts, all equally likely, and guesses. Without this report, the guess is right in ${percent(before)} of all cases. With it, in at most `,
  /** @type {(before: number) => string} */
  guessSeveral: (before) =>
    `A stranger guesses your answers to these. Without this report, the guess is right in ${percent(before)} of all cases. With it, in at most `,
  noText: "It rules out no text: every text could have led to this report.",
  /** @type {(size: number) => string} */
  noneOut: (size) => `It rules out no answer: each of the ${count(size)} could have led to this report.`,
  /** @type {(out: number, size: number) => string} */
  onlyYours: (out, size) =>
    `For certain: it names your answer. It rules out all others, ${count(out)} of ${count(size)}.`,
  /** @type {(out: number, size: number, left: number) => string} */
  someOut: (out, size, left) =>
    `For certain: it rules out ${count(out)} of the ${count(size)} answers, and leaves ${count(left)} possible. Yours is one of these.`,
  /** @type {(size: number) => string} */
  noneOutSeveral: (size) =>
    `It rules out none of your answers: each of the ${count(size)} ways to answer these questions could have led to this report.`,
  /** @type {(out: number, size: number, left: number) => string} */
  someOutSeveral: (out, size, left) =>
    `For certain: it rules out ${count(out)} of the ${count(size)} ways to answer these questions, and leaves ${count(left)} possible. Yours is one of these.`,
  possible: "possible",
  ruledOut: "ruled out",
  allAnswers: "All answers",
  /** @type {(size: number, left: number) => string} */
  map: (size, left) =>
    `A field for each of ${count(size)} answers in their order: ${count(left)} are possible, the others ruled out.`,
  // Why a survey is not answered.
  /** @type {(time: string) => string} */
  scheduled: (time) => `This survey is not open yet. It opens on ${time}.`,
  closed: "This survey is closed. It takes no more answers.",
  programs: "This survey is answered by programs, not on this page.",
  relayOnly:
    "This survey is answered through a relay only, so that its collector does not see who answers. Use the link to the relay.",
  personal: "This survey needs a personal link. Open the one that you were sent.",
  tooMuch: "This survey asks for more than your device gives away, so it cannot be answered here.",
  notAnswered: "Not answered",
  notFound: "Survey not found",
  wrong: "Something went wrong",
  ownTab: "Open this survey in its own tab",
  noStorage: "Your browser does not let this survey store anything inside another page. Nothing was sent.",
  toOwnTab: "Answer in a tab of its own",
  toProtect: "This survey was not answered, to protect you.",
  missing: "There is no such survey here. The address may be wrong, or the survey may have been deleted.",
  failed: "This did not work. Nothing was sent.",
  // Who sees what of a report, on its way.
  parties: {
    title: "Who sees what",
    columns: ["Who", "Your address, the time", "Which survey", "Your report"],
    relayed: {
      rows: [
        ["Your network", "that you use a relay, and when", "no", "no"],
        ["The relay", "yes", "no", "no"],
        ["The collector", "the relay’s address, when it arrives", "yes", "yes"],
        ["Relay and collector together", "yes", "yes", "yes"],
      ],
      notes: [
        "This page, too, came from the relay. If its operator and the collector’s work together, they know all of this.",
        "It also handed out the collector’s public key. A relay that handed out another one could read reports; everybody can compare the two.",
        "The relay hides you among those who send at about the same time. If you are the only one within an hour, the time gives you away.",
        "The report says the same about your answer to everybody who reads it.",
      ],
    },
    passes: {
      issuer: ["The issuer of passes", "yes, and your ticket", "yes", "no"],
      blind:
        "Your ticket was exchanged for a pass that its issuer signed without seeing it. When the report comes with the pass, nobody can tell which ticket it was.",
      apart:
        "The time can still tell: if issuer and collector compare, whoever answers just after a ticket was exchanged may be its holder.",
      relayed: "The time can still tell: whoever answers just after a ticket was exchanged may be its holder.",
      direct:
        "Your address and the time can still tell: the collector sees who exchanges a ticket, and who sends a report just after.",
    },
    direct: {
      rows: [
        ["Your network", "that you visit this collector, and when", "no", "no"],
        ["The collector", "yes; it promises not to keep them", "yes", "yes"],
      ],
      notes: [
        "This page came from the collector, which saw your address then, too.",
        "The report says the same about your answer to everybody who reads it.",
      ],
    },
  },
  // The card: what any report gives away.
  card: {
    title: "What a report gives away",
    certain: "For certain",
    differs: "Not alike for all answers",
    inNumbers: "In numbers",
    several: "Several questions, one report",
    /** @type {(questions: number, epsilon: string, most: number) => string} */
    severalOne: (questions, epsilon, most) =>
      `One report for all ${questions} questions together, epsilon ${epsilon}. It shows which it is about, ` +
      `${most === 1 ? "one" : `at most ${most}`} of them: chance chose these, not your answers. It says nothing about the others.`,
    /** @type {(least: string, most: string) => string} */
    severalChance: (least, most) =>
      `It is about a given question with a probability of ${least}% to ${most}%; where it is, it protects the answer by that same epsilon, not by a smaller one.`,
    severalAgain:
      "Another answer would be about other questions, and would cost another epsilon. k fresh answers cost k times epsilon together. A few dozen ask about everything. So your device answers once.",
    /** @type {(size: number) => string} */
    severalRest: (size) =>
      `The rest of this card is about the ${count(size)} answers that one report tells apart at most.`,
    onlyYours: "only yours possible",
    /** @type {(left: string) => string} */
    left: (left) => `${left} possible`,
    /** @type {(left: string) => string} */
    leftAtLeast: (left) => `at least ${left} possible`,
    /** @type {(mean: string, least: number) => string} */
    leftInMean: (mean, least) =>
      `${mean} possible on average, and ${least > 1 ? `at least ${count(least)}` : "sometimes only yours"}`,
    nothingBoth: "Nothing. Both answers could have given your report.",
    /** @type {(size: number) => string} */
    nothing: (size) => `Nothing. Each of the ${count(size)} answers could have given your report.`,
    nothingText: "Nothing. Every text could have given your report.",
    someNot: "That some answers are not yours, whatever epsilon is.",
    group: "Which group your answer is in. This is weak: answers in different groups are not protected at all.",
    /** @type {(size: number, left: string) => string} */
    leaves: (size, left) => `Of ${count(size)} answers it leaves ${left}.`,
    etaOne: "Each report could come from any answer. This is plain local differential privacy.",
    etaZero: "Some answers have no report in common. This is weak, and much weaker than local differential privacy.",
    /** @type {(share: string, isAtLeast: boolean) => string} */
    etaSome: (share, isAtLeast) =>
      `Any two answers have ${isAtLeast ? "at least " : ""}${share} of their reports in common; the others tell them apart for certain. ` +
      "1 would be plain local differential privacy; this is weaker.",
    /** @type {(one: string, all: string) => string} */
    promiseLasting: (one, all) =>
      `${one}-LDP for one report, ${all}-LDP for all that are made of one answer, however many`,
    /** @type {(one: string, steady: string, all: string, visible: string) => string} */
    promiseFollowing: (one, steady, all, visible) =>
      `${one}-LDP for one report, ${steady}-LDP for all reports of an answer that stays, epsilon ${all} for answers that change in one pattern. ` +
      `No epsilon covers whether an answer changes. A change can be seen with a probability of ${visible}`,
    /** @type {(epsilon: string, groups: number) => string} */
    promiseGroups: (epsilon, groups) => `${epsilon}-LDP inside ${groups} groups, nothing between them (weak)`,
    /** @type {(epsilon: string, values: number) => string} */
    promiseSensitive: (epsilon, values) =>
      `${epsilon}-ULDP with ${count(values)} sensitive value${values > 1 ? "s" : ""}`,
    /** @type {(epsilon: string, budgets: number) => string} */
    promiseBudgets: (epsilon, budgets) =>
      `${epsilon}-ID-LDP with ${count(budgets)} smaller budget${budgets > 1 ? "s" : ""}`,
    /** @type {(alpha: string, distance: "line" | "ring") => string} */
    promiseDistance: (alpha, distance) => `${alpha}-CLDP on a ${distance}`,
    /** @type {(promise: string) => string} */
    promised: (promise) => `Promised: ${promise}.`,
    /** @type {(epsilon: string, ratio: string, isCertain: boolean) => string} */
    epsilon: (epsilon, ratio, isCertain) =>
      `epsilon ${epsilon}. ${isCertain ? "Among the answers that it does not rule out, a" : "A"} ` +
      `report is at most ${ratio} times as likely for one answer as for another.`,
    /** @type {(sensitive: number, size: number, named: string) => string} */
    sensitive: (sensitive, size, named) =>
      `Only ${count(sensitive)} of the ${count(size)} answers ${sensitive === 1 ? "is" : "are"} sensitive. ` +
      `Any other answer is named for certain by ${named} % of its reports.`,
    /** @type {(budgets: number, size: number, least: string, epsilon: string) => string} */
    budgets: (budgets, size, least, epsilon) =>
      `Answers are not protected alike: ${count(budgets)} of ${count(size)} by a budget of their own, ` +
      `from ${least}, and any two others by epsilon ${epsilon}.`,
    /** @type {(near: string, far: string) => string} */
    distance: (near, far) =>
      `Answers that are far apart are protected less than neighbours: neighbours by epsilon ${near}, ` +
      `the farthest by epsilon ${far}. Others can guess roughly where your answer lies.`,
    /** @type {(number: number) => string} */
    others: (number) => `, and ${count(number)} other${number > 1 ? "s" : ""}`,
    /** @type {(names: string) => string} */
    concernedSensitive: (names) =>
      `Protected: ${names}. ` +
      "If yours is one of these, no report says so for certain. Any other answer may be named by its report.",
    /** @type {(names: string) => string} */
    concernedBudgets: (names) => `Protected more than the others: ${names}.`,
    /** @type {(distance: "line" | "ring") => string} */
    concernedDistance: (distance) =>
      `The answers stand in a ${distance}, in the order of the list${distance === "ring" ? ": the first is beside the last" : ""}. ` +
      "The nearer two of them are, the harder they are to tell apart.",
  },
};
