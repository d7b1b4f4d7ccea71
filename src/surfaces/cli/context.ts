import type { Readable, Writable } from "node:stream";

import type { Command } from "commander";
import type * as z from "zod";

import type { Adapters } from "../../config/adapters.ts";
import type { Environment } from "../../config/environment.ts";
import { homePaths } from "../../config/home/home.ts";
import type { HomePaths } from "../../config/home/home.ts";
import type { ConfigCheck, LoadedConfig } from "../../config/loading/load.ts";
import type { Config } from "../../config/schema/config.ts";
import type { AnyOperation, Operation, StreamOperation } from "../../operations/definition/define-operation.ts";
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

/** An operation that is carried out without a host. */
export interface OfflineOperation<Defined extends AnyOperation> {
  readonly operation: Defined;
  readonly input: unknown;
  /** The error by which it is known that no host runs; absent: none is needed. */
  readonly absence?: unknown;
}

/** Carries out operations in this process; it stands above commands. */
export interface OfflineOperations {
  invokeHere<Output extends z.ZodType>(
    context: CommandContext,
    asked: OfflineOperation<Operation<never, z.ZodType, Output>>,
  ): Promise<z.output<Output>>;
  followHere<Output extends z.ZodType>(
    context: CommandContext,
    asked: OfflineOperation<StreamOperation<never, z.ZodType, Output>>,
  ): AsyncGenerator<z.output<Output>>;
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

  readonly #loadOffline: () => Promise<OfflineOperations>;
  #opened: Promise<Plugins | undefined> | undefined;

  constructor(
    environment: Environment,
    streams: CommandStreams,
    hostFunctions: HostFunctions,
    loadOffline: () => Promise<OfflineOperations>,
  ) {
    this.environment = environment;
    this.paths = homePaths(environment.crabpotHome);
    this.host = new HostClient(this.paths.controlSocket);
    this.streams = streams;
    this.hostFunctions = hostFunctions;
    this.#loadOffline = loadOffline;
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

  /**
   * Has the running host carry out an operation. This process does it instead where its definition says so: without a
   * host, or because it is about files of the home.
   */
  async call<Needs, Input extends z.ZodType, Output extends z.ZodType>(
    operation: Operation<Needs, Input, Output>,
    input: z.input<Input>,
  ): Promise<z.output<Output>> {
    let absence: unknown;
    try {
      if (operation.offline !== "files") return await this.host.call(operation, input);
    } catch (error) {
      if (!operation.offline || !isWithoutHost(error)) throw error;
      absence = error;
    }
    const offline = await this.#loadOffline();
    return offline.invokeHere(this, { operation, input, absence });
  }

  /** The same for an answer that comes in pieces. */
  async *follow<Input extends z.ZodType, Output extends z.ZodType>(
    operation: StreamOperation<never, Input, Output>,
    input: z.input<Input>,
  ): AsyncGenerator<z.output<Output>> {
    try {
      yield* this.host.follow(operation, input);
    } catch (error) {
      if (!operation.offline || !isWithoutHost(error)) throw error;
      const offline = await this.#loadOffline();
      yield* offline.followHere(this, { operation, input, absence: error });
    }
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
