import { lstat, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { ContainerEngine } from "../../src/sandbox/engine/engine.ts";
import { isSoon } from "./waiting.ts";

/** Prefix of the suite's folders. */
export const playgroundPrefix = "crabpot-redteam-";

const markFile = "made-by.json";

/** A process, told apart from a later one with the same number by when it began. */
interface KnownProcess {
  readonly pid: number;
  readonly started: string;
}

interface Mark {
  readonly suite: KnownProcess;
  readonly host?: KnownProcess | undefined;
}

/** Marks a playground with its owner, so that a later run can clean it up. */
export async function markPlayground(folder: string, hostPid?: number): Promise<void> {
  const suite = await identify(process.pid);
  if (suite === undefined) return;
  const mark: Mark = { suite, host: hostPid === undefined ? undefined : await identify(hostPid) };
  await writeFile(join(folder, markFile), JSON.stringify(mark), { mode: 0o600 });
}

/**
 * Ends and removes what runs of the suite have left behind that were killed: host, containers, folder. Others are left
 * alone.
 */
export async function clearLeftovers(engine: ContainerEngine): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    if (!name.startsWith(playgroundPrefix)) continue;
    const folder = join(tmpdir(), name);
    const mark = await readMark(folder);
    if (mark && !(await isAlive(mark.suite))) await clear(engine, folder, mark);
  }
}

/** Reads the mark of a folder that nobody else could have made or written to. */
async function readMark(folder: string): Promise<Mark | undefined> {
  const facts = await lstat(folder).catch(() => undefined);
  if (!facts?.isDirectory() || facts.uid !== process.geteuid?.() || (facts.mode & 0o022) !== 0) return undefined;
  const text = await readFile(join(folder, markFile), "utf8").catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as Mark);
}

async function clear(engine: ContainerEngine, folder: string, { host }: Mark): Promise<void> {
  if (host && (await isAlive(host))) {
    process.kill(host.pid, "SIGKILL");
    await isSoon(async () => !(await isAlive(host)), 20);
  }
  const instance = await readFile(join(folder, "crab/instance"), "utf8").catch(() => "");
  if (instance.trim() !== "") {
    const found = await engine.list({ "crabpot.instance": instance.trim() });
    for (const { id } of found) await engine.remove(id);
  }
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}

async function isAlive({ pid, started }: KnownProcess): Promise<boolean> {
  return (await identify(pid))?.started === started;
}

/** Undefined when there is no such process, one that has ended, or no way to tell. */
async function identify(pid: number): Promise<KnownProcess | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // Behind the name, which may hold anything: the state, and as the twentieth of all the ticks at which it began.
  const [state, ...rest] = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const started = rest[18];
  return started === undefined || state === "Z" ? undefined : { pid, started };
}
