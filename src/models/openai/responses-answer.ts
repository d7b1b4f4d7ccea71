import { APIError } from "openai";
import type OpenAI from "openai";

import type { ModelAnswer, ModelUsage, StopReason } from "../../domain/turns/model.ts";
import { AnswerDraft, cleanUsage } from "../wire/answer-draft.ts";
import type { CallDraft } from "../wire/answer-draft.ts";
import { malformed } from "../wire/failures.ts";
import type { OnDelta } from "../provider.ts";
import type { OutputItem } from "./reasoning-items.ts";

type Events = OpenAI.Responses.ResponseStreamEvent;
type ItemEvent = Extract<Events, { type: "response.output_item.added" | "response.output_item.done" }>;

/** A server's real response: any part may be missing, despite the SDK's types. */
interface LooseResponse {
  readonly status?: unknown;
  readonly error?: object | null;
  readonly incomplete_details?: { readonly reason?: unknown } | null;
  readonly usage?: {
    readonly input_tokens?: unknown;
    readonly output_tokens?: unknown;
    readonly input_tokens_details?: { readonly cached_tokens?: unknown; readonly cache_write_tokens?: unknown } | null;
  } | null;
}

interface GrowingMessage {
  readonly type: "message";
  chars: number;
  readonly phase: string | undefined;
}
interface GrowingCall {
  readonly type: "function_call";
  readonly call: CallDraft;
}
interface GrowingThought {
  readonly type: "reasoning";
  item: Readonly<Record<string, unknown>> | undefined;
}
/** An item that is still coming in. */
type Growing = GrowingMessage | GrowingCall | GrowingThought;

/** Puts the events of a Responses stream together. */
export class ResponsesAnswer {
  readonly #vendor: string;
  readonly #draft: AnswerDraft;
  readonly #estimatedInput: () => number;
  /** By their number in the answer. */
  readonly #items = new Map<number, Growing>();
  #reported: ModelUsage | undefined;
  #isStarted = false;
  #stop: StopReason | undefined;
  #isRefusal = false;
  #isCut = false;

  constructor(options: { vendor: string; onDelta: OnDelta | undefined; estimatedInput: () => number }) {
    this.#vendor = options.vendor;
    this.#draft = new AnswerDraft(options.vendor, options.onDelta);
    this.#estimatedInput = options.estimatedInput;
  }

  /** Throws what the server says that went wrong, as the SDK does for other errors. */
  add(event: Events): void {
    this.#isStarted = true;
    if (event.type === "response.output_item.added") this.#startItem(event);
    if (event.type === "response.output_text.delta") this.#addText(event.output_index, event.delta);
    if (event.type === "response.refusal.delta") this.#addRefusal(event.output_index, event.delta);
    if (event.type === "response.function_call_arguments.delta") this.#addInput(event.output_index, event.delta);
    if (event.type === "response.reasoning_summary_text.delta" || event.type === "response.reasoning_text.delta")
      this.#draft.countThought(event.delta);
    if (event.type === "response.output_item.done") this.#endItem(event);
    if (event.type === "response.completed" || event.type === "response.incomplete" || event.type === "response.failed")
      this.#end(event.type, event.response);
  }

