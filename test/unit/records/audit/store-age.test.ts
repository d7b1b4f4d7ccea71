import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";

import SQLite from "better-sqlite3";
import { pino } from "pino";
import { expect, test } from "vitest";

import { AuditLog } from "../../../../src/records/audit/log/log.ts";
import { verifyAudit, type VerifyResult } from "../../../../src/records/audit/verify/verify.ts";
import { systemClock } from "../../../../src/lib/time/clock.ts";
import { openAuditWitness, openStore } from "../../../../src/stores/catalog.ts";
import type { AuditIndex } from "../../../../src/stores/contract/store.ts";
import { programPath } from "../../../support/programs.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { auditHome } from "./audit-home.ts";

const program = programPath("audit-writer");
const database = "writer.sqlite";

interface Home extends AsyncDisposable {
  readonly path: string;
  /** A life of a host that writes this many records and ends well, or by `kill -9` after that many were on disk. */
  live(count: number, end?: "killed"): Promise<void>;
  /** Puts a part of the home aside, or back. */
  copy(part: "store" | "log", name: string): Promise<void>;
  restore(part: "store" | "log", name: string): Promise<void>;
  verify(): Promise<VerifyResult>;
  /** Log of the host after its next start. */
  start(): Promise<string>;
}

async function filesOf(part: "store" | "log", where: string): Promise<string[]> {
  const names = await readdir(where).catch(() => []);
  return names.filter((name) => (part === "log" ? name === "audit" : name.startsWith(database)));
}

async function openHome(): Promise<Home> {
  const folder = await temporaryFolder();
  const { path } = folder;
  return {
    path,
    live: async (count, end) => {
      const args = [program, path, ...(end ? [] : [String(count)])];
      const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
      const ended = once(child, "exit");
      let written = 0;
      for await (const line of createInterface({ input: child.stdout })) {
        expect(line).toMatch(/^written/);
        written += 1;
        if (end && written === count) child.kill("SIGKILL");
      }
      await ended;
    },
    copy: async (part, name) => {
      await mkdir(join(path, name), { recursive: true });
      for (const file of await filesOf(part, path)) {
        await cp(join(path, file), join(path, name, file), { recursive: true });
      }
    },
    restore: async (part, name) => {
      for (const file of await filesOf(part, path)) await rm(join(path, file), { recursive: true });
      for (const file of await filesOf(part, join(path, name))) {
        await cp(join(path, name, file), join(path, file), { recursive: true });
      }
    },
    verify: async () => {
      await using witness = await openAuditWitness({ kind: "sqlite", path: join(path, database) });
      return await verifyAudit({ folder: join(path, "audit"), keyFolder: join(path, "keys"), index: witness });
    },
    start: async () => {
      const said: string[] = [];
      await using store = await openStore({ kind: "sqlite", path: join(path, database) });
      const parts = { folder: join(path, "audit"), keyFolder: join(path, "keys"), index: store.audit };
      const logger = pino({ level: "error" }, { write: (line) => said.push(line) });
      await using log = await AuditLog.open({ ...parts, clock: systemClock, instance: "0123abcd", logger });
      await log.append({ type: "host-start", actor: "host", data: {} });
      log.signSoon();
      return said.join("");
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

test("a store that was put back under a newer log is found before the next start, told at it, and stays on record", async () => {
  await using home = await openHome();
  await home.live(20);
  await home.copy("store", "old");
  await home.live(5);
  await home.restore("store", "old");

  const before = await home.verify();
  const said = await home.start();
  const again = await home.start();
  const after = await home.verify();

  expect(before).toMatchObject({ ok: false, firstBadSeq: 21, records: 20 });
  expect(before.reason).toBe(
    "the store is older than the log: it remembers record 20, and a checkpoint signs record 25",
  );
  expect(said).toContain("the audit log declares store-older");
  expect(again).toBe("");
  expect(after).toMatchObject({
    ok: false,
    firstBadSeq: 26,
    records: 25,
    unanchoredTail: 0,
    gaps: [{ seq: 26, type: "store-older", data: { storeRecord: 20, signedRecord: 25, lastRecord: 25 } }],
  });
  expect(after.reason).toContain("record 26 of the log itself declares that the store was older than the log");
});

test("a store of before the last start is known also when that host was killed a moment later", async () => {
  await using home = await openHome();
  await home.live(20);
  await home.copy("store", "old");
  await home.start();
  await home.live(3, "killed");
  await home.restore("store", "old");

  expect(await home.start()).toContain("store-older");
  expect(await home.verify()).toMatchObject({ ok: false, gaps: [{ type: "store-older" }] });
});

test("a store that was lost is told as well", async () => {
  await using home = await openHome();
  await home.live(20);
  await home.restore("store", "nothing");

  expect(await home.start()).toContain("store-older");
  expect(await home.verify()).toMatchObject({ gaps: [{ type: "store-older", data: { storeRecord: 0 } }] });
});

test("an older log under a newer store is declared broken, and both put back together look as they were", async () => {
  await using home = await openHome();
  await home.live(20);
  await home.copy("store", "old");
  await home.copy("log", "old");
  await home.live(5);
  await home.restore("log", "old");
  expect(await home.verify()).toMatchObject({ ok: false, firstBadSeq: 21 });

  await home.restore("store", "old");
  expect(await home.verify()).toMatchObject({ ok: true, records: 20 });
  await home.live(5);
  await home.copy("store", "new");
  await home.restore("log", "old");

  expect(await home.start()).toContain("the audit log declares audit-broken");
  expect(await home.verify()).toMatchObject({ ok: false, gaps: [{ type: "audit-broken" }] });
});

test("a host that is killed at any moment leaves no store that looks older", async () => {
  await using home = await openHome();
  for (const count of [1, 60, 255, 256, 257]) {
    await home.live(count, "killed");
    expect(await home.verify(), `killed after ${count}`).toMatchObject({ ok: true });
    expect(await home.start(), `killed after ${count}`).toBe("");
  }

  expect(await home.verify()).toMatchObject({ ok: true, gaps: expect.not.arrayContaining([{ type: "store-older" }]) });
});

test("a store of a host that did not tell before it signed may lack what a crash can have cost, and no more", async () => {
  await using home = await openHome();
  await home.live(300);
  const behind = (records: number): void => {
    const opened = new SQLite(join(home.path, database));
    opened.exec(`delete from audit_signed; delete from audit_records where seq > ${300 - records}`);
    opened.close();
  };

  behind(100);

  expect(await home.verify()).toMatchObject({ ok: true });
  expect(await home.start()).toBe("");
});

test("a store that fails at any moment is not taken for an older one", async () => {
  for (const calls of [0, 1, 2, 3, 4, 5, 6]) {
    await using home = await auditHome();
    const { audit } = home.store;
    let left = calls;
    const orFail = <T>(call: () => Promise<T>): Promise<T> =>
      left-- > 0 ? call() : Promise.reject(new Error("the disk is full"));
    const index: AuditIndex = {
      head: () => audit.head(),
      signed: () => audit.signed(),
      append: (records) => orFail(() => audit.append(records)),
      willSign: (seq) => orFail(() => audit.willSign(seq)),
    };
    const log = await home.open({ index });
    for (let number = 0; number < 600; number += 1) await log.append({ type: "message-in", actor: "ann", data: {} });
    await log[Symbol.asyncDispose]();

    expect(await home.verify(), `after ${calls} calls`).toMatchObject({ ok: true, records: 600 });
    await home.record(1);
    expect(await home.verify(), `after ${calls} calls`).toMatchObject({ ok: true, records: 601, gaps: [] });
  }
});
