import type { Provider, ProviderRequest } from "../../models/provider.ts";
import { systemClock } from "../../lib/time/clock.ts";
import type { PluginCalls } from "../process/calls.ts";
import type { Served } from "../process/peer.ts";
import type { Definitions } from "./describe.ts";
import type { TellHost } from "./ask-host.ts";

interface ServedProvidersOptions {
  readonly tell: TellHost;
  readonly definitions: () => Promise<Definitions>;
}

/** The providers that the host has open in this process. */
export class ServedProviders {
  readonly #options: ServedProvidersOptions;
  readonly #open = new Map<number, Provider>();
  readonly handlers = {
    providerOpen: (value: PluginCalls["providerOpen"]) => this.#openOne(value),
    providerComplete: (value: PluginCalls["providerComplete"], served: Served) => this.#complete(value, served),
    providerCheck: async ({ provider }: PluginCalls["providerCheck"], { signal }: Served) =>
      this.#get(provider).check(signal),
    providerClose: async ({ provider }: PluginCalls["providerClose"]) => {
      const open = this.#open.get(provider);
      this.#open.delete(provider);
      await open?.[Symbol.asyncDispose]();
    },
  };

  constructor(options: ServedProvidersOptions) {
    this.#options = options;
  }

  async #openOne({ provider, kind, settings, name, silenceMs }: PluginCalls["providerOpen"]): Promise<void> {
    const definition = (await this.#options.definitions()).providers.get(kind);
    if (!definition) throw new Error(`there is no provider ${kind}`);
    const parsed = { ...(definition.config.parse(settings) as object), kind };
    this.#open.set(provider, await definition.open(parsed, { name, silenceMs, clock: systemClock }));
  }

  async #complete(
    { provider, request, images }: PluginCalls["providerComplete"],
    { signal, id }: Served,
  ): Promise<unknown> {
    const bytes = images.map(([blob, content]) => [blob, Buffer.from(content, "base64")] as const);
    return this.#get(provider).complete({ ...request, images: new Map(bytes) } as unknown as ProviderRequest, {
      signal,
      onDelta: (text) => this.#options.tell("delta", id, text),
      onUsage: (usage) => this.#options.tell("usage", id, usage),
    });
  }

  #get(provider: number): Provider {
    const open = this.#open.get(provider);
    if (open) return open;
    throw new Error(`there is no provider ${provider}`);
  }
}
