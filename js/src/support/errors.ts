/**
 * The errors, as in Python:
 *
 *     FldpError            catch this one to catch them all
 *     ├── ParameterError   a parameter of an oracle, a survey or a call is not allowed
 *     ├── DomainError      a value or a report lies outside what the oracle knows
 *     ├── WireError        bytes, or a version, that are not what they claim to be
 *     ├── BudgetError      an answer would cost more privacy than its owner allows
 *     └── CollectorError   a collector refused, or could not be reached
 *
 * A message is one line: who, what, the rule, the value.
 */
export class FldpError extends Error {
  override name = "FldpError";
}

/** A parameter of an oracle, a survey or a call is not allowed. */
export class ParameterError extends FldpError {
  override name = "ParameterError";
}

/** A value or a report lies outside what the oracle knows. */
export class DomainError extends FldpError {
  override name = "DomainError";
}

/** Bytes, or a version, that are not what they claim to be. */
export class WireError extends FldpError {
  override name = "WireError";
}

/** An answer would cost more privacy than its owner allows. */
export class BudgetError extends FldpError {
  override name = "BudgetError";
}

/** A collector refused, or could not be reached; `status` is what it answered, null if it did not. */
export class CollectorError extends FldpError {
  override name = "CollectorError";
  declare readonly status: number | null;

  constructor(message: string, status: number | null = null) {
    super(message);
    this.status = status;
  }

  /** Whether the collector said no and would say it again; otherwise another attempt may succeed. */
  get refused(): boolean {
    return this.status !== null && this.status < 500 && ![408, 429].includes(this.status);
  }
}

/** Return somebody else's value as one short line that cannot do anything to a terminal. */
export function shown(value: unknown, most = 60): string {
  return String(typeof value === "bigint" ? value : (JSON.stringify(value) ?? value))
    .slice(0, 999)
    .replace(/[\p{C}\p{Z}]+/gu, " ")
    .slice(0, most);
}

/** Build the error of a value that breaks a rule; the caller throws it. */
export function fail(owner: string, name: string, rule: string, value: unknown): ParameterError {
  return new ParameterError(`${owner}: ${name} must be ${rule}, got ${shown(value)}`);
}
