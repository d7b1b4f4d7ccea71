import { defineConfig } from "vitest/config";

import { shared } from "./vitest.config.ts";

/** What needs no container engine: for the loop of work. `npm test` runs everything. */
export default defineConfig({
  test: {
    ...shared,
    globalSetup: ["test/support/build-first.ts"],
    include: ["test/architecture.test.ts", "test/unit/**/*.test.ts", "test/contracts/**/*.test.ts"],
  },
});
