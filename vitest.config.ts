import { availableParallelism } from "node:os";
import { join } from "node:path";

import { defineConfig, type TestUserConfig } from "vitest/config";

import { LongestFirst } from "./test/support/longest-first.ts";
import RunReport from "./test/support/run-report.ts";

/**
 * Tests wait for containers, timers and the disk half of the time, so one more than there are processors. With two more,
 * attacks that are judged by the pauses of the host fail now and then.
 */
const workers = Math.min(availableParallelism() + 1, 6);

/** What holds for all tests, whichever are run. */
export const shared: TestUserConfig = {
  globalSetup: ["test/support/temporary-in-memory.ts", "test/support/build-first.ts", "test/support/require-engine.ts"],
  setupFiles: ["test/support/no-leaks.ts"],
  // For hangs only: a busy machine is no fault of the product.
  testTimeout: 600_000,
  hookTimeout: 600_000,
  // Each look costs the test and what it looks at a few milliseconds.
  expect: { poll: { timeout: 120_000, interval: 50 } },
  maxWorkers: workers,
  sequence: { sequencer: LongestFirst },
  reporters: ["default", new RunReport()],
  // Hosts in the process of tests start what is built.
  alias: [
    {
      find: /^.*\/lib\/process\/own-module\.ts$/,
      replacement: join(import.meta.dirname, "test/support/built-module.ts"),
    },
  ],
  // A process for each file would be a quarter of the time of those that need no engine. What files leave behind fails: no-leaks.ts.
  isolate: false,
  // Programs of ours that tests start from their sources: what Node made of those stays for the next one.
  env: { NODE_COMPILE_CACHE: join(import.meta.dirname, "node_modules/.cache/programs-of-tests") },
};

export default defineConfig({
  test: {
    ...shared,
    include: ["test/**/*.test.ts"],
    // These need a model of 130 MB, which `npm run test:model` fetches once on a machine.
    exclude: ["test/model/**"],
  },
});
