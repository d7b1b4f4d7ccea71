import { existsSync } from "node:fs";
import type { Writable } from "node:stream";

import type { Command } from "commander";

import type { Environment } from "../config/environment.ts";
import { homePaths } from "../config/home/home.ts";
import type { HomePaths } from "../config/home/home.ts";
import type { Readings } from "../operations/operations.ts";
import { ControlClient, isWithoutHost } from "./control-client.ts";
import { Output } from "./output.ts";

/** Where a command's words go. */
export interface CommandStreams {
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean };
}

/** What every command works with. Made for one run of the command line. */
export class CommandContext {
  readonly environment: Environment;
  readonly paths: HomePaths;
  /** The host that runs in this home; nothing is asked before a method is called. */
  readonly host: ControlClient;
  readonly streams: CommandStreams;
  /** What the process ends with if the command does not throw; 1 means that a check failed. */
  exitCode = 0;

  constructor(environment: Environment, streams: CommandStreams) {
    this.environment = environment;
    this.paths = homePaths(environment.crabpotHome);
    this.host = new ControlClient(this.paths.controlSocket);
    this.streams = streams;
  }

  /** Looks at the running host; where none runs, at what one has left, and says so. */
  async read<Answer>(look: (host: Readings) => Promise<Answer>): Promise<Answer> {
    try {
      return await look(this.host);
    } catch (error) {
      if (!isWithoutHost(error) || !existsSync(this.paths.database)) throw error;
    }
    const { readStoppedHost } = await import("../wiring/stopped-host.ts");
    await using left = await readStoppedHost(this.paths, this.environment.variables);
    this.streams.stderr.write("crabpot: no host is running: read from the store as it was left\n");
    return await look(left);
  }

  /** `--json` counts wherever on the line it stands. */
  outputOf(command: Command): Output {
    const isTerminal = this.streams.stdout.isTTY === true;
    return new Output({
      stream: this.streams.stdout,
      json: wantsJson(command),
      isTerminal,
      width: this.streams.stdout.columns,
      colors: isTerminal && !this.environment.variables["NO_COLOR"],
    });
  }
}

export function wantsJson(command: Command): boolean {
  return command.optsWithGlobals<{ json?: boolean }>().json === true;
}

/** A command with what all of them have. */
export function addLeaf(parent: Command, usage: string, description: string): Command {
  return parent.command(usage).description(description).option("--json", "print one JSON object per line");
}
