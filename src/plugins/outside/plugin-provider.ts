import type { ModelAnswer } from "../../domain/turns/model.ts";
import { toError } from "../../lib/app-error.ts";
import { defineProvider, type ProviderDefinition, type ProviderPorts } from "../../models/define-provider.ts";
import { type Provider, ProviderError, type ProviderRequest } from "../../models/provider.ts";
import type { DescribedProvider } from "../format/described.ts";
import { schemaOf } from "../format/narrow-schema.ts";
import { hostNews, pluginAnswers } from "../process/calls.ts";
import type { CallOptions } from "../process/peer.ts";
import type { PluginProcess } from "../process/plugin-process.ts";
import type { RunningPlugin } from "./running-plugin.ts";
import { secretsIn } from "./secret-settings.ts";

/** A kind of model provider whose calls are made in a plugin's process. */
export function pluginProvider(plugin: RunningPlugin, described: DescribedProvider): ProviderDefinition {
  const { name: kind, config, secrets } = described;
  return defineProvider({
    kind,
    config: schemaOf(config),
    secrets: (settings) => secretsIn(config, secrets, settings),
    open: async (given, ports) => {
      const settings = Object.fromEntries(Object.entries(given).filter(([name]) => name !== "kind"));
      return new PluginProvider({ plugin, kind, settings, ports });
    },
  }) as ProviderDefinition;
}

interface PluginProviderOptions {
  readonly plugin: RunningPlugin;
  readonly kind: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly ports: Pick<ProviderPorts, "name" | "silenceMs">;
}

type CompleteOptions = Parameters<Provider["complete"]>[1];

class PluginProvider implements Provider {
  readonly name: string;
  readonly #options: PluginProviderOptions;
  readonly #handle: number;
  /** In which process it is open: a new one knows nothing of it. */
  #openIn: { readonly process: PluginProcess; readonly opening: Promise<unknown> } | undefined;

  constructor(options: PluginProviderOptions) {
    this.name = options.ports.name;
    this.#options = options;
    this.#handle = options.plugin.nextHandle();
  }

  async complete(request: ProviderRequest, options: CompleteOptions): Promise<ModelAnswer> {
    const { images = new Map<string, Uint8Array>(), ...rest } = request;
    const bytes = [...images].map(([blob, content]): [string, string] => [
      blob,
      Buffer.from(content).toString("base64"),
    ]);
    const value = { provider: this.#handle, request: rest, images: bytes };
    using silence = new Silence(this.#options.ports.silenceMs, options.signal);
    const onTold = (name: string, told: unknown): void => {
      silence.heard();
      tellOn(options, name, told);
    };
    const answer = await this.#ask("providerComplete", value, { signal: silence.signal, onTold });
    const parsed = pluginAnswers.providerComplete.safeParse(answer);
    if (parsed.success) return parsed.data;
    throw new ProviderError("unavailable", `${this.name} gave an answer that is not valid.`);
  }

  async check(signal: AbortSignal): Promise<{ ok: boolean; detail: string }> {
    try {
      const answer = await this.#ask("providerCheck", { provider: this.#handle }, { signal });
      return pluginAnswers.providerCheck.parse(answer);
    } catch (error) {
      signal.throwIfAborted();
      return { ok: false, detail: toError(error).message };
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const open = this.#openIn;
    if (!open) return;
    // A process that has ended holds nothing of it any more.
    await open.process.peer
      .call("providerClose", { provider: this.#handle }, { signal: AbortSignal.timeout(closeMs) })
      .catch(() => undefined);
  }

  async #ask(name: "providerComplete" | "providerCheck", value: object, options: CallOptions): Promise<unknown> {
    try {
      const process = await this.#opened();
      return await process.peer.call(name, value, options);
    } catch (error) {
      options.signal?.throwIfAborted();
      if (error instanceof ProviderError) throw error;
      throw new ProviderError("unavailable", `${this.name}: ${toError(error).message}`, { cause: error });
    }
  }

  async #opened(): Promise<PluginProcess> {
    const { plugin, kind, settings, ports } = this.#options;
    const process = await plugin.process();
    if (this.#openIn?.process !== process) {
      const value = {
        provider: this.#handle,
        kind,
        settings: { ...settings },
        name: ports.name,
        silenceMs: ports.silenceMs,
      };
      this.#openIn = { process, opening: process.peer.call("providerOpen", value) };
    }
    await this.#openIn.opening;
    return process;
  }
}

const closeMs = 1_000;

function tellOn({ onDelta, onUsage }: CompleteOptions, name: string, told: unknown): void {
  const delta = name === "delta" ? hostNews.delta.safeParse(told) : undefined;
  if (delta?.success) onDelta?.(delta.data);
  const usage = name === "usage" ? hostNews.usage.safeParse(told) : undefined;
  if (usage?.success) onUsage?.(usage.data);
}

/** Aborts when nothing was heard for too long, or when the caller does. */
class Silence implements Disposable {
  readonly signal: AbortSignal;
  readonly #ms: number;
  readonly #silent = new AbortController();
  #timer: NodeJS.Timeout;

  constructor(ms: number, outer: AbortSignal) {
    this.#ms = ms;
    this.signal = AbortSignal.any([outer, this.#silent.signal]);
    this.#timer = this.#expect();
  }

  heard(): void {
    clearTimeout(this.#timer);
    this.#timer = this.#expect();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }

  #expect(): NodeJS.Timeout {
    const reason = new ProviderError("unavailable", `nothing came for ${this.#ms} ms`);
    return setTimeout(() => this.#silent.abort(reason), this.#ms);
  }
}
