import { spawn, type StdioOptions } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../src/lib/app-error.ts";

/** Administrator's program folders, which are not always in PATH. */
const systemFolders = ["/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/bin", "/bin"];

/** Passed on to the commands that are run; nothing else of ours is, because it may be secret. */
const passedOn = [
  "HOME",
  "TMPDIR",
  "TERM",
  "http_proxy",
  "https_proxy",
  "no_proxy",
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "NO_PROXY",
];

/** The environment for the system's own commands: they find each other and ask no questions. */
export function commandEnvironment(): Record<string, string | undefined> {
  const path = [process.env["PATH"], ...systemFolders].filter(Boolean).join(":");
  const passed = passedOn.map((name) => [name, process.env[name]] as const);
  return { ...Object.fromEntries(passed), PATH: path, DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C.UTF-8" };
}

/** The absolute path of a program, or undefined when the machine does not have it. */
export async function findProgram(name: string): Promise<string | undefined> {
  for (const folder of (commandEnvironment()["PATH"] ?? "").split(":")) {
    const path = join(folder, name);
    const found = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return path;
  }
  return undefined;
}

/** Runs a command to its end, with its output on stderr. Throws `setup_required` with the command when it fails. */
export async function run(command: readonly string[]): Promise<void> {
  await runWith(command, ["ignore", process.stderr, process.stderr]);
}

/** Runs a command that only reads, and gives what it prints. Throws like `run`. */
export async function output(command: readonly string[]): Promise<string> {
  let text = "";
  await runWith(command, ["ignore", "pipe", process.stderr], (chunk) => (text += String(chunk)));
  return text;
}

async function runWith(
  command: readonly string[],
  stdio: StdioOptions,
  read: (chunk: unknown) => void = () => {},
): Promise<void> {
  const [program = "", ...words] = command;
  const child = spawn(program, words, { stdio, env: commandEnvironment() });
  child.stdout?.on("data", read);
  const failure = (why: string, cause?: unknown): AppError =>
    new AppError("setup_required", `${command.join(" ")} ${why}`, { cause, fix: command.join(" ") });
  const ended = await once(child, "close").catch((cause: unknown) => {
    throw failure("could not be started.", cause);
  });
  const [code, signal] = ended as [number | null, string | null];
  if (code !== 0) throw failure(`ended with ${signal ?? `exit code ${code}`}; its output is above.`);
}
