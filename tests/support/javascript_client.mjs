// A client as the auditor calls it: node javascript_client.mjs SURVEY.json MODE LABEL COUNT writes one batch, with DAYS
// after it all reports of each person. MODE is honest, or what an audit has to catch: careless (more epsilon than
// declared), repeats (noise used twice) or forgetful (what is to be kept is drawn anew each day).
import { readFileSync } from "node:fs";
import { build, encode, Survey } from "../../src/fldp/collector/static/fldp.js";
import { oraclesOf } from "../../src/fldp/collector/static/shared/oracles.js";

const [file, mode, label, count, days] = process.argv.slice(2);
const fields = JSON.parse(readFileSync(file, "utf8"));
const oracles = await oraclesOf(fields);
const survey = await Survey.of(fields, "https://collector.example", oracles);
const { oracle } = survey;
const epsilon = mode === "careless" ? 3 * oracle.epsilon : oracle.epsilon;
const drawn = build({ ...oracle.description, epsilon }, oracles);
const value = await survey.encode(label);
const history = () => {
  const kept = drawn.keep(value);
  const report = () => (mode === "forgetful" ? drawn.draw(value) : drawn.respond(kept, value));
  return Array.from({ length: Number(days) }, report);
};
const reports = Array.from({ length: Number(count) }, () => (days ? history() : [drawn.draw(value)])).flat();
if (mode === "repeats") for (let k = 1; k < reports.length; k += 2) reports[k] = reports[k - 1];
process.stdout.write(await encode(oracle, reports, survey.version));
