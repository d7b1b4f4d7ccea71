import { AppError, toError } from "../../../../lib/app-error.ts";

/** A `warning` is something to think about; only a `failure` makes the command fail. */
export type CheckLevel = "ok" | "warning" | "failure";

/** Result of a check. */
export interface CheckResult {
  readonly check: string;
  readonly level: CheckLevel;
  readonly detail: string;
  /** A command or edit after which the check is ok; where nothing mends it, what to do all the same. */
  readonly fix?: string | undefined;
}

/** Looks at one thing. What it throws is a failure, with the error's own words and fix. */
export interface Check {
  readonly name: string;
  run(): Promise<CheckResult | readonly CheckResult[]>;
}

export function good(check: string, detail: string): CheckResult {
  return { check, level: "ok", detail };
}

export function warning(check: string, detail: string, fix?: string): CheckResult {
  return { check, level: "warning", detail, fix };
}

export function bad(check: string, detail: string, fix?: string): CheckResult {
  return { check, level: "failure", detail, fix };
}

/**
 * Runs checks one after another, so that one that hangs or hurts does not blur what another one says. One that cannot
 * be done with the configuration as it is says nothing: the check of the configuration has said why.
 */
export async function* runChecks(checks: readonly Check[]): AsyncGenerator<CheckResult> {
  for (const check of checks) {
    try {
      const found = await check.run();
      yield* Array.isArray(found) ? (found as readonly CheckResult[]) : [found as CheckResult];
    } catch (thrown) {
      const error = toError(thrown);
      if (error instanceof AppError && error.code === "config_invalid") continue;
      yield bad(check.name, error.message, error instanceof AppError ? error.fix : undefined);
    }
  }
}
