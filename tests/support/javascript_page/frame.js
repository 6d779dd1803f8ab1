// One tab: answers a survey with its own label, and tells its parent which answer that gave.
import { databaseStore, localStore, OLH, participant, Survey } from "./fldp.js";

const { kind, label } = Object.fromEntries(new URLSearchParams(location.search));
const fields = { name: kind, question: "Which?", labels: [..."abcdef"], oracle: { name: "olh", epsilon: 1 } };
const survey = await Survey.of(fields, location.origin, [OLH]);
const store = kind === "database" ? databaseStore() : localStore();
try {
  const { key, repeated, state } = await participant(survey, { store }).answer(label);
  parent.postMessage({ key, repeated, state });
} catch (error) {
  parent.postMessage({ error: String(error) });
}
