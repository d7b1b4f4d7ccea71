import type { Writable } from "node:stream";

import type { Command } from "commander";

import type { Environment } from "../config/environment.ts";
import { homePaths } from "../config/home.ts";
import type { HomePaths } from "../config/home.ts";
import { ControlClient } from "./control-client.ts";
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
