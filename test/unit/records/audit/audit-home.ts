import { cp, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";

import { pino } from "pino";

import { AuditLog, type AuditLogOptions } from "../../../../src/records/audit/log/log.ts";
import { verifyAudit, type VerifyOptions, type VerifyResult } from "../../../../src/records/audit/verify/verify.ts";
import type { Clock } from "../../../../src/lib/time/clock.ts";
import type { AuditIndex, Store } from "../../../../src/stores/contract/store.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { openStoreAt } from "../../../support/open-store-at.ts";

/** A clock that goes on by a millisecond with each look, and can be set. */
export class HandClock implements Clock {
  time: number;

  constructor(start: string) {
    this.time = Date.parse(start);
  }

  now(): number {
    this.time += 1;
    return this.time;
  }

  monotonic(): number {
    return this.time;
  }

  set(time: string): void {
    this.time = Date.parse(time);
  }
}

/** Index of a missing store, which knows nothing. */
export const forgetfulIndex: AuditIndex = {
  head: async () => undefined,
  append: async () => undefined,
  signed: async () => undefined,
  willSign: async () => undefined,
};

export interface AuditHome extends AsyncDisposable {
  readonly path: string;
  readonly folder: string;
  readonly keyFolder: string;
  readonly store: Store;
  readonly clock: HandClock;
  open(more?: Partial<AuditLogOptions>): Promise<AuditLog>;
  /** Writes this many records in a separate run of the host. */
  record(count: number): Promise<void>;
  /** With all that the home has: its key and its store; `less` takes something away or adds an anchor. */
  verify(less?: Partial<VerifyOptions>): Promise<VerifyResult>;
  /** Names of the day files. */
  days(): Promise<string[]>;
  /** The lines of all day files, without their line feeds. */
  lines(): Promise<string[]>;
  /** A copy of log and checkpoints, to be put back with `restore`. */
  copy(): Promise<string>;
  restore(copy: string): Promise<void>;
}

/** A home with an audit log and a real store, in a temporary folder. */
export async function auditHome(): Promise<AuditHome> {
  await using stack = new AsyncDisposableStack();
  const { path } = stack.use(await temporaryFolder());
  const store = stack.use(await openStoreAt(join(path, "crabpot.sqlite")));
  const folder = join(path, "audit");
  const keyFolder = join(path, "keys");
  const clock = new HandClock("2026-01-15T12:00:00.000Z");
  const logger = pino({ level: "silent" });
  const owned = stack.move();
  let copies = 0;
  const home: AuditHome = {
    path,
    folder,
    keyFolder,
    store,
    clock,
    open: (more) =>
      AuditLog.open({ folder, keyFolder, index: store.audit, clock, instance: "0123abcd", logger, ...more }),
    async record(count) {
      await using log = await home.open();
      for (let number = 0; number < count; number += 1) {
        await log.append({ type: "message-in", group: "family", actor: "ann", data: { number } });
      }
    },
    verify: (less) => verifyAudit({ folder, keyFolder, index: store.audit, ...less }),
    days: async () => (await readdir(folder)).filter((name) => name.endsWith(".jsonl")).toSorted(),
    async lines() {
      const texts = await Promise.all((await home.days()).map((name) => readFile(join(folder, name), "utf8")));
      return texts.flatMap((text) => text.split("\n").slice(0, -1));
    },
    async copy() {
      copies += 1;
      const to = join(path, `copy-${copies}`);
      await cp(folder, to, { recursive: true });
      return to;
    },
    async restore(copy) {
      await rm(folder, { recursive: true });
      await cp(copy, folder, { recursive: true });
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
  return home;
}
