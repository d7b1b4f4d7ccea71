import { appendFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { readAudit, type ReadOptions } from "../../../../src/records/audit/read.ts";
import { type AuditHome, auditHome } from "./audit-home.ts";

/** Three days with four records each, of the groups family and work by turns. */
async function threeDays(): Promise<AuditHome> {
  const home = await auditHome();
  await using log = await home.open();
  for (const day of [15, 16, 17]) {
    home.clock.set(`2026-01-${day}T12:00:00.000Z`);
    for (const group of ["family", "work", "family", "work"]) {
      await log.append({ type: "message-in", group, actor: "ann", data: {} });
    }
  }
  return home;
}

async function seqs(home: AuditHome, options: Omit<ReadOptions, "folder">): Promise<number[]> {
  return (await Array.fromAsync(readAudit({ folder: home.folder, ...options }))).map(({ seq }) => seq);
}

test("records are read oldest first, and can be limited to a group, a time and the newest ones", async () => {
  await using home = await threeDays();
  const since = Date.parse("2026-01-16T12:00:00.003Z");

  expect(await seqs(home, {})).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  expect(await seqs(home, { group: "work" })).toEqual([2, 4, 6, 8, 10, 12]);
  expect(await seqs(home, { since })).toEqual([7, 8, 9, 10, 11, 12]);
  expect(await seqs(home, { last: 2 })).toEqual([11, 12]);
  expect(await seqs(home, { last: 6 })).toEqual([7, 8, 9, 10, 11, 12]);
  expect(await seqs(home, { last: 3, group: "family" })).toEqual([7, 9, 11]);
  expect(await seqs(home, { last: 100, since, group: "family" })).toEqual([7, 9, 11]);
  expect(await seqs(home, { last: 0 })).toEqual([]);
});

test("a home without a log has no records", async () => {
  await using home = await auditHome();

  expect(await seqs(home, {})).toEqual([]);
  expect(await seqs(home, { last: 5 })).toEqual([]);
});

test("a record that is being written just now is left out; a damaged line is an error that says what to do", async () => {
  await using home = await threeDays();
  await appendFile(join(home.folder, "audit-2026-01-17.jsonl"), '{"v":1,"se');
  expect(await seqs(home, { last: 1 })).toEqual([12]);

  await appendFile(join(home.folder, "audit-2026-01-16.jsonl"), "nonsense\n");

  expect(await seqs(home, { last: 1 })).toEqual([12]);
  await expect(seqs(home, {})).rejects.toMatchObject({
    code: "audit_broken",
    message: expect.stringMatching(/Line 5 of .*audit-2026-01-16/),
    fix: "crabpot audit verify",
  });
});
