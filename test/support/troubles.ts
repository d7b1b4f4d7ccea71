import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, truncate } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import { containerTroubles } from "./container-troubles.ts";
import type { ContainerTrouble } from "./container-troubles.ts";
import type { TestHost } from "./host.ts";
import type { PrivateEngine } from "./private-engine.ts";
import type { Random } from "./random.ts";

/** Targets of troubles. */
export interface Breakable {
  readonly host: TestHost;
  readonly engine: PrivateEngine;
  readonly random: Random;
}

/** Each breaks one thing and is over when that is mended, or when it is up to the host to mend it. */
export const troubles = {
  "host killed": async ({ host }) => void (await host.end("SIGKILL")),
  "host ended": async ({ host }) => void (await host.end("SIGTERM")),
  "host frozen": async ({ host, random }) => {
    process.kill(host.pid, "SIGSTOP");
    await delay(random.between(100, 1_500));
    process.kill(host.pid, "SIGCONT");
  },
  "container killed": (parts) => breakOne(parts, "killed"),
  "container removed": (parts) => breakOne(parts, "removed"),
  "container paused": (parts) => breakOne(parts, "paused"),
  "agent hung": (parts) => breakOne(parts, "hung"),
  "out of memory": (parts) => breakOne(parts, "out-of-memory"),
  "engine killed": async ({ engine, random }) => {
    await engine.end("SIGKILL");
    await delay(random.between(0, 3_000));
    await engine.boot();
  },
  "engine ended": async ({ engine, random }) => {
    await engine.end("SIGTERM");
    await delay(random.between(0, 3_000));
    await engine.boot();
  },
  "engine frozen": async ({ engine, random }) => {
    engine.freeze();
    await delay(random.between(200, 3_000));
    engine.thaw();
  },
  "mailbox truncated": async ({ host, random }) => {
    const files = await mailFiles(host.home);
    const file = random.pick(files);
    if (file !== undefined) await truncate(file, random.between(0, 40));
  },
  "store locked": async ({ host, random }) => lockStore(host.home, random.between(200, 7_000)),
} as const satisfies Record<string, (parts: Breakable) => Promise<void>>;

export type TroubleName = keyof typeof troubles;

async function breakOne({ engine, random }: Breakable, trouble: ContainerTrouble): Promise<void> {
  const list = JSON.parse(await engine.ask("GET", "/containers/json")) as { Id: string }[];
  const id = random.pick(list.map(({ Id }) => Id).toSorted());
  if (id !== undefined) await containerTroubles[trouble]({ socketPath: engine.socket, id });
}

/** Messages that lie in mailboxes at this moment; empty most of the time, because they are taken at once. */
async function mailFiles(home: string): Promise<string[]> {
  const sessions = join(home, "sessions");
  const names = await readdir(sessions, { recursive: true }).catch(() => []);
  return names
    .filter((name) => /mail\/\d+\/to-(agent|host)\/\d+\.json$/.test(name))
    .map((name) => join(sessions, name));
}

/** Another process holds the store's write lock. */
export async function lockStore(home: string, holdMs: number): Promise<void> {
  const fixture = resolve(import.meta.dirname, "../fixtures/stores/store-blocker.ts");
  const blocker = spawn(process.execPath, [fixture, join(home, "crabpot.sqlite"), String(holdMs)], { stdio: "ignore" });
  await once(blocker, "exit");
}
