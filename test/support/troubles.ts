import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, truncate } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import type { TestHost } from "./host.ts";
import type { PrivateEngine } from "./private-engine.ts";
import type { Random } from "./random.ts";

/** What there is to break. */
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
  "container killed": async (parts) => {
    await askAboutOne(parts, "POST", "/kill");
  },
  "container removed": async (parts) => {
    await askAboutOne(parts, "DELETE", "?force=1");
  },
  "container paused": async (parts) => {
    await askAboutOne(parts, "POST", "/pause");
  },
  "agent hung": async ({ engine, random }) => {
    const pid = await pidOfOne(engine, random);
    if (pid !== undefined) process.kill(pid, "SIGSTOP");
  },
  "out of memory": async ({ engine, random }) => {
    const pid = await pidOfOne(engine, random);
    if (pid !== undefined) await takeMemory(pid);
  },
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

async function askAboutOne({ engine, random }: Breakable, method: string, rest: string): Promise<void> {
  const id = random.pick(await runningContainers(engine));
  if (id !== undefined) await engine.ask(method, `/containers/${id}${rest}`);
}

async function runningContainers(engine: PrivateEngine): Promise<string[]> {
  const list = JSON.parse(await engine.ask("GET", "/containers/json")) as { Id: string }[];
  return list.map(({ Id }) => Id).toSorted();
}

async function pidOfOne(engine: PrivateEngine, random: Random): Promise<number | undefined> {
  const id = random.pick(await runningContainers(engine));
  if (id === undefined) return undefined;
  const { State } = JSON.parse(await engine.ask("GET", `/containers/${id}/json`)) as { State: { Pid: number } };
  return State.Pid > 1 ? State.Pid : undefined;
}

/** A process in the memory cgroup of the container's that takes more than there is. */
async function takeMemory(pid: number): Promise<void> {
  const cgroups = await readFile(`/proc/${pid}/cgroup`, "utf8");
  const path = /^\d+:memory:(.*)$/m.exec(cgroups)?.[1];
  const unified = /^0::(.*)$/m.exec(cgroups)?.[1];
  const folder = path === undefined ? `/sys/fs/cgroup${unified ?? ""}` : `/sys/fs/cgroup/memory${path}`;
  const script = `echo $$ > ${folder}/cgroup.procs && exec tail -c 1000000000 /dev/zero`;
  await once(spawn("sh", ["-c", script], { stdio: "ignore" }), "exit");
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
