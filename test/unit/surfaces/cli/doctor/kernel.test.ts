import { expect, test } from "vitest";

import { checkKernel } from "../../../../../src/surfaces/cli/commands/doctor/machine/kernel.ts";

const holes = ["CVE-2026-31431", "CVE-2026-43284", "CVE-2026-43500", "CVE-2026-46300"];

test.for([
  ["6.12.91", []],
  ["6.12.90-amd64", ["CVE-2026-46300"]],
  ["6.12.87", ["CVE-2026-43500", "CVE-2026-46300"]],
  ["6.12.84+deb13-amd64", holes],
  ["6.12", holes],
  ["6.1.174", ["CVE-2026-43500"]],
  ["7.0.9", ["CVE-2026-46300"]],
  ["7.0.10", []],
  ["7.1.0-rc1", []],
  ["3.8.0", []],
] as const)("a kernel %s has these known holes: %s", async ([release, names]) => {
  const { level, detail } = await checkKernel({ platform: "linux", release });

  expect(level).toBe(names.length === 0 ? "ok" : "warning");
  expect(detail.match(/CVE-[\d-]+/g) ?? []).toEqual([...names]);
});

test("says nothing about the kernel of a machine that only the engine knows", async () => {
  expect(await checkKernel({ platform: "darwin", release: "25.1.0" })).toMatchObject({ level: "ok" });
});
