import { spawn } from "node:child_process";
import type { ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";

import { temporaryFolder } from "./temporary-folder.ts";

/** What users start. */
export const commandLine = resolve(import.meta.dirname, "../../scripts/crabpot");

/** What one command printed and how it ended. */
export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A home folder and more variables; nothing else of the test's environment reaches the command but PATH. */
export interface CommandOptions {
  readonly home: string;
  readonly variables?: Readonly<Record<string, string>>;
  /** A module that Node runs in place of the command line. */
  readonly program?: string | undefined;
}

/** A home that no host has seen yet, with files in it, below a folder that counts as the user's own home folder. */
export async function newHome(
  files: Readonly<Record<string, string>> = {},
): Promise<{ readonly home: string } & AsyncDisposable> {
  const folder = await temporaryFolder();
  const home = join(folder.path, "home");
  await mkdir(home, { mode: 0o700 });
  for (const [name, content] of Object.entries(files)) await writeFile(join(home, name), content, { mode: 0o600 });
  return { home, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

/** Runs the command line as a process of its own, as a user would, but with this Node and without a terminal. */
export async function crabpot(options: CommandOptions, ...args: string[]): Promise<CommandResult> {
  return collect(startCrabpot(options, ...args));
}

/** The same, with something to read on its standard input. */
export async function converse(options: CommandOptions, input: string, ...args: string[]): Promise<CommandResult> {
  const child = spawn(commandLine, args, { env: environmentOf(options), stdio: "pipe" });
  child.stdin.end(input);
  return collect(child);
}

async function collect(child: ChildProcessByStdio<Writable | null, Readable, Readable>): Promise<CommandResult> {
  const closed = once(child, "close") as Promise<[number | null]>;
  // Not chunk by chunk: a character may lie in two of them.
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  return { code, stdout, stderr };
}

/** The same for commands that do not end by themselves. */
export function startCrabpot(options: CommandOptions, ...args: string[]) {
  const { program, args: words, environment } = commandOf(options, ...args);
  return spawn(program, words, { env: environment, stdio: ["ignore", "pipe", "pipe"] });
}

/** What is run for a command line, and with which environment. */
export function commandOf(options: CommandOptions, ...args: string[]) {
  const environment = environmentOf(options);
  return options.program === undefined
    ? { program: commandLine, args, environment }
    : { program: process.execPath, args: [options.program, ...args], environment };
}

/** Nothing else of the test's own. */
export function environmentOf({ home, variables, program }: CommandOptions): NodeJS.ProcessEnv {
  const { PATH, DOCKER_HOST, NODE_COMPILE_CACHE } = process.env;
  // The command line has one of its own.
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
