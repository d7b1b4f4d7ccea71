import { spawn } from "node:child_process";
import type { ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { existsSync, realpathSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { PassThrough, Readable } from "node:stream";
import type { Writable } from "node:stream";
import { text } from "node:stream/consumers";

import { readEnvironment } from "../../src/config/environment.ts";
import { homePaths } from "../../src/config/home/home.ts";
import { hostFunctions } from "../../src/host/host-functions.ts";
import { runCommandLine } from "../../src/surfaces/cli/command-line.ts";
import { openFiles } from "./open-files.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** The program that users start. */
export const commandLine = resolve(import.meta.dirname, "../../scripts/crabpot");

/**
 * Variables with which there is no engine: a host may start before its engine, and what is not about containers is
 * found without.
 */
export const withoutEngine = { DOCKER_HOST: "unix:///nowhere/docker.sock" };

/** Output and end of a command. */
export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A home folder and more variables; nothing else of the test's environment reaches the command but PATH. */
export interface CommandOptions {
  readonly home: string;
  readonly variables?: Readonly<Record<string, string>>;
  /** A module that Node runs in place of the command line, by `startCrabpot`. */
  readonly program?: string | undefined;
}

/**
 * A home that no host has seen yet, with files in it, below a folder that counts as the user's own home folder. `parent`
 * is `onDisk` where that has mounts.
 */
export async function newHome(
  files: Readonly<Record<string, string>> = {},
  parent?: string,
): Promise<{ readonly home: string } & AsyncDisposable> {
  const folder = await temporaryFolder(parent);
  const home = join(folder.path, "home");
  await mkdir(home, { mode: 0o700 });
  for (const [name, content] of Object.entries(files)) await writeFile(join(home, name), content, { mode: 0o600 });
  return { home, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

/**
 * Commands that need a separate process, as they run until stopped or start such a process: signals are for a whole
 * process.
 */
const processes: ReadonlySet<string> = new Set(["start", "redteam"]);
/** Commands that read the store with Node's own SQLite, even beside a host. */
const readers: ReadonlySet<string> = new Set(["audit", "config", "doctor"]);

/**
 * Runs a command as a user would, but without a terminal, and in the test's own process: a start of Node takes many
 * times as long as most commands. Nothing of that process gets to the command. What is a process by nature gets one.
 */
export async function crabpot(options: CommandOptions, ...args: string[]): Promise<CommandResult> {
  return needsProcess(options, args) ? crabpotProcess(options, ...args) : runHere(options, "", args);
}

/** The same, with something to read on its standard input. */
export async function converse(options: CommandOptions, input: string, ...args: string[]): Promise<CommandResult> {
  return needsProcess(options, args) ? converseWithProcess(options, input, ...args) : runHere(options, input, args);
}

/**
 * The same as `crabpot`, but always a process: for what only that has, such as variables that Node reads, and for the
 * built program.
 */
export async function crabpotProcess(options: CommandOptions, ...args: string[]): Promise<CommandResult> {
  return collect(startCrabpot(options, ...args));
}

/** The same as `converse`, but always a process. */
export async function converseWithProcess(
  options: CommandOptions,
  input: string,
  ...args: string[]
): Promise<CommandResult> {
  const child = spawn(commandLine, args, { env: environmentOf(options), stdio: "pipe" });
  child.stdin.end(input);
  return collect(child);
}

function needsProcess({ home }: CommandOptions, [command = ""]: readonly string[]): boolean {
  return processes.has(command) || (readers.has(command) && isStoreOpenHere(home));
}

/**
 * A process that closes a file loses its locks on it, also those of the other SQLite that it has: that of a host in
 * this process.
 */
function isStoreOpenHere(home: string): boolean {
  const { database } = homePaths(home);
  return existsSync(database) && openFiles().includes(realpathSync(database));
}

async function runHere(options: CommandOptions, input: string, args: readonly string[]): Promise<CommandResult> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const stdin = Readable.from(input === "" ? [] : [Buffer.from(input)]);
  const printed = [text(stdout), text(stderr)] as const;
  const environment = readEnvironment(environmentOf(options));
  const code = await runCommandLine(args, { environment, streams: { stdin, stdout, stderr }, hostFunctions });
  stdout.end();
  stderr.end();
  return { code, stdout: await printed[0], stderr: await printed[1] };
}

async function collect(child: ChildProcessByStdio<Writable | null, Readable, Readable>): Promise<CommandResult> {
  const closed = once(child, "close") as Promise<[number | null]>;
  // Not chunk by chunk: a character may lie in two of them.
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  return { code, stdout, stderr };
}

/** Starts a command as a process that the test looks at or ends. */
export function startCrabpot(options: CommandOptions, ...args: string[]) {
  const { program, args: words, environment } = commandOf(options, ...args);
  return spawn(program, words, { env: environment, stdio: ["ignore", "pipe", "pipe"] });
}

/** Command and environment for a command line. */
export function commandOf(options: CommandOptions, ...args: string[]) {
  const environment = environmentOf(options);
  return options.program === undefined
    ? { program: commandLine, args, environment }
    : { program: process.execPath, args: [options.program, ...args], environment };
}

/** Nothing else of the test's own. */
export function environmentOf({ home, variables, program }: CommandOptions): NodeJS.ProcessEnv {
  const { PATH, DOCKER_HOST, NODE_COMPILE_CACHE } = process.env;
  // The command line has its own.
  const cache = program === undefined ? {} : { NODE_COMPILE_CACHE };
  const engine = DOCKER_HOST === undefined ? {} : { DOCKER_HOST };
  return {
    PATH,
    HOME: resolve(home, ".."),
    CRABPOT_HOME: home,
    CRABPOT_COMMAND: "crabpot",
    ...engine,
    ...cache,
    ...variables,
  };
}

/** The objects of output that was asked for with `--json`. */
export function jsonLines(stdout: string): Record<string, unknown>[] {
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
