/** fldp/telemetry in Node. */

import type { SetupOptions, Telemetry } from "./telemetry/agent.js";
import { node } from "./telemetry/node_platform.js";
import { begun } from "./telemetry/setup.js";

export { type Place, type Platform, type SetupOptions, Telemetry } from "./telemetry/agent.js";
export type { ModeName, Recorded } from "./telemetry/metrics.js";
export type { View, ViewedMetric, ViewedReport } from "./telemetry/view.js";

/**
 * Begin telemetry as the JSON that `fldp telemetry export` wrote declares it, if the person's mode allows. It never throws,
 * asks no network, and what takes time happens in the background.
 */
export const setup = (metrics: unknown, options: SetupOptions = {}): Promise<Telemetry> =>
  begun(metrics, node, options);
