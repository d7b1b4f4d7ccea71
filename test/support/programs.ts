import { join, resolve } from "node:path";

const checkoutFolder = resolve(import.meta.dirname, "../..");

/** Programs of the tests, and the source of each. */
export const programs = {
  "crashing-host": "test/fixtures/crashing-host.ts",
  "egress-host": "test/fixtures/egress-host.ts",
  "crashing-memory": "test/fixtures/memory/crashing-memory.ts",
  "audit-writer": "test/fixtures/audit/audit-writer.ts",
  "erasing-process": "test/fixtures/erasing-process.ts",
  "fake-whatsapp": "test/support/whatsapp/main.ts",
  "agent-process": "container/agent/main.ts",
} as const;

/** Where they lie when they are built: as deep as the program that users start. */
export const programsFolder = join(checkoutFolder, "dist", "programs-of-tests");

/**
 * What Node is to run: what was built before the tests, which starts in half of the time; what runs without them takes
 * the source.
 */
export function programPath(name: keyof typeof programs): string {
  const isTest = process.env["VITEST"] !== undefined;
  return isTest ? join(programsFolder, `${name}.mjs`) : join(checkoutFolder, programs[name]);
}
