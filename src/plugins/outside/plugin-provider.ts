import type { ModelAnswer, ModelUsage } from "../../domain/turns/model.ts";
import { toError } from "../../lib/app-error.ts";
import { defineProvider, type ProviderDefinition, type ProviderPorts } from "../../models/define-provider.ts";
import { type Provider, ProviderError, type ProviderRequest } from "../../models/provider.ts";
import type { DescribedProvider } from "../format/described.ts";
import { validatorOf } from "../format/narrow-schema.ts";
import { InvalidAnswer } from "../../processes/line.ts";
import type { PluginProcess } from "../process/plugin-process.ts";
import type { RunningPlugin } from "./running-plugin.ts";
import { secretsIn } from "./secret-settings.ts";

/** A kind of model provider whose calls are made in a plugin's process. */
export function pluginProvider(plugin: RunningPlugin, described: DescribedProvider): ProviderDefinition {
  const { name: kind, config, secrets } = described;
  return defineProvider({
    kind,
    config: validatorOf(config),
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
    const onNews = (name: string, told: unknown): void => {
      silence.heard();
      if (name === "delta") options.onDelta?.(told as string);
      if (name === "usage") options.onUsage?.(told as ModelUsage);
    };
    const { signal } = silence;
    return await this.#ask(signal, async ({ line }) => line.call("providerComplete", value, { signal, onNews }));
  }

  async check(signal: AbortSignal): Promise<{ ok: boolean; detail: string }> {
    try {
      const value = { provider: this.#handle };
      return await this.#ask(signal, async ({ line }) => line.call("providerCheck", value, { signal }));
    } catch (error) {
      signal.throwIfAborted();
      return { ok: false, detail: toError(error).message };
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const open = this.#openIn;
    if (!open) return;
    // A process that has ended holds nothing of it anymore.
    await open.process.line
      .call("providerClose", { provider: this.#handle }, { signal: AbortSignal.timeout(closeMs) })
      .catch(() => undefined);
  }

  async #ask<Result>(signal: AbortSignal, ask: (process: PluginProcess) => Promise<Result>): Promise<Result> {
    try {
      return await ask(await this.#opened());
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ProviderError) throw error;
      if (error instanceof InvalidAnswer)
        throw new ProviderError("unavailable", `${this.name} gave an answer that is not valid.`);
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
      this.#openIn = { process, opening: process.line.call("providerOpen", value) };
    }
    await this.#openIn.opening;
    return process;
  }
}

const closeMs = 1_000;

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
