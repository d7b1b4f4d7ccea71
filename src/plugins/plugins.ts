import type * as z from "zod";

import type { ChannelDefinition } from "../channels/define-channel.ts";
import type { PluginIsolation } from "../domain/sandbox/contained-plugin.ts";
import type { GroupNetwork } from "../domain/sandbox/egress.ts";
import type { Clock } from "../lib/time/clock.ts";
import { systemClock } from "../lib/time/clock.ts";
import type { ProviderDefinition } from "../models/define-provider.ts";
import { serverOf } from "../sandbox/servers/server-owner.ts";
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
import { bodiesOf } from "./process/isolation.ts";
import type { PluginLimits, PluginProcessOptions } from "./process/plugin-process.ts";
import type { OpenPot } from "./process/pot.ts";

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

/** Section `plugins`: where they run, and a section for each that has tools. */
export interface ConfiguredPlugins {
  readonly isolation: PluginIsolation;
  readonly [plugin: string]: ConfiguredPlugin | PluginIsolation | undefined;
}

/** `needs settings`: it has tools that cannot work without. `waits`: there is no engine for its container. */
type PluginState = "ok" | "refused" | "needs settings" | "waits";

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
  #config: ConfiguredPlugins = { isolation: "container" };
  #pots: OpenPot | undefined;
  #logger = silent;
  #news: PluginNews = { ended: () => undefined, refused: () => undefined, waits: () => undefined };

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
  configure(config: ConfiguredPlugins): void {
    this.#config = config;
  }

  /** Place in which they run. */
  get isolation(): PluginIsolation {
    return this.#config.isolation;
  }

  /**
   * Returns where the container of an installed plugin may connect to: the hosts that it named when it was installed.
   * Undefined for other owners.
   */
  networkOf(owner: string): GroupNetwork | undefined {
    const { kind, server = "" } = serverOf(owner) ?? {};
    if (kind !== "plugin" || !Object.hasOwn(this.#lock.plugins, server)) return undefined;
    return { allow: this.#lock.plugins[server]?.hosts ?? [], allowPrivate: [], reflects: [], secrets: [] };
  }

  /** Notes why no container can be made now; undefined: some can. */
  noteEngine(reason: string | undefined): void {
    if (this.isolation === "container") for (const plugin of this.#running) plugin.wait(reason);
  }

  /** Sets the receiver of reports, the log of their output, and what makes their containers. */
  attach(logger: PluginProcessOptions["logger"], news: PluginNews, pots?: OpenPot): void {
    this.#logger = logger;
    this.#news = news;
    this.#pots = pots;
    for (const [name, reason] of this.#clashes) news.refused(name, reason);
    for (const { name, refusal } of this.#running) if (refusal !== undefined) news.refused(name, refusal);
  }

  list(): ListedPlugin[] {
    return Object.entries(this.#lock.plugins).map(([name, entry]) => {
      const running = this.#running.find((plugin) => plugin.name === name);
      const refusal = this.#clashes.get(name) ?? running?.refusal;
      if (refusal !== undefined) return { name, entry, state: "refused", reason: refusal };
      const lacks = this.plugins.some((one) => one.name === name) && this.#settingsOf(name) === undefined;
      const reason = lacks ? `its tools need settings: plugins.${name}.settings in config.yaml` : undefined;
      if (!lacks && running?.waiting !== undefined)
        return { name, entry, state: "waits", reason: `it is not started: ${running.waiting}` };
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
      memoryMb: () => this.#configOf(name)?.memoryMb ?? defaultMemoryMb,
      start: (...wanted) => bodiesOf(this.isolation, this.#pots)(...wanted),
      clock: options.clock ?? systemClock,
      limits: options.limits,
      logger: () => this.#logger,
      news: {
        ended: (...told) => this.#news.ended(...told),
        refused: (...told) => this.#news.refused(...told),
        waits: (...told) => this.#news.waits(...told),
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

  #configOf(name: string): ConfiguredPlugin | undefined {
    const said = Object.hasOwn(this.#config, name) ? this.#config[name] : undefined;
    return typeof said === "object" ? said : undefined;
  }

  /** Undefined where it cannot be used for want of settings. */
  #settingsOf(name: string): PluginSettings | undefined {
    const said = this.#configOf(name);
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
