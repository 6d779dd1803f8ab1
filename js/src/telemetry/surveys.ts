/** Surveys: what a metric is to the collector and to the ledger. */
import { LWR, SS, Survey } from "../index.js";
import type { AppMetric, AppMetrics } from "./metrics.js";

/** Return the survey of a metric, checked; its version must be the pinned one. */
export const surveyOf = ({ collector }: AppMetrics, { survey, version }: AppMetric): Promise<Survey> =>
  Survey.of(survey, collector, [LWR, SS], { version });
