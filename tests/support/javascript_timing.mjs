// How long the draw of a report takes in JavaScript: called by tests/soak/timing_soak.py with the folder of the package, the number
// of calls for each answer and, if only some oracles are of interest, their names.
import { pathToFileURL } from "node:url";

const [folder, calls, ...only] = process.argv.slice(2);
const { every, Survey } = await import(pathToFileURL(`${folder}/dist/index.js`));
const { unequal } = await import(pathToFileURL(`${folder}/dist/unequal.js`));
const ALL = [...every, ...unequal];
const SIZE = 100;
const WARM = 20_000; // calls after which the code is compiled
const ENDS = [0, 1, SIZE / 2, SIZE - 1];
const LISTED = {
  rr: [{}, [0, 1]],
  ...Object.fromEntries(
    ["grr", "sue", "oue", "olh", "ss", "hr", "pgr", "fhr", "hrr"].map((name) => [name, [{}, ENDS]]),
  ),
  fwr: [{ eta: 0.5, allow_exposure: true }, ENDS],
  lwr: [{ epsilon_permanent: 2, hash_bits: 2 }, ENDS],
  exponential: [{ distance: "line" }, ENDS],
  wave: [{ width: 14 }, ENDS],
  urr: [{ sensitive: [1, 4, 7, 97] }, [0, 1, 4, 97, 99]],
  urappor: [{ sensitive: [1, 4, 7, 97] }, [0, 1, 4, 97, 99]],
  idue: [{ budgets: [[3, 0.5]] }, [0, 3, 99]],
  grouped: [{ base: "grr", groups: [50, 30, 20] }, [0, 49]], // of one group: others are told
};
const TEXTS = ["aaaaaaaa", "zzzzzzzz", "firefox!"];
const RECORDS = [0, 3, 7]; // of two questions with two and four answers

/** Yield the name of each oracle, a survey of it, and the answers that are compared. */
function* asked() {
  for (const [name, [parameters, values]] of Object.entries(LISTED)) {
    const labels = Array.from({ length: name === "rr" ? 2 : SIZE }, (_, k) => `label ${k}`);
    yield [
      name,
      { question: "Which?", labels, oracle: { name, epsilon: 1, ...parameters } },
      values.map((k) => labels[k]),
    ];
  }
  for (const name of ["cms", "hcms"]) {
    const oracle = { name, epsilon: 2, hashes: 64, width: 64 };
    yield [name, { question: "Which?", domain: "strings", oracle }, TEXTS];
  }
  const oracle = { name: "rappor", epsilon: 1, epsilon_permanent: 2 };
  yield ["rappor", { question: "Which?", domain: "strings", oracle }, TEXTS];
  const questions = [
    { name: "first", question: "Which?", labels: ["label 0", "label 1"] },
    { name: "second", question: "Which?", labels: ["label 0", "label 1", "label 2", "label 3"] },
  ];
  yield ["sampled", { questions, oracle: { name: "sampled", epsilon: 1, views: 2 } }, RECORDS];
}

/** Return the nanoseconds of each call, in turns of random order, so that what the machine does else meets all alike. */
function timesOf(oracle, values) {
  for (let call = 0; call < WARM; call++) oracle.draw(values[call % values.length]);
  const times = values.map(() => []);
  for (let call = 0; call < Number(calls); call++) {
    const start = Math.floor(Math.random() * values.length);
    for (let k = 0; k < values.length; k++) {
      const place = (start + k) % values.length;
      const begin = process.hrtime.bigint();
      oracle.draw(values[place]);
      times[place].push(Number(process.hrtime.bigint() - begin));
    }
  }
  return times;
}

for (const [name, fields, answers] of asked()) {
  if (only.length && !only.includes(name)) continue;
  const survey = await Survey.of({ name: "timing", ...fields }, "https://collector.example", ALL);
  const values = survey.questions
    ? answers.map(BigInt)
    : await Promise.all(answers.map((answer) => survey.encode(answer)));
  console.log(JSON.stringify({ name, answers, times: timesOf(survey.oracle, values) }));
}
