/** What Python and JavaScript agree on. `make javascript` writes this file from Python. */

/** What a batch begins with: FLDP, the format, the kind for reports. */
export const BATCH_START = [70, 76, 68, 80, 1, 1];

/** The number of bytes of a checksum. */
export const CHECKSUM_BYTES = 8;

/** The maximum number of bytes of a chunk. */
export const CHUNK_BYTES = 4_194_304;

/** The maximum number of bytes of a batch's header. */
export const MAX_HEADER = 4096;

/** The maximum number of values of a domain, and of bits of a report, that a device works on for a stranger. */
export const MAX_VALUES = 1_048_576;

/** The maximum number of values of any list. */
export const MAX_LISTED = 2_147_483_647;

/** The largest parameter that is a power of two. */
export const MAX_POWER = 65536;

/** The maximum number of symbols that OLH hashes to. */
export const MAX_SYMBOLS = 4294967295n;

/** The maximum number of points of a projective space. */
export const MAX_POINTS = 4_294_967_295;

/** The maximum number of parities under the coin of FWR. */
export const MAX_HASH_BITS = 8;

/** The maximum number of parities under the coins of LWR. */
export const MAX_KEPT_BITS = 3;

/** The maximum number of masks of a report of FWR. */
export const MAX_MASKS = 12;

/** The seeds of the items of FWR, for domains of 2 to 255 values. */
export const SCATTER_SEEDS =
  "0000000000000003030300000000000049030c042900000000000000000000660899246604660499000c000e000e840e0e08087b07102b000000000000000023c40542054b2f4b2323010134010101ad01b5070707b50722073cc007034b03038b034b0303df0f44052f2f070a020717170504051c0206000000000000000009096f3d6f1b6fd9ad04043444254434a304a3da9bdadada8b9b09090904048b048b8b8b428b002f2f2f0044000044444444441aa91aea2f969696259696424242dddddddd97dd97970697007c002000426c025a1d69003a3e020202310416041616ae0a0c480a480c1a00000c05083e080a00006300020000000000000000";

/** The maximum number of groups of Grouped. */
export const MAX_GROUPS = 256;

/** The maximum number of sensitive values. */
export const MAX_SENSITIVE = 256;

/** The maximum number of values with budgets of their own. */
export const MAX_BUDGETS = 100;

/** A balance of budgets is a number of these. */
export const BALANCE_STEPS = 1024n;

/** The maximum number of values of Exponential: a channel has a row for each. */
export const MAX_NEAR = 512;

/** The largest condition of the channel; beyond it, rounding would show in the estimates. */
export const MAX_CONDITION = 1_000_000_000;

/** The maximum number of values of a wave, and cells of a number. */
export const MAX_WAVE = 4096;

/** The maximum number of buckets of a sketch, over all hash functions. */
export const MAX_CELLS = 16_777_216;

/** The maximum number of bits that a round of a search adds. */
export const MAX_STEP = 18;

/** The maximum number of bytes of a string that may be an answer. */
export const MAX_STRING_BYTES = 1024;

/** The format of a survey that its version is a hash of. */
export const SURVEY_FORMAT = "fldp-survey-1";

/** The names of surveys. */
export const SURVEY_NAME = /^[a-z0-9]([a-z0-9_-]{0,62}[a-z0-9])?$/;

/** The tags of languages. */
export const LANGUAGE = /^[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$/;

/** The maximum number of characters of a survey's texts. */
export const MAX_TEXT = 2000;

/** The maximum number of characters of a label. */
export const MAX_LABEL = 200;

/** The maximum number of labels of a survey. */
export const MAX_LABELS = 1_000_000;

/** The maximum number of questions of a survey. */
export const MAX_QUESTIONS = 64;

/** There are fewer records of several answers than this. */
export const MAX_COMBINATIONS = 4611686018427387904n;

/** The maximum number of views of a record. */
export const MAX_VIEWS = 1024;

/** The maximum number of values of a view. */
export const MAX_VIEW_VALUES = 65536;

/** The maximum sum of the weights of all views. */
export const MAX_WEIGHT = 4_294_967_296;

/** The maximum number of answers of one question of several. */
export const MAX_ANSWERS = 65536;

/** The largest number of reports below which nothing is shown. */
export const MAX_MINIMUM = 1_000_000_000;

/** How many more reports it may take before those who read see them. */
export const RELEASES = [1000, 1000000000000];

/** The number of characters of an issuer's key. */
export const ISSUER_KEY_LENGTH = 456;

/** A person's limits, where none are given. */
export const LIMITS = {
  topic: { maxEpsilon: 2, minEta: 0.5, maxAnswers: 100 },
  origin: { maxEpsilon: 4, minEta: 0.25, maxAnswers: 100 },
  total: { maxEpsilon: 8, minEta: 0.0625, maxAnswers: 1000 },
  monthTotal: { maxEpsilon: 4, minEta: 1, maxAnswers: 1000 },
  year: { maxEpsilon: 12, minEta: 1, maxAnswers: 1000 },
  minAnonymity: 2,
  minLabels: 3,
};

/** The limit of each month on one origin, where a program wants limits that renew. */
export const MONTH = {
  maxEpsilon: 2,
  minEta: 1,
  maxAnswers: 100,
};

/** The maximum number of batches of other days that can be taken back. */
export const MAX_EARLIER = 400;

/** The format of a program's metrics. */
export const METRICS_FORMAT = "fldp-metrics-1";

/** The variables that continuous integration sets. */
export const CI = ["CI", "GITHUB_ACTIONS", "GITLAB_CI", "BUILDKITE", "TF_BUILD", "JENKINS_URL", "TEAMCITY_VERSION"];

/** How often a request is repeated. */
export const MAX_RETRIES = 5;

/** The longest wait before the first repetition, in milliseconds. */
export const FIRST_DELAY = 500;

/** The longest wait before any, in milliseconds. */
export const MAX_DELAY = 60000;

/** The maximum number of bytes of an answer that is kept in memory. */
export const MAX_JSON = 33_554_432;

/** What a collector answers that may act on a repetition. */
export const RETRY_STATUSES = [408, 429, 502, 503, 504];

/** The sizes that messages through a relay are filled up to, in bytes. */
export const MESSAGE_SIZES = [1024, 4096, 16384, 65536];

/** The maximum number of bytes of a gateway's keys. */
export const MAX_KEYS_BYTES = 4096;

/** The maximum number of bytes of a reply through a relay. */
export const MAX_REPLY_BYTES = 65568;

/** The headers of requests that go through a relay. */
export const RELAYED_HEADERS = ["content-type", "idempotency-key", "fldp-ticket"];
