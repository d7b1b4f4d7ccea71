import { AppError, toError } from "../../lib/app-error.ts";

/** What one check found. A warning is `ok` with a detail that says what to think about. */
export interface CheckResult {
  readonly check: string;
  readonly ok: boolean;
  readonly detail: string;
  /** A command or edit that mends it. */
  readonly fix?: string | undefined;
}

/** Looks at one thing. What it throws counts as bad, with the error's own words and fix. */
export interface Check {
  readonly name: string;
  run(): Promise<CheckResult | readonly CheckResult[]>;
}

export function good(check: string, detail: string): CheckResult {
  return { check, ok: true, detail };
}

export function bad(check: string, detail: string, fix?: string): CheckResult {
  return { check, ok: false, detail, fix };
}

/** Runs checks one after another, so that one that hangs or hurts does not blur what another one says. */
export async function* runChecks(checks: readonly Check[]): AsyncGenerator<CheckResult> {
  for (const check of checks) {
    try {
      const found = await check.run();
      yield* Array.isArray(found) ? (found as readonly CheckResult[]) : [found as CheckResult];
    } catch (thrown) {
      const error = toError(thrown);
      yield bad(check.name, error.message, error instanceof AppError ? error.fix : undefined);
    }
  }
}
