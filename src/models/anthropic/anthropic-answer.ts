import type Anthropic from "@anthropic-ai/sdk";

import type { ModelAnswer, ModelUsage, StopReason } from "../../domain/turns/model.ts";
import { AnswerDraft, cleanUsage } from "../wire/answer-draft.ts";
import type { CallDraft } from "../wire/answer-draft.ts";
import { malformed } from "../wire/failures.ts";
import type { OnDelta } from "../provider.ts";
import { isThought } from "./thoughts.ts";
import type { ContentItem } from "./thoughts.ts";

const stops: Readonly<Record<string, StopReason>> = {
  end_turn: "end",
  stop_sequence: "end",
  pause_turn: "end",
  tool_use: "tool-calls",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  refusal: "refusal",
};

type ReportedUsage = Readonly<Partial<Record<keyof Anthropic.Usage, unknown>>>;

/** Puts the events of a Messages stream together. */
export class AnthropicAnswer {
  readonly #vendor: string;
  readonly #draft: AnswerDraft;
  readonly #blocks = new Map<number, CallDraft>();
  readonly #estimatedInput: () => number;
  /** The order of all that came: thoughts as they are, of all else where it stands. */
  readonly #content: ContentItem[] = [];
  readonly #items = new Map<number, ContentItem>();
  #usage: ReportedUsage = {};
  #isStarted = false;
  #stop: StopReason | undefined;
  #isEnded = false;

  constructor(options: { vendor: string; onDelta: OnDelta | undefined; estimatedInput: () => number }) {
    this.#vendor = options.vendor;
    this.#draft = new AnswerDraft(options.vendor, options.onDelta);
    this.#estimatedInput = options.estimatedInput;
  }

  add(event: Anthropic.RawMessageStreamEvent): void {
    this.#isStarted = true;
    switch (event.type) {
      case "message_start":
        this.#note(event.message.usage);
        break;
      case "content_block_start":
        this.#startBlock(event);
        break;
      case "content_block_delta":
        this.#addDelta(event);
        break;
      case "message_delta":
        this.#note(event.usage);
        if (typeof event.delta.stop_reason === "string") this.#stop = stops[event.delta.stop_reason] ?? "end";
        break;
      case "message_stop":
        this.#isEnded = true;
        break;
      case "content_block_stop":
        break;
    }
  }

  /** Undefined while nothing has come: a call that was refused costs nothing. */
  usage(): ModelUsage | undefined {
    if (!this.#isStarted) return undefined;
    const { input_tokens: fresh, cache_read_input_tokens: read, cache_creation_input_tokens: written } = this.#usage;
    const input = isCount(fresh) ? fresh + (isCount(read) ? read : 0) + (isCount(written) ? written : 0) : undefined;
    // Until the end the vendor counts next to no output, so the larger of both counts.
    const estimated = this.#draft.estimateTokens();
    const reported = isCount(this.#usage.output_tokens) ? this.#usage.output_tokens : 0;
    const output = this.#isEnded && reported > 0 ? reported : Math.max(reported, estimated);
    const usage = cleanUsage({ input: input ?? this.#estimatedInput(), cached: read, written, output });
    return usage && input === undefined ? { ...usage, isEstimate: true } : usage;
  }

  /** Throws ProviderError when the stream ended before the answer did. */
  finish(model: string): ModelAnswer {
    const usage = this.usage();
    if (!this.#isEnded || this.#stop === undefined || usage === undefined)
      throw malformed(this.#vendor, "the stream ended before the answer did");
    const thoughts = this.#content.some(isThought) ? this.#content : undefined;
    return this.#draft.finish({ stop: this.#stop, usage, model, thoughts });
  }

  #startBlock(event: Anthropic.RawContentBlockStartEvent): void {
    const block = event.content_block;
    const item = toItem(block);
    if (!item) return;
    this.#content.push(item);
    this.#items.set(event.index, item);
    if (block.type === "text") this.#draft.addText(block.text);
    if (isThought(item)) this.#draft.countThought(JSON.stringify(item));
    if (block.type === "tool_use")
      this.#blocks.set(event.index, this.#draft.startCall({ id: block.id, name: block.name, input: "" }));
  }

  #addDelta(event: Anthropic.RawContentBlockDeltaEvent): void {
    const { delta } = event;
    const item = this.#items.get(event.index);
    if (delta.type === "text_delta") {
      this.#draft.addText(delta.text);
      if (item?.type === "text") item.chars += delta.text.length;
    }
    if (delta.type === "thinking_delta" && item?.type === "thinking") {
      this.#draft.countThought(delta.thinking);
      item.thinking += delta.thinking;
    }
    if (delta.type === "signature_delta" && item?.type === "thinking") {
      this.#draft.countThought(delta.signature);
      item.signature += delta.signature;
    }
    const call = this.#blocks.get(event.index);
    if (delta.type === "input_json_delta" && call) this.#draft.addInput(call, delta.partial_json);
  }

  #note(usage: ReportedUsage | undefined): void {
    const known = Object.entries(usage ?? {}).filter(([, value]) => value !== null && value !== undefined);
    this.#usage = { ...this.#usage, ...Object.fromEntries(known) };
  }
}

function toItem(block: Anthropic.RawContentBlockStartEvent["content_block"]): ContentItem | undefined {
  if (block.type === "thinking")
    return { type: "thinking", thinking: orNothing(block.thinking), signature: orNothing(block.signature) };
  if (block.type === "redacted_thinking") return { type: "redacted_thinking", data: orNothing(block.data) };
  if (block.type === "text") return { type: "text", chars: block.text.length };
  return block.type === "tool_use" ? { type: "tool_use" } : undefined;
}

/** Some servers of this format leave out what comes later. */
function orNothing(text: unknown): string {
  return typeof text === "string" ? text : "";
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && value >= 0;
}
