import { join } from "node:path";

import type { Logger } from "pino";

import { AppError, toError } from "../../lib/app-error.ts";
import { canonicalJson } from "../../lib/canonical-json.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import { describedPlugin } from "../format/described.ts";
import { hashOfFolder } from "../install/hash-folder.ts";
import type { PluginLockEntry } from "../install/lock-file.ts";
import type { CallContext } from "../../processes/line.ts";
import { Restarted } from "../../processes/restarted.ts";
import type { StartPluginBody } from "../process/isolation.ts";
import {
  type ChannelAnswers,
  type Heard,
  type PluginLimits,
  type PluginProcess,
  startPlugin,
} from "../process/plugin-process.ts";

/** Reports about a plugin's process. */
export interface PluginNews {
  /** It has ended without being asked to; `failures` in a row. */
  ended(plugin: string, reason: string, failures: number): void;
  /** Reports that it is not started, and why. */
  refused(plugin: string, reason: string): void;
  /** Reports that nothing can be started now, and why. */
  waits(plugin: string, reason: string): void;
}

export interface RunningPluginOptions {
  readonly name: string;
  readonly entry: PluginLockEntry;
  /** Folder of all installed plugins. */
  readonly installed: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly memoryMb: () => number;
  readonly start: StartPluginBody;
  readonly logger: () => Pick<Logger, "info" | "warn" | "error">;
  readonly clock: Clock;
  readonly news: PluginNews;
  readonly limits?: PluginLimits | undefined;
}

const startMs = 60_000;
/** A process that lived for so long was well. */
const wellMs = 60_000;
const restart = { firstMs: 1_000, longestMs: 300_000 };

/**
 * A plugin in use: one process, as a rule in a container, for all that it provides, started when something of it is
 * first wanted, and again after it has ended, later each time. Nothing is started while its files are not those that
 * were installed.
 */
export class RunningPlugin implements AsyncDisposable {
  readonly name: string;
  readonly entry: PluginLockEntry;
  readonly #options: RunningPluginOptions;
  /** Listeners of connections, by number, and handlers of channels, by name. */
  readonly #heard = new Map<number, Heard>();
  readonly #answers = new Map<string, ChannelAnswers>();
  readonly #processes: Restarted<PluginProcess>;
  #refused: string | undefined;
  #waiting: string | undefined;
  #isOver = false;
  #lastHandle = 0;

