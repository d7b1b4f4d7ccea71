import type { ModelAnswer } from "../../domain/turns/model.ts";
import type { ProviderPorts } from "../define-provider.ts";
import { Dialects } from "../wire/dialects.ts";
import type { Provider, ProviderRequest } from "../provider.ts";
import { readStreamed } from "../wire/streamed-answer.ts";
import type { VendorSettings } from "../wire/vendor-settings.ts";
import { estimateInputTokens } from "../wire/wire.ts";
import { OpenAiConnection, refusalOf } from "./connection.ts";
import { adapt, firstDialect } from "./dialect.ts";
import type { OpenAiDialect } from "./dialect.ts";
import { OpenAiAnswer } from "./openai-answer.ts";
import { toOpenAiRequest } from "./openai-request.ts";
import type { ServerTraits } from "./server-traits.ts";

type CallOptions = Parameters<Provider["complete"]>[1];

/** The Chat Completions API, streaming: OpenAI and the many servers that speak the same format. */
export class OpenAiProvider implements Provider {
  readonly name: string;
  readonly #connection: OpenAiConnection;
  readonly #dialects: Dialects<OpenAiDialect>;

  constructor(
    config: VendorSettings,
    { ports, traits }: { readonly ports: ProviderPorts; readonly traits: ServerTraits },
  ) {
    this.name = ports.name;
    this.#connection = new OpenAiConnection(config, ports);
    this.#dialects = new Dialects({ first: firstDialect(traits), adapt, refusalOf });
  }

  async complete(request: ProviderRequest, options: CallOptions): Promise<ModelAnswer> {
    try {
      return await this.#dialects.ask(request, (dialect) => this.#call(request, dialect, options));
    } catch (error) {
      throw this.#connection.explain(error, options.signal);
    }
  }

  check(signal: AbortSignal): Promise<{ ok: boolean; detail: string }> {
    return this.#connection.check(signal);
  }

  async #call(request: ProviderRequest, dialect: OpenAiDialect, options: CallOptions): Promise<ModelAnswer> {
    options.signal.throwIfAborted();
    const body = toOpenAiRequest(request, dialect);
    const answer = new OpenAiAnswer({
      vendor: this.name,
      onDelta: options.onDelta,
      estimatedInput: () => estimateInputTokens(request, (same) => toOpenAiRequest(same, dialect)),
    });
    return readStreamed(answer, `${this.name}/${request.model}`, options, () =>
      this.#connection.client.chat.completions.create(body, { signal: options.signal }),
    );
  }

  /** Nothing is held between calls. */
  async [Symbol.asyncDispose](): Promise<void> {}
}
