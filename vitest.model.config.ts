import { defineConfig } from "vitest/config";

import { shared } from "./vitest.config.ts";

/** What needs the local model for memories, which is fetched with npm where this machine does not have it yet. */
export default defineConfig({ test: { ...shared, include: ["test/model/**/*.test.ts"] } });
