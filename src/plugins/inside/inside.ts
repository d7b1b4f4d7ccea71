import type { Served } from "../process/peer.ts";
import type { PluginCalls } from "../process/calls.ts";
import { pluginCalls } from "../process/calls.ts";
import type { AskHost, TellHost } from "./ask-host.ts";
import { type Definitions, definitionsOf, describe } from "./describe.ts";
import { ServedChannels } from "./served-channels.ts";
import { ServedProviders } from "./served-providers.ts";

type Handlers = {
  readonly [Name in keyof PluginCalls]: (value: PluginCalls[Name], served: Served) => Promise<unknown>;
};

/** What a plugin's process does for the host: runs its tools, has its channels and providers open. */
export class Inside {
  readonly #ask: AskHost;
  readonly #channels: ServedChannels;
  readonly #providers: ServedProviders;
  #definitions: Promise<Definitions> | undefined;
  readonly #handlers: Handlers;

  constructor(ask: AskHost, tell: TellHost) {
    this.#ask = ask;
    const definitions = async (): Promise<Definitions> => {
      if (!this.#definitions) throw new Error("the plugin is not loaded");
      return this.#definitions;
    };
    this.#channels = new ServedChannels({ ask, tell, definitions });
    this.#providers = new ServedProviders({ tell, definitions });
    this.#handlers = {
      describe: async () => describe(await definitions()),
      toolRun: async (value, served) => this.#runTool(await definitions(), value, served),
      ...this.#channels.handlers,
      ...this.#providers.handlers,
    };
  }

  /** The module that is being loaded; what goes wrong with it is told to whoever asks for something of it. */
  load(module: Promise<unknown>): void {
    this.#definitions = module.then((loaded) => definitionsOf((loaded as { readonly default?: unknown }).default));
    this.#definitions.catch(() => undefined);
  }

  async serve(name: string, value: unknown, served: Served): Promise<unknown> {
    if (!Object.hasOwn(pluginCalls, name)) throw new Error(`there is no call ${name}`);
    const known = name as keyof PluginCalls;
    const parsed = pluginCalls[known].parse(value);
    return (this.#handlers[known] as (value: unknown, served: Served) => Promise<unknown>)(parsed, served);
  }

  async #runTool(
    { tools }: Definitions,
    { tool: name, input, settings, group, turn }: PluginCalls["toolRun"],
    { signal, id }: Served,
  ): Promise<unknown> {
    const tool = tools.get(name);
    if (!tool) throw new Error(`there is no tool ${name}`);
    const send = async ({ text }: { readonly text: string }): Promise<void> => {
      await this.#ask("send", { text }, { of: id });
    };
    // A tool of a plugin has no port but `send`: see `describe`.
    const own = Object.entries(settings).filter(([key]) => Object.hasOwn(tool.config?.shape ?? {}, key));
    const place = { group, turn, signal, settings: Object.fromEntries(own), send } as unknown as Parameters<
      typeof tool.run
    >[1];
    const result = await tool.run(input, place);
    return typeof result === "string"
      ? { output: result, isError: false }
      : { output: result.output, isError: result.isError };
  }
}
