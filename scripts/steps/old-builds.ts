import { readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** A build and its time, newest first. */
interface Build {
  readonly at: number;
  readonly files: readonly string[];
}

interface OldBuildsOptions {
  readonly folder: string;
  /** The names of all files of the build that was just made. */
  readonly built: readonly string[];
  readonly now: number;
  /** When the oldest program was started that runs from this folder; undefined when none does. */
  readonly oldestStart: number | undefined;
}

const listName = "builds.json";
/** Also without a program that is known to run: one of another container is not seen from here. */
const keptBuilds = 3;
const unlistedMs = 24 * 60 * 60 * 1000;

/** Removes what neither belongs to one of the last builds nor to one that a running program may load parts of. */
export async function removeOldBuilds({ folder, built, now, oldestStart }: OldBuildsOptions): Promise<void> {
  const files = [...built].toSorted();
  const before = (await readBuilds(join(folder, listName))).filter((build) => build.files.join() !== files.join());
  const builds = [{ at: now, files }, ...before].filter(
    // A program that was started before the next build was made is of this one or of an earlier one.
    (_, index, all) => index < keptBuilds || (oldestStart ?? Infinity) <= (all[index - 1]?.at ?? now),
  );
  const kept = new Set([listName, ...builds.flatMap((build) => build.files)]);
  const listed = new Set(before.flatMap((build) => build.files));
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    // What no list names is of a build before there was one, or is being written by another at this moment. Another may
    // also have renamed or removed it since.
    const isOld = async (): Promise<boolean> =>
      listed.has(name) || ((await stat(path).catch(() => undefined))?.mtimeMs ?? now) < now - unlistedMs;
    if (!kept.has(name) && (await isOld())) await rm(path, { force: true });
  }
  const fresh = join(folder, `${listName}.${process.pid}.new`);
  await writeFile(fresh, JSON.stringify(builds));
  await rename(fresh, join(folder, listName));
}

async function readBuilds(path: string): Promise<readonly Build[]> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as readonly Build[];
  } catch {
    return [];
  }
}

/** Start of the oldest process whose command line names this folder. Undefined when there is none, or no /proc. */
export async function oldestStartFrom(folder: string): Promise<number | undefined> {
  const pids = (await readdir("/proc").catch((): string[] => [])).filter((name) => /^\d+$/.test(name));
  const starts = await Promise.all(pids.map((pid) => startOf(pid, folder).catch(() => undefined)));
  const known = starts.filter((start) => start !== undefined);
  return known.length > 0 ? Math.min(...known) : undefined;
}

const ticksPerSecond = 100;

async function startOf(pid: string, folder: string): Promise<number | undefined> {
  if (pid === String(process.pid)) return undefined;
  if (!(await readFile(`/proc/${pid}/cmdline`, "utf8")).includes(`${folder}/`)) return undefined;
  const facts = await readFile(`/proc/${pid}/stat`, "utf8");
  // Behind its name, which may hold anything.
  const ticks = Number(facts.slice(facts.lastIndexOf(")") + 2).split(" ")[19]);
  const [, bootSeconds = "0"] = /^btime (\d+)$/m.exec(await readFile("/proc/stat", "utf8")) ?? [];
  return Number(bootSeconds) * 1_000 + (ticks / ticksPerSecond) * 1_000;
}