  constructor(options: RunningPluginOptions) {
    this.name = options.name;
    this.entry = options.entry;
    this.#options = options;
    this.#processes = new Restarted({
      start: () => this.#start(),
      backoff: {
        ...restart,
        wellMs,
        clock: options.clock,
        refusal: (failures, waitMs) =>
          new Error(
            `The plugin ${this.name} has ${failures === 1 ? "just failed" : `failed ${failures} times`}; it is started again in ${Math.ceil(waitMs / 1000)} s. Try again then.`,
          ),
      },
      onFailure: (reason, failures) => options.news.ended(this.name, reason, failures),
    });
  }

  /** Reason for not using it; undefined while usable. */
  get refusal(): string | undefined {
    return this.#refused;
  }

  /** Reason for which it could not be started when it was last wanted. */
  get waiting(): string | undefined {
    return this.#waiting;
  }

  /** Undefined: it can be started. */
  wait(reason: string | undefined): void {
    const isNew = reason !== undefined && reason !== this.#waiting;
    this.#waiting = reason;
    if (isNew) this.#options.news.waits(this.name, reason);
  }

  /** Checks that its files are the installed ones; otherwise it is refused from now on. */
  async verify(): Promise<void> {
    if (this.#refused !== undefined) return;
    const folder = join(this.#options.installed, this.name);
    const found = await hashOfFolder(folder).catch((error: unknown) => toError(error));
    if (found === this.entry.sha256) return;
    this.#refuse(
      found instanceof AppError && found.code === "not_found"
        ? "its files are gone"
        : "its files are not those that were installed",
    );
  }

  /** Returns the running process, or starts one. Rejects with a reason for the caller. */
  async process(): Promise<PluginProcess> {
    if (this.#isOver) throw new AppError("cancelled", `The plugin ${this.name} has ended with the host.`);
    return this.#processes.get();
  }

  /** A number that nothing else has. */
  nextHandle(): number {
    this.#lastHandle += 1;
    return this.#lastHandle;
  }

  /** Adds a connection's listener. Dispose to remove it. */
  listen(connection: number, heard: Heard): Disposable {
    this.#heard.set(connection, heard);
    return { [Symbol.dispose]: () => void this.#heard.delete(connection) };
  }

  /** Sets the handler for a channel's calls to the host. */
  answerFor(channel: string, answers: ChannelAnswers): void {
    this.#answers.set(channel, answers);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await this.#processes[Symbol.asyncDispose]();
  }

  #refuse(reason: string): void {
    if (this.#refused !== undefined) return;
    this.#refused = reason;
    this.#options.news.refused(this.name, reason);
  }

  async #start(): Promise<PluginProcess> {
    await this.verify();
    this.#throwIfRefused();
    const { installed, variables, logger, limits } = this.#options;
    const memoryMb = this.#options.memoryMb();
    const folder = join(installed, this.name);
    const process = startPlugin({
      plugin: this.name,
      launch: await this.#body({ folder, memoryMb, variables }),
      memoryMb,
      answer: (name, value, context) => this.#answer(name, value, context),
      hear: (name, value, of) => this.#hear(name, value, of),
      logger: logger(),
      limits,
    });
    try {
      await this.#compare(process);
      return process;
    } catch (error) {
      await process[Symbol.asyncDispose]();
      if (this.#refused === undefined) this.#processes.failed(error);
      throw error;
    }
  }

  /** It is no failure of the plugin when there is nothing to run it in. */
  async #body(wanted: Omit<Parameters<StartPluginBody>[0], "plugin" | "entry">): ReturnType<StartPluginBody> {
    const { name: plugin, entry } = this;
    try {
      const body = await this.#options.start({ ...wanted, plugin, entry: entry.entry }, AbortSignal.timeout(startMs));
      this.wait(undefined);
      return body;
    } catch (error) {
      this.wait(toError(error).message);
      throw error;
    }
  }

  /** Refuses a plugin that says something else of itself than when it was installed. */
  async #compare({ line }: PluginProcess): Promise<void> {
    const said = await line.call("describe", null, { signal: AbortSignal.timeout(startMs) });
    const provides = describedPlugin.parse(JSON.parse(JSON.stringify(said)));
    if (canonicalJson(provides) !== canonicalJson(this.entry.provides))
      this.#refuse("it says something else of itself than when it was installed");
    this.#throwIfRefused();
  }

  #throwIfRefused(): void {
    if (this.#refused === undefined) return;
    throw new AppError("plugin_refused", `The plugin ${this.name} is refused: ${this.#refused}.`, {
      fix: `Install it again: ${ownCommand("plugins add")} …`,
    });
  }

  /** Answers for a channel come from who has it open, those about a call of the host's from whoever made it. */
  async #answer(name: string, value: object, { onAsked }: CallContext): Promise<unknown> {
    const channel = "channel" in value ? this.#answers.get(value.channel as string) : undefined;
    const answer = channel?.[name as keyof ChannelAnswers] as ((value: object) => Promise<unknown>) | undefined;
    if (answer) return answer(value);
    if (onAsked && !("channel" in value)) return onAsked(name, value);
    throw new Error(`nobody answers ${name}`);
  }

  #hear(name: string, value: unknown, of: number): unknown {
    const heard = this.#heard.get(of)?.[name as keyof Heard] as ((value: unknown) => unknown) | undefined;
    return heard?.(value);
  }
}
