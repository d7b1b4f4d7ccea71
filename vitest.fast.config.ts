import { defineConfig, mergeConfig } from "vitest/config";

import everything from "./vitest.config.ts";

/** What needs no container engine: for the loop of work. `npm test` runs everything. */
export default defineConfig(
  mergeConfig(
    { ...everything, test: { ...everything.test, include: [], globalSetup: [] } },
    defineConfig({
      test: {
        include: ["test/architecture.test.ts", "test/unit/**/*.test.ts", "test/contracts/**/*.test.ts"],
      },
    }),
  ),
);
