import Anthropic, { APIConnectionError, APIError } from "@anthropic-ai/sdk";

import type { ModelAnswer } from "../../domain/turns/model.ts";
import type { ProviderPorts } from "../define-provider.ts";
import type { VendorSettings } from "../wire/vendor-settings.ts";
import { Dialects } from "../wire/dialects.ts";
import { explainFailure, type VendorFailure } from "../wire/failures.ts";
import { ProviderError } from "../provider.ts";
import type { OnDelta, OnUsage, Provider, ProviderRequest } from "../provider.ts";
import { readStreamed } from "../wire/streamed-answer.ts";
import { createTransport } from "../wire/transport.ts";
import { estimateInputTokens } from "../wire/wire.ts";
import { AnthropicAnswer } from "./anthropic-answer.ts";
import { adapt, firstDialect, toAnthropicRequest } from "./anthropic-request.ts";
import type { AnthropicDialect } from "./anthropic-request.ts";

/** The Messages API, streaming. */
export class AnthropicProvider implements Provider {
  readonly name: string;
  readonly #client: Anthropic;
  readonly #safe: { readonly secret: string; readonly clock: ProviderPorts["clock"] };
  readonly #dialects = new Dialects({ first: firstDialect, adapt, refusalOf });

  constructor(config: VendorSettings, ports: ProviderPorts) {
    this.name = ports.name;
    this.#safe = { secret: config.apiKey, clock: ports.clock };
    this.#client = new Anthropic({
      // All that the SDK would otherwise look up in the environment or in files is given, the headers by the transport.
      apiKey: config.apiKey,
      baseURL: (config.baseUrl ?? "https://api.anthropic.com").replace(/(?<!\/)\/+(v1\/*)?$/, ""),
      webhookKey: null,
      openTelemetry: false,
      logLevel: "off",
      maxRetries: 0,
      // The SDK's own limit is on the time to the headers; ours, in the transport, is on silence.
      timeout: 2 ** 31 - 1,
      fetch: createTransport({
        headers: { "x-api-key": config.apiKey, "anthropic-version": "2023-06-01" },
        silenceMs: ports.silenceMs,
      }),
    });
  }

  async complete(
    request: ProviderRequest,
    options: { signal: AbortSignal; onDelta?: OnDelta | undefined; onUsage?: OnUsage | undefined },
  ): Promise<ModelAnswer> {
    try {
      return await this.#dialects.ask(request, (dialect) => this.#call(request, dialect, options));
    } catch (error) {
      throw this.#explain(error, options.signal);
    }
  }

  async #call(
    request: ProviderRequest,
    dialect: AnthropicDialect,
    options: Parameters<Provider["complete"]>[1],
  ): Promise<ModelAnswer> {
    options.signal.throwIfAborted();
    const body = toAnthropicRequest(request, dialect);
    const answer = new AnthropicAnswer({
      vendor: this.name,
      onDelta: options.onDelta,
      estimatedInput: () => estimateInputTokens(request, (same) => toAnthropicRequest(same, dialect)),
    });
    return readStreamed(answer, `${this.name}/${request.model}`, options, () =>
      this.#client.messages.create(body, { signal: options.signal }),
    );
  }

  async check(signal: AbortSignal): Promise<{ ok: boolean; detail: string }> {
    try {
      await this.#client.models.list({ limit: 1 }, { signal });
      return { ok: true, detail: "reachable, the key is accepted" };
    } catch (error) {
      const explained = this.#explain(error, signal);
      if (explained instanceof ProviderError) return { ok: false, detail: explained.message };
      throw explained;
    }
  }

  /** Nothing is held between calls. */
  async [Symbol.asyncDispose](): Promise<void> {}

  #explain(error: unknown, signal: AbortSignal): unknown {
    return explainFailure(error, { vendor: this.name, signal, safe: this.#safe, answered: answeredWith(error) });
  }
}

function refusalOf(error: unknown): string | undefined {
  return error instanceof APIError && error.status === 400 ? error.message : undefined;
}

function answeredWith(error: unknown): VendorFailure | undefined {
  if (!(error instanceof APIError) || error instanceof APIConnectionError) return undefined;
  return {
    status: error.status,
    kinds: [error.type, error.errorCode].filter((kind) => kind !== null),
    message: error.apiMessage ?? error.message,
    headers: error.headers,
  };
}
