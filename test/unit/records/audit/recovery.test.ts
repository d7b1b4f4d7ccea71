import { spawn } from "node:child_process";
import { appendFile, readdir, readFile, rm, truncate, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { expect, test } from "vitest";

import { verifyAudit } from "../../../../src/records/audit/verify/verify.ts";
import { openAuditWitness, openStore } from "../../../../src/stores/catalog.ts";
import { programPath } from "../../../support/programs.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { auditHome, forgetfulIndex } from "./audit-home.ts";

const entry = { type: "message-in", actor: "ann", data: {} } as const;
const day = "audit-2026-01-15.jsonl";

interface WriterOptions {
  /** Makes its disk full, until `prlimit` gives it more. */
  readonly fileSizeKb?: number;
  readonly count?: number;
  /** Without a store. */
  readonly alone?: boolean;
}

/** A host that writes records until it is killed. */
function startWriter(home: string, { fileSizeKb, count = Infinity, alone = false }: WriterOptions = {}) {
  const program = programPath("audit-writer");
  const limit = fileSizeKb === undefined ? "" : `ulimit -S -f ${fileSizeKb}; `;
  const args = [process.execPath, program, home, String(count), ...(alone ? ["alone"] : [])];
  const child = spawn("bash", ["-c", `${limit}exec "$0" "$@"`, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { child, lines, [Symbol.dispose]: () => child.kill("SIGKILL") };
}

async function verifyWriter(home: string) {
  await using witness = await openAuditWitness({ kind: "sqlite", path: join(home, "writer.sqlite") });
  return await verifyAudit({ folder: join(home, "audit"), keyFolder: join(home, "keys"), index: witness });
}

test("a host that is killed loses no record that it waited for, and the next one goes on", async () => {
  await using home = await temporaryFolder();
  using writer = startWriter(home.path);
  let acknowledged = 0;
  for await (const line of writer.lines) {
    expect(line).toMatch(/^written/);
    acknowledged += 1;
    if (acknowledged === 40) writer.child.kill("SIGKILL");
  }

  const crashed = await verifyWriter(home.path);
  using next = startWriter(home.path, { count: 3 });
  for await (const line of next.lines) expect(line).toMatch(/^written/);

  expect(crashed).toMatchObject({ ok: true });
  expect(crashed.records).toBeGreaterThanOrEqual(acknowledged);
  const after = await verifyWriter(home.path);
  expect(after).toMatchObject({ ok: true, unanchoredTail: 0 });
  expect(after.records).toBeGreaterThanOrEqual(crashed.records + 3);
});

test("on a full disk records are refused and leave no half lines; with space again the log goes on by itself", async () => {
  await using home = await temporaryFolder();
  using writer = startWriter(home.path, { fileSizeKb: 700 });
  let written = 0;
  let refused = 0;
  let afterwards = 0;
  for await (const line of writer.lines) {
    if (line.startsWith("refused")) {
      refused += 1;
      if (refused === 5) spawn("prlimit", ["--pid", String(writer.child.pid), "--fsize=unlimited:"]);
    } else {
      written += 1;
      if (refused > 0) afterwards += 1;
      if (afterwards === 100) writer.child.kill("SIGTERM");
    }
  }

  const result = await verifyWriter(home.path);

  expect(refused).toBeGreaterThanOrEqual(5);
  expect(written).toBeGreaterThan(400);
  expect(result).toMatchObject({ ok: true, records: written + result.gaps.length, unanchoredTail: 0 });
  const lost = result.gaps.map(({ data }) => (data as { lost: number }).lost).reduce((sum, some) => sum + some, 0);
  expect(lost).toBe(refused);
});

test("a host that ends while the disk is full leaves a log without half lines", async () => {
  await using home = await temporaryFolder();
  // The store's files would be full as well, sooner the slower the machine is, and nothing is signed without it.
  using writer = startWriter(home.path, { fileSizeKb: 400, count: 400, alone: true });
  let written = 0;
  for await (const line of writer.lines) if (line.startsWith("written")) written += 1;

  const result = await verifyAudit({ folder: join(home.path, "audit"), keyFolder: join(home.path, "keys") });

  expect(written).toBeGreaterThan(200);
  expect(written).toBeLessThan(400);
  expect(result).toMatchObject({ ok: true, records: written, unfinished: [], unanchoredTail: 0 });
});

test("a line that a crash left half-written is set aside, and the log says so", async () => {
  await using home = await auditHome();
  await home.record(3);
  await appendFile(join(home.folder, day), '{"v":1,"seq":4,"ts":"2026-');
  await appendFile(join(home.folder, "checkpoints"), "crabpot.audit/0123abcd\n9");
  expect(await home.verify()).toMatchObject({
    ok: true,
    unfinished: [
      { file: "checkpoints", bytes: 24 },
      { file: day, bytes: 26 },
    ],
  });

  await home.record(1);

  const result = await home.verify();
  expect(result).toMatchObject({ ok: true, records: 6, unfinished: [] });
  expect(result.gaps).toMatchObject([
    { seq: 4, type: "audit-recovered", data: { file: day, bytes: 26 } },
    { seq: 5, type: "audit-recovered", data: { file: "checkpoints", bytes: 24 } },
  ]);
  const aside = (await readdir(home.folder)).find((name) => name.startsWith(`${day}.torn-`)) ?? "";
  expect(await readFile(join(home.folder, aside), "utf8")).toBe('{"v":1,"seq":4,"ts":"2026-');
});

test("a checkpoint that was cut at any byte is mended at the next start, and never taken for a forgery", async () => {
  await using home = await auditHome();
  await home.record(2);
  await home.record(2);
  const path = join(home.folder, "checkpoints");
  const whole = await readFile(path);
  const copy = await home.copy();
  const head = await home.store.audit.head();
  const first = whole.indexOf("\n\n", whole.indexOf("—")) + 2;

  for (let size = first + 1; size < whole.length; size += 7) {
    await home.restore(copy);
    await truncate(path, size);
    expect(await home.verify(), `cut at ${size}`).toMatchObject({ ok: true, checkpoints: 1, unanchoredTail: 2 });
    const log = await home.open({ index: { ...forgetfulIndex, head: async () => head } });
    await log[Symbol.asyncDispose]();
    const mended = await home.verify({ index: undefined });
    expect(mended, `cut at ${size}`).toMatchObject({ ok: true, checkpoints: 2, unanchoredTail: 0 });
  }
});

test("zeros that a loss of power left at the end are set aside", async () => {
  await using home = await auditHome();
  await home.record(2);
  await appendFile(join(home.folder, day), Buffer.alloc(300_000));

  await home.record(1);

  expect(await home.verify()).toMatchObject({ ok: true, records: 4, gaps: [{ type: "audit-recovered" }] });
});

test("a day that was begun and never written does not disturb the next", async () => {
  await using home = await auditHome();
  await home.record(2);
  await writeFile(join(home.folder, "audit-2026-01-19.jsonl"), "");

  await home.record(1);

  expect(await home.days()).toEqual([day]);
  expect(await home.verify()).toMatchObject({ ok: true, records: 3 });
});

test("a log that was cut while the host was away lets the host start, and stays red for ever", async () => {
  await using home = await auditHome();
  await home.record(3);
  const copy = await home.copy();
  await home.record(4);
  await home.restore(copy);

  await home.record(2);
  home.clock.set("2026-02-01T00:00:00.000Z");
  await home.record(1);

  const result = await home.verify();
  expect(result).toMatchObject({ ok: false, firstBadSeq: 4, records: 3, file: day, unanchoredTail: 0 });
  expect(result.reason).toMatch(
    /record 8 of the log itself declares that it was broken: .*record 3.*store remembers 7/,
  );
  expect(result.gaps).toMatchObject([{ seq: 8, type: "audit-broken" }]);
  expect(result.head).toEqual(await home.store.audit.head());
  expect(result.head?.seq).toBe(11);
});

test("after a declared break later records are still verified", async () => {
  await using home = await auditHome();
  await home.record(3);
  const copy = await home.copy();
  await home.record(4);
  await home.restore(copy);
  await home.record(3);
  const text = await readFile(join(home.folder, day), "utf8");
  const head = await home.store.audit.head();

  await writeFile(join(home.folder, day), text.replace(/"number":1(?=[^\n]*\n[^\n]*\n$)/, '"number":7'));

  expect(head?.seq).toBe(11);
  expect((await home.verify()).head?.seq).toBeLessThan(11);
  expect(await home.verify()).toMatchObject({ ok: false, firstBadSeq: 4 });
});

test("a log that was cut in the middle of a line is both mended and declared broken", async () => {
  await using home = await auditHome();
  await home.record(3);
  const { length } = await readFile(join(home.folder, day));
  await truncate(join(home.folder, day), length - 10);

  await home.record(1);

  const result = await home.verify();
  expect(result).toMatchObject({ ok: false, firstBadSeq: 3, records: 2, head: { seq: 6 } });
  expect(result.gaps.map(({ seq, type }) => [seq, type])).toEqual([
    [4, "audit-broken"],
    [5, "audit-recovered"],
  ]);
});

test("a log that was removed or replaced as a whole is declared broken", async () => {
  await using home = await auditHome();
  await home.record(3);
  for (const name of await readdir(home.folder)) await unlink(join(home.folder, name));
  await home.record(1);
  expect(await home.verify()).toMatchObject({ ok: false, firstBadSeq: 1, records: 0 });

  await using other = await auditHome();
  await other.record(5);
  const foreign = await other.copy();
  await home.restore(foreign);
  await home.record(1);
  expect(await home.verify()).toMatchObject({ ok: false, firstBadSeq: 1 });
});

test("a log that was written anew with the home's own key is declared broken at the next start", async () => {
  await using home = await auditHome();
  await home.record(3);
  await rm(home.folder, { recursive: true });
  const forger = await home.open({ index: forgetfulIndex });
  for (let number = 7; number < 12; number += 1) await forger.append({ ...entry, data: { number } });
  await forger[Symbol.asyncDispose]();

  await home.record(1);

  const result = await home.verify();
  expect(result).toMatchObject({ ok: false, gaps: [{ seq: 6, type: "audit-broken" }] });
  expect(result.reason).toContain("record 3 differs from what the store remembers");
});

test("a key that was replaced is declared, because old checkpoints cannot be checked anymore", async () => {
  await using home = await auditHome();
  await home.record(3);
  for (const name of await readdir(home.keyFolder)) await unlink(join(home.keyFolder, name));

  await home.record(1);

  const result = await home.verify();
  expect(result).toMatchObject({ ok: false, gaps: [{ type: "audit-broken" }] });
  expect(JSON.stringify(result.gaps)).toContain("key");
});

test("a store that was lost is told the whole log again, and the log says that it was lost", async () => {
  await using home = await auditHome();
  await home.record(5);
  home.clock.set("2026-01-20T00:00:00.000Z");
  await home.record(600);
  await using fresh = await openStore({ kind: "sqlite", path: join(home.path, "fresh.sqlite") });

  const log = await home.open({ index: fresh.audit });
  await log.append(entry);
  await log[Symbol.asyncDispose]();

  expect(await fresh.audit.head()).toEqual(log.head);
  expect(await home.verify({ index: fresh.audit })).toMatchObject({
    ok: false,
    firstBadSeq: 606,
    records: 605,
    gaps: [{ seq: 606, type: "store-older", data: { storeRecord: 0, signedRecord: 605, lastRecord: 605 } }],
  });
});
