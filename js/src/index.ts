/** fldp: answer surveys under local differential privacy, in the browser and in Node. */

export { load, type Offered } from "./client/load.js";
export { type Options, participant, Respondent } from "./client/respondent.js";
export type { Relay } from "./client/retry.js";
export { type Flushing, flush, flushWhenOnline, type Relays } from "./client/send.js";
export { every } from "./oracles/all.js";
export {
  type Answers,
  type AskedQuestion,
  type Fields,
  Oracle,
  type OracleClass,
  type Report,
  type Value,
} from "./oracles/base/oracle.js";
export { FHR } from "./oracles/flexible/fhr.js";
export { FWR, HRR } from "./oracles/flexible/fwr.js";
export { LWR } from "./oracles/flexible/lwr.js";
export { Grouped } from "./oracles/grouped.js";
export { GRR, RR } from "./oracles/plain/grr.js";
export { HR } from "./oracles/plain/hadamard_response.js";
export { OLH } from "./oracles/plain/olh.js";
export { PGR } from "./oracles/plain/pgr.js";
export { SS } from "./oracles/plain/subset_selection.js";
export { OUE, SUE } from "./oracles/plain/unary.js";
export { Wave } from "./oracles/plain/wave.js";
export { Sampled } from "./oracles/sampled.js";
export { CMS, HCMS } from "./oracles/strings/count_mean_sketch.js";
export { RAPPOR } from "./oracles/strings/rappor.js";
export { epochOf, firstDay, monthOf } from "./participant/epochs.js";
export { begin, type Refusals, type Row } from "./participant/ledger.js";
export type { FullLimits, Limit, Limits, Renewing, Spent } from "./participant/limits.js";
export { type Answer, type Confirm, type Keeping, Participant, type Sending } from "./participant/participant.js";
export { databaseStore, localStore, memoryStore, type Store } from "./participant/store.js";
export { expLower } from "./randomness/exp_lower.js";
export { type Bytes, dumps, identifier } from "./support/canonical_json.js";
export { BudgetError, CollectorError, DomainError, FldpError, ParameterError, WireError } from "./support/errors.js";
export { addressOf } from "./support/web_origin.js";
export { number, type Scale } from "./survey/number_scale.js";
export { type Round, search } from "./survey/search_round.js";
export { type Collect, type Kinds, type Numbering, type Searching, Survey } from "./survey/survey.js";
export { type Batch, decode } from "./wire/decode.js";
export { build, encode } from "./wire/encode.js";
