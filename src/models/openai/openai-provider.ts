import OpenAI, { APIConnectionError, APIError, NotFoundError } from "openai";

import type { ModelAnswer } from "../../domain/model.ts";
import { explainFailure, type VendorFailure } from "../failures.ts";
import type { ProviderPorts } from "../define-provider.ts";
import type { VendorSettings } from "../vendor-settings.ts";
import { ProviderError } from "../provider.ts";
import type { OnDelta, OnUsage, Provider, ProviderRequest } from "../provider.ts";
import { createTransport } from "../transport.ts";
import { estimateInputTokens } from "../wire.ts";
import { OpenAiAnswer } from "./openai-answer.ts";
import { adapt, firstDialect, toOpenAiRequest } from "./openai-request.ts";
import type { Dialect } from "./openai-request.ts";

interface CallOptions {
  readonly signal: AbortSignal;
  readonly onDelta?: OnDelta | undefined;
  readonly onUsage?: OnUsage | undefined;
}

/** The Chat Completions API, streaming: OpenAI and the many servers that speak the same format. */
export class OpenAiProvider implements Provider {
  readonly name: string;
  readonly #client: OpenAI;
  readonly #safe: { readonly secret: string; readonly clock: ProviderPorts["clock"] };
  readonly #isOpenAi: boolean;
  /** What was found out about each model, so that it is refused only once. */
  readonly #dialects = new Map<string, Dialect>();

  constructor(config: VendorSettings, ports: ProviderPorts) {
    this.name = ports.name;
    this.#safe = { secret: config.apiKey, clock: ports.clock };
    this.#isOpenAi = config.baseUrl === undefined;
    this.#client = new OpenAI({
      // All that the SDK would otherwise look up in the environment is given, the headers by the transport.
      apiKey: config.apiKey,
      adminAPIKey: null,
      organization: null,
      project: null,
      webhookSecret: null,
      baseURL: config.baseUrl ?? "https://api.openai.com/v1",
      logLevel: "off",
      maxRetries: 0,
      // The SDK's own limit is on the time to the headers; ours, in the transport, is on silence.
      timeout: 2 ** 31 - 1,
      fetch: createTransport({
        headers: { authorization: `Bearer ${config.apiKey}` },
        silenceMs: ports.silenceMs,
      }),
    });
  }

  async complete(request: ProviderRequest, options: CallOptions): Promise<ModelAnswer> {
    let dialect = this.#dialects.get(request.model) ?? firstDialect(this.#isOpenAi);
    for (;;) {
      try {
        return await this.#call(request, dialect, options);
      } catch (error) {
        const next = error instanceof APIError && isRefused(error) ? adapt(dialect, error.message) : undefined;
        if (next === undefined) throw this.#explain(error, options.signal);
        this.#dialects.set(request.model, next);
        dialect = next;
      }
    }
  }

  async check(signal: AbortSignal): Promise<{ ok: boolean; detail: string }> {
    try {
      await this.#client.models.list({ signal });
      return { ok: true, detail: "reachable, the key is accepted" };
    } catch (error) {
      if (error instanceof NotFoundError)
        return { ok: true, detail: "reachable, but it does not list its models, so the key could not be checked" };
      const explained = this.#explain(error, signal);
      if (explained instanceof ProviderError) return { ok: false, detail: explained.message };
      throw explained;
    }
  }

  async #call(request: ProviderRequest, dialect: Dialect, options: CallOptions): Promise<ModelAnswer> {
    options.signal.throwIfAborted();
    const body = toOpenAiRequest(request, dialect);
    const answer = new OpenAiAnswer({
      vendor: this.name,
      onDelta: options.onDelta,
      estimatedInput: () => estimateInputTokens(request, (same) => toOpenAiRequest(same, dialect)),
    });
    try {
      const stream = await this.#client.chat.completions.create(body, { signal: options.signal });
      for await (const chunk of stream) answer.add(chunk);
      options.signal.throwIfAborted();
      return answer.finish(`${this.name}/${request.model}`);
    } finally {
      const usage = answer.usage();
      if (usage) options.onUsage?.(usage);
    }
  }

  /** Nothing is held between calls. */
  async [Symbol.asyncDispose](): Promise<void> {}

  #explain(error: unknown, signal: AbortSignal): unknown {
    return explainFailure(error, { vendor: this.name, signal, safe: this.#safe, answered: answeredWith(error) });
  }
}

function answeredWith(error: unknown): VendorFailure | undefined {
  if (!(error instanceof APIError) || error instanceof APIConnectionError) return undefined;
  return {
    status: error.status,
    kinds: [error.code, error.type].filter((kind) => typeof kind === "string"),
    message: error.message.replace(/^\d{3} /, ""),
    headers: error.headers,
  };
}

function isRefused(error: { readonly status: number | undefined }): boolean {
  return error.status === 400 || error.status === 422;
}
