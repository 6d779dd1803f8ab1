/** The replies of the collector that the pages read; `openapi.json` describes them all. */

export interface SurveyRow {
  readonly name: string;
  readonly version: string;
  readonly question: string;
  readonly created: string;
  readonly state: string;
  readonly decoders: readonly string[];
  readonly methods: readonly string[];
  readonly n: number;
  /** How many answers were taken back; they are not in `n`. */
  readonly withdrawn?: number;
}

export interface EstimateRow {
  readonly value: number;
  readonly label: string;
  readonly count: number;
  readonly stderr: number;
  readonly low: number;
  readonly high: number;
  readonly frequency: number;
}

/** A figure of a number; its standard error is null where it is not known. */
export interface NumberValue {
  readonly what: string;
  readonly value: number;
  readonly stderr: number | null;
  readonly low: number;
  readonly high: number;
  readonly unit: string | null;
  readonly note: string | null;
  readonly q?: number;
}

export interface NumberCellRow {
  readonly start: number;
  readonly end: number;
  readonly share: number;
  readonly stderr: number;
  readonly low: number;
  readonly high: number;
}

export interface NumberEdge {
  readonly edge: number;
  readonly cdf: number;
  readonly stderr: number;
  readonly low: number;
  readonly high: number;
}

export interface NumberFigures {
  readonly goal: "distribution" | "mean";
  readonly unit: string | null;
  readonly low: number;
  readonly high: number;
  readonly mean: NumberValue;
  readonly quantiles?: readonly NumberValue[];
  readonly cells?: readonly NumberCellRow[];
  readonly cdf?: readonly NumberEdge[];
}

