import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";

import { skillLimits } from "../../../domain/sandbox/skill.ts";
import { AppError } from "../../../lib/app-error.ts";
import { runFetcher, whyFetchFailed, withoutPassword } from "../../../lib/process/run-fetcher.ts";
import { mebibyte } from "../../../lib/text/bytes.ts";
import { packageOf, type Source } from "./source.ts";
import { unpack } from "./unpack.ts";

type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** A fetched source on this machine. */
export interface FetchedSource extends Source {
  readonly folder: string;
}

const limits = { timeoutMs: 120_000, outputBytes: 4 * mebibyte, fileBytes: 32 * mebibyte } as const;
/** Maximum bytes of all files of a repository. */
const repositoryBytes = 10 * skillLimits.bytes;

export interface FetchOptions {
  /** An empty folder. */
  readonly scratch: string;
  /** Environment of the programs that fetch: proxies, where npm's settings are. */
  readonly variables: EnvironmentVariables;
  /** Aborts the fetch. */
  readonly signal?: AbortSignal | undefined;
}

type Run = Pick<FetchOptions, "variables" | "signal"> & { readonly cwd: string };

/** Brings it to this machine, into `scratch` where it is not here already. No code of it runs. */
export async function fetchSource(source: Source, { scratch, ...rest }: FetchOptions): Promise<FetchedSource> {
  const { kind, from } = source;
  if (kind === "folder") return { kind, from, folder: from };
  const folder = join(scratch, "source");
  await mkdir(folder);
  if (kind === "archive") await unpack(from, folder);
  else if (kind === "git") await clone(from, { ...rest, cwd: folder });
  else await pack(packageOf(source), folder, { ...rest, cwd: scratch });
  return { kind, from, folder };
}

/** Clones with everything disabled that could make git run code, and writes no file before the total size is known. */
async function clone(address: string, place: Run): Promise<void> {
  const settings = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "protocol.ext.allow": "never",
    "filter.lfs.smudge": "cat",
    "filter.lfs.process": "",
    "filter.lfs.required": "false",
    "init.templateDir": "",
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const how = ["--depth=1", "--single-branch", "--no-tags", "--no-recurse-submodules", "--no-checkout", "--quiet"];
  await runToFetch("git", [...options, "clone", ...how, "--", address.replace(/^git\+/, ""), place.cwd], place);
  const files = await runToFetch("git", [...options, "ls-tree", "-r", "--long", "HEAD"], place);
  const bytes = files.matchAll(/^\d+ \w+ \w+ +(\d+)\t/gm).reduce((sum, [, size]) => sum + Number(size), 0);
  if (bytes > repositoryBytes)
    throw new AppError(
      "skill_refused",
      `${withoutPassword(address)} is refused: its files have ${bytes} bytes; at most ${repositoryBytes} are fetched.`,
    );
  await runToFetch("git", [...options, "checkout", "--quiet", "HEAD"], place);
}

async function pack(name: string, folder: string, place: Run): Promise<void> {
  const { cwd: scratch } = place;
  await runToFetch(
    "npm",
    ["pack", "--ignore-scripts", "--loglevel=error", `--pack-destination=${scratch}`, name],
    place,
  );
  const archive = (await readdir(scratch)).find((file) => file.endsWith(".tgz"));
  if (archive === undefined) throw new AppError("not_found", `npm has fetched no archive of ${name}.`);
  await unpack(join(scratch, archive), folder);
}

/** Runs a fetching program and returns its output. Throws its error message. */
export async function runToFetch(program: string, args: readonly string[], run: Run): Promise<string> {
  try {
    return await runFetcher(program, args, { ...run, limits });
  } catch (cause) {
    const instead = "give a folder or a .tar.gz";
    const why = whyFetchFailed(cause, { program, timeoutMs: limits.timeoutMs, instead, says: "last" });
    throw new AppError("not_found", `${program} could not fetch it: ${why}.`, { cause });
  }
}
