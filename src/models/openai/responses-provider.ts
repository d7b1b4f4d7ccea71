import type { ModelAnswer } from "../../domain/turns/model.ts";
import type { ProviderPorts } from "../define-provider.ts";
import { Dialects } from "../wire/dialects.ts";
import type { Provider, ProviderRequest } from "../provider.ts";
import { readStreamed } from "../wire/streamed-answer.ts";
import type { VendorSettings } from "../wire/vendor-settings.ts";
import { estimateInputTokens } from "../wire/wire.ts";
import { OpenAiConnection, refusalOf } from "./connection.ts";
import { ResponsesAnswer } from "./responses-answer.ts";
import { adaptResponses, firstResponsesDialect, toResponsesRequest } from "./responses-request.ts";
import type { ResponsesDialect } from "./responses-request.ts";

type CallOptions = Parameters<Provider["complete"]>[1];

/**
 * OpenAI's Responses API, streaming: models think between their calls of tools, and nothing is stored at the vendor's.
 */
export class ResponsesProvider implements Provider {
  readonly name: string;
  readonly #connection: OpenAiConnection;
  readonly #dialects = new Dialects({ first: firstResponsesDialect, adapt: adaptResponses, refusalOf });

  constructor(config: VendorSettings, ports: ProviderPorts) {
    this.name = ports.name;
    this.#connection = new OpenAiConnection(config, ports);
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

  async #call(request: ProviderRequest, dialect: ResponsesDialect, options: CallOptions): Promise<ModelAnswer> {
    options.signal.throwIfAborted();
    const body = toResponsesRequest(request, dialect);
    const answer = new ResponsesAnswer({
      vendor: this.name,
      onDelta: options.onDelta,
      estimatedInput: () => estimateInputTokens(request, (same) => toResponsesRequest(same, dialect)),
    });
    return readStreamed(answer, `${this.name}/${request.model}`, options, () =>
      this.#connection.client.responses.create(body, { signal: options.signal }),
    );
  }

  /** Nothing is held between calls. */
  async [Symbol.asyncDispose](): Promise<void> {}
}