/** A share of those who answered an optional question. */
export interface AnsweredRow {
  readonly value: string | number;
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

/** The estimates of one question of several; a note where too few reports are about it. */
export interface QuestionEstimates {
  readonly question: string;
  readonly rows: readonly EstimateRow[];
  readonly answered?: readonly AnsweredRow[];
  readonly number?: NumberFigures;
  /** Intervals hold at every look; intervals of answers hold for all answers at once. */
  readonly anytime?: { readonly planned: number };
  readonly note?: string;
}

/** A share within a row of a cross-table. */
export interface RowShare {
  readonly row: string | number;
  readonly column: string | number;
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

/** Two questions together. */
export interface CrossTable {
  readonly cross: readonly [string, string];
  readonly n: number;
  readonly level: number;
  readonly biased: boolean;
  readonly cells: readonly (Readonly<Record<string, string | number>> & { readonly count: number })[];
  readonly row_shares: readonly RowShare[];
  /** Of each cell, whether it has more (1) or fewer (-1) people than independence would give it. */
  readonly marks: readonly (readonly number[])[];
  readonly independence: { readonly statistic: number; readonly df: number; readonly p_value: number };
  readonly association: {
    readonly v: number;
    readonly low: number;
    readonly high: number;
    readonly approximate: boolean;
  };
}

export interface AssociationRow {
  readonly first: string;
  readonly second: string;
  readonly p_value: number;
  /** The same, for all pairs at once. */
  readonly adjusted: number;
  readonly v: number;
  readonly low: number;
  readonly high: number;
}

/** The tables of several questions. */
export interface TableEstimates {
  readonly n: number;
  readonly level: number;
  readonly biased: boolean;
  readonly method: string;
  readonly views: readonly { readonly questions: string; readonly people: number }[];
  readonly questions: readonly QuestionEstimates[];
}

export interface Estimates {
  readonly oracle: { readonly name: string };
  readonly n: number;
  readonly level: number;
  readonly method: string;
  readonly biased: boolean;
  readonly remark?: string;
  readonly options: { readonly decoder?: string };
  readonly rest?: Pick<EstimateRow, "count" | "stderr">;
  /** Intervals hold for all values and at every look; narrowest at this number of reports. */
  readonly anytime?: { readonly planned: number };
  readonly rows: readonly EstimateRow[];
  /** What somebody must know who reads them, such as that the reports are too few. */
  readonly note?: string;
  /** What is estimated of a number, where one is asked for. */
  readonly number?: NumberFigures;
}

export interface TokenRow {
  readonly id: string;
  readonly scope: string;
  readonly survey: string | null;
  readonly created: string;
  readonly expires: string | null;
  readonly revoked: string | null;
}

export interface DayRow {
  readonly day: string;
  /** The number of reports; null where it is too small to be shown. */
  readonly n: number | null;
  readonly withdrawn?: number;
}

export interface ChangeRow {
  readonly label: string;
  readonly share: number;
  readonly other_share: number;
  readonly difference: number;
  readonly low: number;
  readonly high: number;
  readonly changed: boolean;
}

export interface Comparison {
  readonly n: number;
  readonly other_n: number;
  readonly level: number;
  readonly values: number;
  readonly changed: number;
  readonly anytime?: { readonly planned: number };
  readonly rows: readonly ChangeRow[];
  /** The one that was compared, of several questions. */
  readonly question?: string;
}

export interface IntegrityTest {
  readonly test: string;
  readonly claim: string;
  readonly worst: string;
  readonly flagged: boolean;
}

export interface Integrity {
  readonly passed: boolean;
  readonly n: number;
  readonly source: "reports" | "tally";
  readonly false_alarm: number;
  /** The rate holds for all looks together. */
  readonly anytime?: boolean;
  readonly conclusion: string;
  readonly tests: readonly IntegrityTest[];
  readonly blind: readonly string[];
}

/** An oracle as JSON: its name and its parameters. */
export interface OracleFields {
  readonly name: string;
  readonly epsilon: number;
  readonly eta?: number;
  readonly domain_size?: number;
  readonly [parameter: string]: unknown;
}

export interface PlanRow {
  readonly oracle: OracleFields;
  readonly eta: number;
  readonly bits: number;
  /** The mean error of a share; a plan for strings has the error of a rare one. */
  readonly error_mean?: number;
  readonly error_rare: number;
  readonly error_frequent?: number;
  /** Half the interval that the dashboard shows of the share that is known worst; of values only. */
  readonly reach?: number;
  /** The least share that is told from zero; null where there is none. */
  readonly detectable: number | null;
  readonly exposure: string;
  readonly eligible: boolean;
  readonly recommended: boolean;
  readonly shortest: boolean;
  readonly derives: boolean;
}

/** A plan for several questions: a row for each table. */
export interface QuestionPlan {
  readonly oracle: OracleFields;
  readonly eta: number;
  readonly bits: number;
  readonly gives_away: string;
  readonly users: number;
  readonly views: readonly { readonly view: readonly (string | number)[]; readonly people: number }[];
  readonly rows: readonly {
    readonly questions: readonly number[];
    readonly stderr: number;
    readonly smallest_association?: number;
  }[];
}

/** What is to be expected of a number, by how many cells it has. Errors are standard errors: of shares, and of the mean over the range. */
export interface NumberPlan {
  readonly users: number;
  readonly bits: number;
  readonly eta: number;
  readonly gives_away: string;
  readonly oracle: OracleFields;
  /** How many cells suit as many people; of a distribution. */
  readonly best_bins?: number;
  readonly rows: readonly {
    readonly bins: number;
    readonly cell: number;
    readonly cdf_error: number;
    readonly mean_error: number;
    /** Half the intervals that the dashboard shows, at every look; the interval of the CDF for all edges at once. */
    readonly cdf_reach: number;
    readonly mean_reach: number;
    readonly bits: number;
  }[];
}

export interface Plan {
  readonly domain?: string;
  readonly domain_size: number;
  readonly reason: string;
  readonly rows: readonly PlanRow[];
  readonly skipped?: Readonly<Record<string, string>>;
}
