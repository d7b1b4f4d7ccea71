import { join } from "node:path";

import type { Logger } from "pino";

import { AppError, toError } from "../../lib/app-error.ts";
import { canonicalJson } from "../../lib/canonical-json.ts";
import { PendingWork } from "../../lib/pending-work.ts";
import { backoffMs } from "../../lib/time/backoff.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import { describedPlugin } from "../format/described.ts";
import { hashOfFolder } from "../install/hash-folder.ts";
import type { PluginLockEntry } from "../install/lock-file.ts";
import { type HostCalls, hostCalls, type PluginCalls } from "../process/calls.ts";
import { launchOf } from "../process/launch.ts";
import { type CallOptions, type Served } from "../process/peer.ts";
import { type PluginLimits, PluginProcess } from "../process/plugin-process.ts";

/** Answers what a plugin asks for on behalf of one of its channels. */
export type Answer = (name: keyof HostCalls, value: HostCalls[keyof HostCalls]) => Promise<unknown>;

/** Hears what a plugin tells of a connection. */
export type Heard = (name: string, value: unknown) => void;

/** Told what becomes of a plugin's process. */
export interface PluginNews {
  /** It has ended without being asked to; `failures` in a row. */
  ended(plugin: string, reason: string, failures: number): void;
  /** It is not started at all, for this reason. */
  refused(plugin: string, reason: string): void;
}

export interface RunningPluginOptions {
  readonly name: string;
  readonly entry: PluginLockEntry;
  /** Of all installed plugins. */
  readonly installed: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly memoryMb: () => number;
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
 * A plugin in use: one process for all that it provides, started when something of it is first wanted, and again after
 * it has ended, later each time. Nothing is started while its files are not those that were installed.
 */
export class RunningPlugin implements AsyncDisposable {
  readonly name: string;
  readonly entry: PluginLockEntry;
  readonly #options: RunningPluginOptions;
  readonly #pending: PendingWork;
  /** Who hears of a connection, by its number, and who answers for a channel, by its name. */
  readonly #heard = new Map<number, Heard>();
  readonly #answers = new Map<string, Answer>();
  #current: Promise<PluginProcess> | undefined;
  #refused: string | undefined;
  #failures = 0;
  #nextAt = 0;
  #startedAt = 0;
  #isOver = false;
  #lastHandle = 0;

  constructor(options: RunningPluginOptions) {
    this.name = options.name;
    this.entry = options.entry;
    this.#options = options;
    this.#pending = new PendingWork((error) =>
      options.logger().error({ err: error, plugin: this.name }, "a plugin's end could not be told"),
    );
  }

  /** Why it is not used; undefined while it may be. */
  get refusal(): string | undefined {
    return this.#refused;
  }

  /** Are its files those that were installed? If not, it is refused from now on. */
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

  /** The process that runs, or a new one. Rejects with what is to be told to whoever wanted something of it. */
  async process(): Promise<PluginProcess> {
    if (this.#isOver) throw new AppError("cancelled", `The plugin ${this.name} has ended with the host.`);
    this.#current ??= this.#start();
    return this.#current;
  }

  /** Asks its process for something; starts it where it does not run. */
  async call<Name extends keyof PluginCalls>(
    name: Name,
    value: PluginCalls[Name],
    options: CallOptions = {},
  ): Promise<unknown> {
    const { peer } = await this.process();
    return peer.call(name, value, options);
  }

  /** A number that nothing else has. */
  nextHandle(): number {
    this.#lastHandle += 1;
    return this.#lastHandle;
  }

  /** Who hears what is told of a connection. Disposing the result ends that. */
  listen(connection: number, heard: Heard): Disposable {
    this.#heard.set(connection, heard);
    return { [Symbol.dispose]: () => void this.#heard.delete(connection) };
  }

  /** Who answers what its process asks for on behalf of a channel. */
  answerFor(channel: string, answer: Answer): void {
    this.#answers.set(channel, answer);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    const current = await this.#current?.catch((): undefined => undefined);
    await current?.[Symbol.asyncDispose]();
    await this.#pending.done();
  }

  #refuse(reason: string): void {
    if (this.#refused !== undefined) return;
    this.#refused = reason;
    this.#options.news.refused(this.name, reason);
  }

  async #start(): Promise<PluginProcess> {
    try {
      await this.verify();
      if (this.#refused !== undefined) throw refusedPlugin(this.name, this.#refused);
      const waitMs = this.#nextAt - this.#options.clock.monotonic();
      if (waitMs > 0)
        throw new Error(
          `The plugin ${this.name} has ${this.#failures === 1 ? "just failed" : `failed ${this.#failures} times`}; it is started again in ${Math.ceil(waitMs / 1000)} s. Try again then.`,
        );
      const process = await this.#begin();
      this.#pending.add(process.exited.then((reason) => this.#ended(reason)));
      return process;
    } catch (error) {
      this.#current = undefined;
      throw error;
    }
  }

  async #begin(): Promise<PluginProcess> {
    const { installed, variables, logger, limits, clock } = this.#options;
    const memoryMb = this.#options.memoryMb();
    const folder = join(installed, this.name);
    const launch = await launchOf({ folder, entry: this.entry.entry, memoryMb, variables });
    const process = new PluginProcess({
      plugin: this.name,
      launch,
      memoryMb,
      logger: logger(),
      limits,
      serve: (name, value, served) => this.#serve(name, value, served),
      heard: (name, of, value) => this.#heard.get(of)?.(name, value),
    });
    this.#startedAt = clock.monotonic();
    try {
      const said = await process.peer.call("describe", null, { signal: AbortSignal.timeout(startMs) });
      const provides = describedPlugin.parse(JSON.parse(JSON.stringify(said)));
      if (canonicalJson(provides) !== canonicalJson(this.entry.provides))
        this.#refuse("it says something else of itself than when it was installed");
      if (this.#refused !== undefined) throw refusedPlugin(this.name, this.#refused);
      return process;
    } catch (error) {
      await process[Symbol.asyncDispose]();
      if (this.#refused === undefined) this.#failed(toError(error).message);
      throw error;
    }
  }

  #ended(reason: Error): void {
    this.#current = undefined;
    if (this.#isOver) return;
    if (this.#options.clock.monotonic() - this.#startedAt > wellMs) this.#failures = 0;
    this.#failed(reason.message);
  }

  #failed(reason: string): void {
    if (this.#isOver) return;
    this.#failures += 1;
    this.#nextAt = this.#options.clock.monotonic() + backoffMs(restart, this.#failures);
    this.#options.news.ended(this.name, reason, this.#failures);
  }

  async #serve(name: string, value: unknown, { onAsked }: Served): Promise<unknown> {
    if (!Object.hasOwn(hostCalls, name)) throw new Error(`there is no call ${name}`);
    const known = name as keyof HostCalls;
    const parsed = hostCalls[known].safeParse(value);
    if (!parsed.success)
      throw new Error(`the value of ${name} is not valid: ${parsed.error.issues[0]?.path.join(".") ?? ""}`);
    const answer = "channel" in parsed.data ? this.#answers.get(parsed.data.channel) : onAsked;
    if (!answer) throw new Error(`nobody answers ${name}`);
    return answer(known, parsed.data);
  }
}

function refusedPlugin(name: string, reason: string): AppError {
  return new AppError("plugin_refused", `The plugin ${name} is refused: ${reason}.`, {
    fix: `Install it again: ${ownCommand("plugins add")} …`,
  });
}
