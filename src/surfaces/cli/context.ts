import { existsSync } from "node:fs";
import type { Readable, Writable } from "node:stream";

import type { Command } from "commander";
import type * as z from "zod";

import type { Adapters } from "../../config/adapters.ts";
import type { Environment } from "../../config/environment.ts";
import { homePaths } from "../../config/home/home.ts";
import type { HomePaths } from "../../config/home/home.ts";
import type { ConfigCheck, LoadedConfig } from "../../config/loading/load.ts";
import type { Config } from "../../config/schema/config.ts";
import type { OfflineNeeds } from "../operations.ts";
import type { Operation } from "../../operations/definition/define-operation.ts";
import type { Plugins } from "../../plugins/plugins.ts";
import { isWithoutHost } from "../../lib/process/control-socket.ts";
import { HostClient } from "./host-client.ts";
import type { HostFunctions } from "./host-functions.ts";
import { Output } from "./output.ts";

/** Output and input of a command. */
export interface CommandStreams {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean };
}

/** Context of a command, for one run of the command line. */
export class CommandContext {
  readonly environment: Environment;
  readonly paths: HomePaths;
  /** The host that runs in this home; nothing is asked before a method is called. */
  readonly host: HostClient;
  readonly streams: CommandStreams;
  readonly hostFunctions: HostFunctions;
  /** Exit code unless the command throws; 1 means a failed check. */
  exitCode = 0;

  #opened: Promise<Plugins | undefined> | undefined;

  constructor(environment: Environment, streams: CommandStreams, hostFunctions: HostFunctions) {
    this.environment = environment;
    this.paths = homePaths(environment.crabpotHome);
    this.host = new HostClient(this.paths.controlSocket);
    this.streams = streams;
    this.hostFunctions = hostFunctions;
  }

  /** Adapters of this home: crabpot's own and its plugins'. */
  async adapters(): Promise<Adapters> {
    const { adaptersWith } = await import("../../config/loading/installed-plugins.ts");
    return adaptersWith(await this.plugins());
  }

  /** The configuration of this home. Throws `config_invalid` with all that is wrong in it. */
  async loadConfig(): Promise<LoadedConfig> {
    const { loadConfig } = await import("../../config/loading/load.ts");
    return loadConfig(this.paths.config, this.environment.variables, await this.adapters());
  }

  /** The same, or all that is wrong in it. */
  async checkConfig(): Promise<ConfigCheck> {
    const { checkConfig } = await import("../../config/loading/load.ts");
    return checkConfig(this.paths.config, this.environment.variables, await this.adapters());
  }

  /** These sections of it, whatever is wrong in others. */
  async loadPartOfConfig(sections: readonly (keyof Config)[]): Promise<LoadedConfig> {
    const { loadPartOfConfig } = await import("../../config/loading/part-of-config.ts");
    return loadPartOfConfig(this.paths.config, this.environment.variables, sections, await this.adapters());
  }

  /** Plugins of this home; undefined when there are none. */
  async plugins(): Promise<Plugins | undefined> {
    this.#opened ??= import("../../config/loading/installed-plugins.ts").then(({ openInstalledPlugins }) =>
      openInstalledPlugins(this.paths, this.environment.variables),
    );
    return this.#opened;
  }

  /** Lets the plugins know what the configuration says of them, for a command that shows or uses their tools. */
  async configurePlugins(config: Pick<Config, "plugins">): Promise<void> {
    const plugins = await this.plugins();
    plugins?.configure(config.plugins);
    await plugins?.verify();
  }

  /** Ends what this command has started. */
  async [Symbol.asyncDispose](): Promise<void> {
    const plugins = await this.#opened?.catch((): undefined => undefined);
    await plugins?.[Symbol.asyncDispose]();
  }

  /** Has the running host carry out an operation. */
  call<Input extends z.ZodType, Output extends z.ZodType>(
    operation: Operation<never, Input, Output>,
    input: z.input<Input>,
  ): Promise<z.output<Output>> {
    return this.host.call(operation, input);
  }

  /** Has the running host carry out an operation; without one, looks at what it has left, and says so. */
  async read<Input extends z.ZodType, Output extends z.ZodType>(
    operation: Operation<OfflineNeeds, Input, Output>,
    input: z.input<Input>,
  ): Promise<z.output<Output>> {
    return this.callOrHere(operation, input, async () => {
      const { variables } = this.environment;
      const { readStoppedHost } = await import("./stopped-host.ts");
      const left = await readStoppedHost(this.paths, variables, await this.adapters());
      this.streams.stderr.write("crabpot: no host is running: reading the store as it was left\n");
      return left;
    });
  }

  /**
   * Has the running host carry out an operation; without one, this process does it with the parts that `open` gives,
   * where the home has a store.
   */
  async callOrHere<Needs, Input extends z.ZodType, Output extends z.ZodType>(
    operation: Operation<Needs, Input, Output>,
    input: z.input<Input>,
    open: () => Promise<Needs & AsyncDisposable>,
  ): Promise<z.output<Output>> {
    try {
      return await this.host.call(operation, input);
    } catch (error) {
      if (!isWithoutHost(error) || !existsSync(this.paths.database)) throw error;
    }
    const { invokeHere } = await import("./invoke-here.ts");
    await using needs = await open();
    return await invokeHere(operation, needs, input);
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
