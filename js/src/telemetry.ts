/** fldp/telemetry: private telemetry for programs. Declared metrics, one private report a period, and nothing without a yes. */

import { databaseStore } from "./bundle_shared.js";
import { type Place, type Platform, type SetupOptions, Telemetry } from "./telemetry/agent.js";
import { begun } from "./telemetry/setup.js";

export type { Place, Platform, SetupOptions } from "./telemetry/agent.js";
export type { ModeName, Recorded } from "./telemetry/metrics.js";
export type { View, ViewedMetric, ViewedReport } from "./telemetry/view.js";
export { Telemetry };

/** Return a place in the browser's database. */
function database(name: string): Place {
  const exists = async (): Promise<boolean> =>
    !!globalThis.indexedDB && ((await indexedDB.databases?.())?.some((each) => each.name === name) ?? true);
  return {
    name: `${name}, in the database of this browser for ${globalThis.origin}`,
    store: databaseStore(name),
    exists,
  };
}

const browser: Platform = {
  variables: {},
  get wishes() {
    return globalThis.navigator ?? {};
  },
  fetch: (url, request) => fetch(url, request),
  state: (app) => database(`fldp-telemetry-${app}`),
  ledger: database("fldp"),
  atEnd(work) {
    const leave = (): void => void work();
    const hide = (): void => void (document.visibilityState === "hidden" && work());
    globalThis.addEventListener?.("pagehide", leave);
    globalThis.document?.addEventListener("visibilitychange", hide);
    return () => {
      globalThis.removeEventListener?.("pagehide", leave);
      globalThis.document?.removeEventListener("visibilitychange", hide);
    };
  },
};

/**
 * Begin telemetry as the JSON that `fldp telemetry export` wrote declares it, if the person's mode allows. It never throws,
 * asks no network, and what takes time happens in the background.
 */
export const setup = (metrics: unknown, options: SetupOptions = {}): Promise<Telemetry> =>
  begun(metrics, browser, options);
