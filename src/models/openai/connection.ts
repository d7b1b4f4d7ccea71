import OpenAI, { APIConnectionError, APIError, NotFoundError } from "openai";

import type { ProviderPorts } from "../define-provider.ts";
import { explainFailure } from "../wire/failures.ts";
import type { VendorFailure } from "../wire/failures.ts";
import { ProviderError } from "../provider.ts";
import { createTransport } from "../wire/transport.ts";
import type { VendorSettings } from "../wire/vendor-settings.ts";

export const officialBaseUrl = "https://api.openai.com/v1";

/** A server that is spoken to with OpenAI's SDK, whichever of its APIs is used. */
export class OpenAiConnection {
  readonly name: string;
  readonly client: OpenAI;
  readonly #safe: { readonly secret: string; readonly clock: ProviderPorts["clock"] };

  constructor({ apiKey, baseUrl }: VendorSettings, { name, clock, silenceMs }: ProviderPorts) {
    this.name = name;
    this.#safe = { secret: apiKey, clock };
    this.client = new OpenAI({
      // All that the SDK would otherwise look up in the environment is given, the headers by the transport.
      apiKey,
      adminAPIKey: null,
      organization: null,
      project: null,
      webhookSecret: null,
      baseURL: baseUrl ?? officialBaseUrl,
      logLevel: "off",
      maxRetries: 0,
      // The SDK's own limit is on the time to the headers; ours, in the transport, is on silence.
      timeout: 2 ** 31 - 1,
      fetch: createTransport({ headers: { authorization: `Bearer ${apiKey}` }, silenceMs }),
    });
  }

  /** Checks that the server is reachable and accepts the key. */
  async check(signal: AbortSignal): Promise<{ ok: boolean; detail: string }> {
    try {
      await this.client.models.list({ signal });
      return { ok: true, detail: "reachable, the key is accepted" };
    } catch (error) {
      if (error instanceof NotFoundError)
        return { ok: true, detail: "reachable, but it does not list its models, so the key could not be checked" };
      const explained = this.explain(error, signal);
      if (explained instanceof ProviderError) return { ok: false, detail: explained.message };
      throw explained;
    }
  }

  /** Translates an SDK error. */
  explain(error: unknown, signal: AbortSignal): unknown {
    return explainFailure(error, { vendor: this.name, signal, safe: this.#safe, answered: answeredWith(error) });
  }
}

/** The words of a server that refuses a request as such. */
export function refusalOf(error: unknown): string | undefined {
  return error instanceof APIError && (error.status === 400 || error.status === 422) ? error.message : undefined;
}

function answeredWith(error: unknown): VendorFailure | undefined {
  if (!(error instanceof APIError) || error instanceof APIConnectionError) return undefined;
  // In the middle of a stream some servers have the status as their code.
  const code: unknown = error.code;
  return {
    status: error.status ?? (typeof code === "number" ? code : undefined),
    kinds: [code, error.type].filter((kind) => typeof kind === "string"),
    message: wordsOf(error.error) ?? error.message.replace(/^\d{3} /, ""),
    headers: error.headers,
  };
}

/** Finds a server's message where the SDK does not look: alone (xAI), in a list (Gemini), in details (Mistral). */
function wordsOf(payload: unknown): string | undefined {
  if (typeof payload === "string") return payload;
  if (typeof payload !== "object" || payload === null) return undefined;
  if (Array.isArray(payload)) return wordsOf((payload as readonly unknown[])[0]);
  const { error, message, msg, loc, detail } = payload as Readonly<Record<string, unknown>>;
  const at = Array.isArray(loc) ? `${loc.join(".")}: ` : "";
  if (typeof msg === "string") return at + msg;
  return wordsOf(message) ?? wordsOf(error) ?? wordsOf(detail);
}
