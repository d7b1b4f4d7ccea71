import { defineConfig } from "vitest/config";

import { shared } from "./vitest.config.ts";

/** They start programs, such as shells and decoders, and take half of the time: run if they are named. */
const slow = [
  "test/unit/{agent,plugins,scripts,records/erasure,abilities/media}/**",
  "test/unit/surfaces/cli/program.test.ts",
  "test/contracts/channel-whatsapp.test.ts",
];
const isNamed = process.argv.some((word) => word.startsWith("test/"));

/** What needs no container engine: for the loop of work. `npm test` runs everything. */
export default defineConfig({
  test: {
    ...shared,
    globalSetup: ["test/support/temporary-in-memory.ts", "test/support/build-first.ts"],
    include: ["test/architecture.test.ts", "test/unit/**/*.test.ts", "test/contracts/**/*.test.ts"],
    exclude: isNamed ? [] : slow,
  },
});
