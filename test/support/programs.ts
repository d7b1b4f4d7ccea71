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

/** Folder of the built programs, as deep as the one that users start. */
export const programsFolder = join(checkoutFolder, "dist", "programs-of-tests");

/** Path for Node: the built program, which starts in half the time, or the source. */
export function programPath(name: keyof typeof programs): string {
  const isTest = process.env["VITEST"] !== undefined;
  return isTest ? join(programsFolder, `${name}.mjs`) : join(checkoutFolder, programs[name]);
}
