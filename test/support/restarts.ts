import { afterEach } from "vitest";

import type { TestHost } from "./host.ts";
import { runningTest } from "./made-by-tests.ts";

/**
 * Ends a host that tests share, by default at once, and starts it again for the tests that follow, too. Between the two
 * happens what is said.
 */
export async function restart(
  host: TestHost,
  { signal = "SIGKILL", between }: { readonly signal?: NodeJS.Signals; readonly between?: () => Promise<unknown> } = {},
): Promise<void> {
  await host.end(signal);
  await between?.();
  await bootForAll(host);
}

/** Starts a host that tests share (again); it is not the running test's, which would have to end it. */
export function bootForAll(host: TestHost, variables: Readonly<Record<string, string>> = {}): Promise<void> {
  return runningTest.exit(() => host.boot(variables));
}

/**
 * Starts a shared host again that a test has ended and, because it failed, not started: the others are judged for
 * themselves.
 */
export function keepRunning(running: () => { readonly host: TestHost }): void {
  afterEach(async () => {
    const { host } = running();
    if (!host.isRunning) await bootForAll(host);
  });
}
