import type { Provider, ProviderRequest } from "../../models/provider.ts";
import { systemClock } from "../../lib/time/clock.ts";
import type { Answers, CallContext, CallValue } from "../../processes/line.ts";
import type { plugin } from "../../processes/protocol.ts";
import type { Inside } from "./plugin-host.ts";

type Calls = Answers<typeof plugin.process>;
type Answer = Awaited<ReturnType<Calls["providerComplete"]>>;

/** The providers that the host has open in this process. */
export class ServedProviders {
  readonly #inside: Inside;
  readonly #open = new Map<number, Provider>();
  readonly answers: Pick<Calls, "providerOpen" | "providerComplete" | "providerCheck" | "providerClose"> = {
    providerOpen: (value) => this.#openOne(value),
    providerComplete: (value, context) => this.#complete(value, context),
    providerCheck: async ({ provider }, { signal }) => this.#get(provider).check(signal),
    providerClose: async ({ provider }) => {
      const open = this.#open.get(provider);
      this.#open.delete(provider);
      await open?.[Symbol.asyncDispose]();
    },
  };

  constructor(inside: Inside) {
    this.#inside = inside;
  }

  async #openOne({
    provider,
    kind,
    settings,
    name,
    silenceMs,
  }: CallValue<typeof plugin.process, "providerOpen">): Promise<void> {
    const definition = (await this.#inside.definitions).providers.get(kind);
    if (!definition) throw new Error(`there is no provider ${kind}`);
    const parsed = { ...(definition.config.parse(settings) as object), kind };
    this.#open.set(provider, await definition.open(parsed, { name, silenceMs, clock: systemClock }));
  }

  async #complete(
    { provider, request, images }: CallValue<typeof plugin.process, "providerComplete">,
    { signal, id }: CallContext,
  ): Promise<Answer> {
    const host = this.#inside.host();
    const bytes = images.map(([blob, content]) => [blob, Buffer.from(content, "base64")] as const);
    const answer = await this.#get(provider).complete(
      { ...request, images: new Map(bytes) } as unknown as ProviderRequest,
      {
        signal,
        onDelta: (text) => host.tell("delta", text, id),
        onUsage: (usage) => host.tell("usage", usage, id),
      },
    );
    // The host checks it.
    return answer as Answer;
  }

  #get(provider: number): Provider {
    const open = this.#open.get(provider);
    if (open) return open;
    throw new Error(`there is no provider ${provider}`);
  }
}
