/** Setup: if anything goes wrong when telemetry begins, it stays off, and the program runs as before. */
import { FldpError } from "../bundle_shared.js";
import { type Platform, type SetupOptions, Telemetry } from "./agent.js";
import { metricsOf } from "./metrics.js";

/** Begin telemetry on a platform. */
export async function begun(metrics: unknown, platform: Platform, options: SetupOptions): Promise<Telemetry> {
  try {
    return await Telemetry.of(metricsOf(metrics), platform, options);
  } catch (error) {
    const why = `metrics cannot be used (${(error as Error)?.name}); fldp telemetry export writes them`;
    if (options.strict) throw new FldpError(`telemetry: ${why}: ${(error as Error)?.message}`);
    return Telemetry.none(platform, options, why);
  }
}
