// A client as the auditor calls it: node javascript_client.mjs SURVEY.json MODE LABEL COUNT writes one batch.
// MODE is honest, or what an audit has to catch: careless (more epsilon than declared) or repeats (noise used twice).
import { readFileSync } from "node:fs";
import { build, encode, Survey } from "../../src/fldp/collector/static/fldp.js";
import { oraclesOf } from "../../src/fldp/collector/static/shared/oracles.js";

const [file, mode, label, count] = process.argv.slice(2);
const fields = JSON.parse(readFileSync(file, "utf8"));
const oracles = await oraclesOf(fields);
const survey = await Survey.of(fields, "https://collector.example", oracles);
const { oracle } = survey;
const epsilon = mode === "careless" ? 3 * oracle.epsilon : oracle.epsilon;
const drawn = build({ ...oracle.description, epsilon }, oracles);
const value = await survey.encode(label);
const reports = Array.from({ length: Number(count) }, () => drawn.draw(value));
if (mode === "repeats") for (let k = 1; k < reports.length; k += 2) reports[k] = reports[k - 1];
process.stdout.write(await encode(oracle, reports, survey.version));