  /** Undefined while nothing has come: a call that was refused costs nothing. */
  usage(): ModelUsage | undefined {
    if (!this.#isStarted) return undefined;
    const outputTokens = this.#draft.estimateTokens();
    if (this.#reported) return this.#reported;
    return { inputTokens: this.#estimatedInput(), cachedInputTokens: 0, outputTokens, isEstimate: true };
  }

  /** Throws ProviderError when the stream ended before the answer did. */
  finish(model: string): ModelAnswer {
    const usage = this.usage();
    if (this.#stop === undefined || usage === undefined)
      throw malformed(this.#vendor, "the stream ended before the answer did");
    const stop = this.#isRefusal && this.#stop === "end" ? "refusal" : this.#stop;
    // Of what was cut off, the rest of its calls and thoughts is unknown, whoever has cut it.
    if (this.#isCut) return { ...this.#draft.finish({ stop: "length", usage, model }), stop };
    return this.#draft.finish({ stop, usage, model, thoughts: this.#thoughts() });
  }

  #startItem({ output_index, item }: ItemEvent): void {
    if (item.type === "reasoning") this.#items.set(output_index, { type: "reasoning", item: undefined });
    if (item.type === "message")
      this.#items.set(output_index, { type: "message", chars: 0, phase: item.phase ?? undefined });
    if (item.type === "function_call") {
      const call = this.#draft.startCall({ id: item.call_id, name: item.name, input: item.arguments });
      this.#items.set(output_index, { type: "function_call", call });
    }
  }

  #addText(index: number, text: string): void {
    this.#draft.addText(text);
    const item = this.#items.get(index);
    if (item?.type === "message") item.chars += text.length;
  }

  #addRefusal(index: number, text: string): void {
    this.#isRefusal = true;
    this.#addText(index, text);
  }

  #addInput(index: number, json: string): void {
    const item = this.#items.get(index);
    if (item?.type !== "function_call") throw malformed(this.#vendor, "input of a call that has not begun");
    this.#draft.addInput(item.call, json);
  }

  /** Uses the finished item: some servers send less before, or nothing. */
  #endItem(event: ItemEvent): void {
    const { output_index, item } = event;
    if (!this.#items.has(output_index)) this.#startItem(event);
    const known = this.#items.get(output_index);
    if (known?.type === "message") this.#endMessage(known, event);
    else if (known?.type === "function_call") this.#endCall(known, event);
    else if (known && item.type === "reasoning") {
      this.#draft.countThought(item.encrypted_content ?? "");
      known.item = { ...item };
    }
  }

  #endMessage({ chars }: GrowingMessage, { output_index, item }: ItemEvent): void {
    if (item.type !== "message" || chars > 0) return;
    for (const part of item.content) {
      if (part.type === "refusal") this.#addRefusal(output_index, part.refusal);
      else this.#addText(output_index, part.text);
    }
  }

  #endCall({ call }: GrowingCall, { item }: ItemEvent): void {
    if (item.type === "function_call" && call.input === "") this.#draft.addInput(call, item.arguments);
  }

  #end(type: string, response: LooseResponse): void {
    const { usage } = response;
    if (usage)
      this.#reported =
        cleanUsage({
          input: usage.input_tokens,
          cached: usage.input_tokens_details?.cached_tokens,
          written: usage.input_tokens_details?.cache_write_tokens,
          output: usage.output_tokens,
        }) ?? this.#reported;
    if (type === "response.failed") throw new APIError(undefined, response.error ?? {}, undefined, undefined);
    this.#isCut = type === "response.incomplete";
    this.#stop = !this.#isCut ? "end" : response.incomplete_details?.reason === "content_filter" ? "refusal" : "length";
  }

  /** Undefined where none can be given back: what is not in the item itself is nowhere, as nothing is stored. */
  #thoughts(): readonly OutputItem[] | undefined {
    const ordered = [...this.#items].toSorted(([one], [other]) => one - other).map(([, item]) => item);
    const items = ordered.flatMap((item): OutputItem[] => {
      if (item.type === "function_call") return [{ type: "function_call" }];
      if (item.type === "message")
        return [{ type: "message", chars: item.chars, ...(item.phase !== undefined && { phase: item.phase }) }];
      const { encrypted_content: encrypted, content } = item.item ?? {};
      return (typeof encrypted === "string" && encrypted !== "") || Array.isArray(content)
        ? [{ type: "reasoning", item: { ...item.item, type: "reasoning" } }]
        : [];
    });
    return items.some(({ type }) => type === "reasoning") ? items : undefined;
  }
}
