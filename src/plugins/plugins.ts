import type * as z from "zod";

import type { ChannelDefinition } from "../channels/define-channel.ts";
import type { Clock } from "../lib/time/clock.ts";
import { systemClock } from "../lib/time/clock.ts";
import type { ProviderDefinition } from "../models/define-provider.ts";
import type { HostTool } from "../tools/define-tool.ts";
import type { Described } from "./format/described.ts";
import type { JsonSchema } from "./format/narrow-schema.ts";
import { validatorOf } from "./format/narrow-schema.ts";
import { type PluginLock, type PluginLockEntry, readPluginLock } from "./install/lock-file.ts";
import { pluginChannel } from "./outside/plugin-channel.ts";
import { pluginProvider } from "./outside/plugin-provider.ts";
import { type PluginSettings, pluginTool } from "./outside/plugin-tool.ts";
import { type PluginNews, RunningPlugin } from "./outside/running-plugin.ts";
import { secretsIn } from "./outside/secret-settings.ts";
import { finishWhatWasLeft, type PluginFolders } from "./places.ts";
import type { PluginLimits, PluginProcessOptions } from "./process/plugin-process.ts";

/** A plugin with tools, for the configuration. */
interface ConfigurablePlugin {
  readonly name: string;
  /** Schema of `plugins.<name>.settings`. */
  readonly config: z.ZodObject;
  readonly tools: readonly string[];
  secrets(settings: unknown): Readonly<Record<string, string>>;
}

/** Section `plugins.<name>`. */
export interface ConfiguredPlugin extends PluginSettings {
  readonly memoryMb: number;
}

/** `needs settings`: it has tools that cannot work without. */
type PluginState = "ok" | "refused" | "needs settings";

/** An installed plugin, and whether it is used. */
export interface ListedPlugin {
  readonly name: string;
  readonly entry: PluginLockEntry;
  readonly state: PluginState;
  readonly reason: string | undefined;
}

export interface PluginsOptions {
  readonly places: PluginFolders;
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Returns why a name is unavailable. */
  readonly nameFault: (provided: Described, plugin: string, others: PluginLock) => string | undefined;
  readonly clock?: Clock;
  readonly limits?: PluginLimits | undefined;
}

const silent: PluginProcessOptions["logger"] = { info: () => undefined, warn: () => undefined, error: () => undefined };
const defaultMemoryMb = 192;

/** All installed plugins: what they add to what can be configured, and the processes of those that are in use. */
export class Plugins implements AsyncDisposable {
  readonly tools: HostTool[] = [];
  readonly channels: ChannelDefinition[] = [];
  readonly providers: ProviderDefinition[] = [];
  readonly plugins: ConfigurablePlugin[] = [];
  readonly #running: RunningPlugin[] = [];
  readonly #clashes = new Map<string, string>();
  readonly #places: PluginFolders;
  readonly #lock: PluginLock;
  #config: Readonly<Record<string, ConfiguredPlugin>> = {};
  #logger = silent;
  #news: PluginNews = { ended: () => undefined, refused: () => undefined };

  /** Reads the lock file; looks at no plugin's files yet. */
  static async open(options: PluginsOptions): Promise<Plugins> {
    return new Plugins(options, await readPluginLock(options.places.lock));
  }

  private constructor(options: PluginsOptions, lock: PluginLock) {
    this.#places = options.places;
    this.#lock = lock;
    for (const [name, entry] of Object.entries(lock.plugins)) this.#add(name, entry, options);
  }

  /**
   * Looks whether the files of each are those that were installed; what was not finished is. One that has changed is
   * refused.
   */
  async verify(): Promise<void> {
    await finishWhatWasLeft(this.#places);
    await Promise.all(this.#running.map((plugin) => plugin.verify()));
  }

  /** Applies the configuration. */
  configure(config: Readonly<Record<string, ConfiguredPlugin>>): void {
    this.#config = config;
  }

  /** Sets the receiver of reports, and the log of their output. */
  attach(logger: PluginProcessOptions["logger"], news: PluginNews): void {
    this.#logger = logger;
    this.#news = news;
    for (const [name, reason] of this.#clashes) news.refused(name, reason);
    for (const { name, refusal } of this.#running) if (refusal !== undefined) news.refused(name, refusal);
  }

  list(): ListedPlugin[] {
    return Object.entries(this.#lock.plugins).map(([name, entry]) => {
      const refusal = this.#clashes.get(name) ?? this.#running.find((plugin) => plugin.name === name)?.refusal;
      if (refusal !== undefined) return { name, entry, state: "refused", reason: refusal };
      const lacks = this.plugins.some((one) => one.name === name) && this.#settingsOf(name) === undefined;
      const reason = lacks ? `its tools need settings: plugins.${name}.settings in config.yaml` : undefined;
      return { name, entry, state: lacks ? "needs settings" : "ok", reason };
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#running.map((plugin) => plugin[Symbol.asyncDispose]()));
  }

  #add(name: string, entry: PluginLockEntry, options: PluginsOptions): void {
    const clash = entry.provides.map((each) => clashOf(each, options.nameFault(each, name, this.#lock))).find(Boolean);
    if (clash !== undefined) return void this.#clashes.set(name, clash);
    const plugin = new RunningPlugin({
      name,
      entry,
      installed: this.#places.installed,
      variables: options.variables,
      memoryMb: () => this.#config[name]?.memoryMb ?? defaultMemoryMb,
      clock: options.clock ?? systemClock,
      limits: options.limits,
      logger: () => this.#logger,
      news: {
        ended: (...told) => this.#news.ended(...told),
        refused: (...told) => this.#news.refused(...told),
      },
    });
    this.#running.push(plugin);
    for (const each of entry.provides) {
      if (each.kind === "tool") this.tools.push(pluginTool(plugin, each, () => this.#settingsOf(name)));
      else if (each.kind === "channel") this.channels.push(pluginChannel(plugin, each));
      else this.providers.push(pluginProvider(plugin, each));
    }
    if (entry.provides.some(({ kind }) => kind === "tool")) this.plugins.push(configurable(name, entry.provides));
  }

  /** Undefined where it cannot be used for want of settings. */
  #settingsOf(name: string): PluginSettings | undefined {
    const said = this.#config[name];
    if (said) return said;
    const parsed = this.plugins.find((one) => one.name === name)?.config.safeParse({});
    return parsed?.success ? { settings: parsed.data, risk: {} } : undefined;
  }
}

function clashOf({ kind, name }: Described, fault: string | undefined): string | undefined {
  return fault === undefined ? undefined : `its ${kind} is called ${name}, and ${fault}`;
}

/** The settings of all tools of a plugin are one object; two tools that name the same one get the same. */
function configurable(name: string, provides: readonly Described[]): ConfigurablePlugin {
  const tools = provides.filter((each) => each.kind === "tool");
  const schemas = tools.flatMap(({ config }) => (config ? [config] : []));
  const merged: JsonSchema = {
    type: "object",
    properties: Object.assign({}, ...schemas.map(({ properties }) => properties)) as unknown,
    required: [...new Set(schemas.flatMap(({ required }) => (required ?? []) as string[]))],
    additionalProperties: false,
  };
  const said = tools.flatMap(({ secrets }) => secrets);
  return {
    name,
    config: validatorOf(merged),
    tools: tools.map((tool) => tool.name),
    secrets: (settings) => secretsIn(merged, said, settings),
  };
}
