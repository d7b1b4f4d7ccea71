import { defineConfig, mergeConfig } from "vitest/config";

import everything from "./vitest.config.ts";

/** What needs the local model for memories, which is fetched with npm where this machine does not have it yet. */
export default defineConfig(
  mergeConfig(
    { ...everything, test: { ...everything.test, include: [], exclude: [] } },
    defineConfig({ test: { include: ["test/model/**/*.test.ts"] } }),
  ),
);
