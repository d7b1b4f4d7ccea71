import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // They need a model of 130 MB, which `npm run test:model` fetches once on a machine.
    exclude: ["test/model/**"],
    globalSetup: ["test/support/require-engine.ts"],
    setupFiles: ["test/support/no-leaks.ts"],
    // Ten times what most tests need: a busy machine is no fault of the product.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000, interval: 20 } },
    maxWorkers: 2,
  },
});
