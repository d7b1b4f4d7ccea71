import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { stringify } from "yaml";

import { readEnvironment } from "../../src/config/environment.ts";
import { AppError } from "../../src/lib/app-error.ts";
import { attackedProgram } from "./commands.ts";
import { endWithThisProcess, HostProcess } from "./host-process.ts";
import { markPlayground, playgroundPrefix } from "./leftovers.ts";
import { ownCommand } from "../../src/lib/process/own-command.ts";
import { isSoon } from "./waiting.ts";

/** Folder of the checkout. */
export const { checkout } = readEnvironment();
const outputChars = 4_000_000;

/** A folder of the suite's own: a user's home folder with a crabpot home in it, removed at the end. */
export interface Playground extends AsyncDisposable {
  readonly userHome: string;
  readonly home: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** `parent`: that of the whole suite, so that nothing is left when an attack is interrupted. */
export async function openPlayground(
  variables: Readonly<Record<string, string>>,
  parent?: string,
): Promise<Playground> {
  const userHome = await mkdtemp(join(parent ?? (await realpath(tmpdir())), playgroundPrefix));
  await markPlayground(userHome);
  const home = join(userHome, "crab");
  await mkdir(home, { mode: 0o700 });
  return {
    userHome,
    home,
    environment: { ...variables, HOME: userHome, CRABPOT_HOME: home },
    // Something that an interrupted attack has started may still write.
    [Symbol.asyncDispose]: () => rm(userHome, { recursive: true, force: true, maxRetries: 6, retryDelay: 300 }),
  };
}

/** Environment variables for finding programs and the container engine. */
export function engineVariables(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const names = ["PATH", "DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG"];
  return Object.fromEntries(names.flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])));
}

/** Writes a home's files, including the configuration, readable by the owner only. */
export async function writeHome(home: string, files: { config?: object; mounts?: unknown }): Promise<void> {
  const write = (name: string, text: string) => writeFile(join(home, name), text, { mode: 0o600 });
  if (files.config !== undefined) await write("config.yaml", stringify(files.config));
  if (typeof files.mounts === "string") await write("mounts.json", files.mounts);
  else if (files.mounts !== undefined) await write("mounts.json", JSON.stringify(files.mounts));
}

/** A command that goes on until it is ended. */
export interface FollowedCommand {
  /** Whether it has printed this, soon. */
  until(text: string): Promise<boolean>;
  /** Ends it. Resolves with all that it has printed. */
  end(): Promise<string>;
}

export function followCommand(environment: Readonly<Record<string, string>>, args: readonly string[]): FollowedCommand {
  const child = spawn(attackedProgram, args, { env: environment, stdio: ["ignore", "pipe", "ignore"] });
  endWithThisProcess(child);
  const closed = once(child, "close");
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => void (printed += text));
  return {
    until: async (text) => {
      return isSoon(() => printed.includes(text));
    },
    end: async () => {
      child.kill("SIGTERM");
      await closed;
      return printed;
    },
  };
}

/** A real host process that is attacked. */
export class AttackedHost implements AsyncDisposable {
  readonly #process: HostProcess;
  #output = "";

  private constructor({ environment }: Playground) {
    const onOutput = (text: string): void => {
      if (this.#output.length < outputChars) this.#output += text;
    };
    this.#process = new HostProcess({
      program: attackedProgram,
      args: ["start"],
      environment,
      onOutput,
      // What it leaves is cleared by the next suite.
      lastSignal: "SIGKILL",
      detached: true,
    });
  }

  static async start(playground: Playground): Promise<AttackedHost> {
    const host = new AttackedHost(playground);
    await markPlayground(playground.userHome, host.#process.pid);
    if (await host.#process.becomesReady()) return host;
    await host.end("SIGKILL");
    const why = host.output.slice(-2_000);
    throw new AppError("setup_required", `The host under attack could not be started. It said:\n${why}`, {
      fix: ownCommand("doctor"),
    });
  }

  get url(): string {
    return this.#process.url;
  }

  get running(): boolean {
    return this.#process.isRunning;
  }

  /** Everything it has said so far, on both streams. */
  get output(): string {
    return this.#output;
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    await this.#process.end(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end("SIGTERM");
  }
}
