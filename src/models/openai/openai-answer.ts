import type OpenAI from "openai";

import type { ModelAnswer, ModelUsage, StopReason } from "../../domain/model.ts";
import { AnswerDraft, cleanUsage } from "../answer-draft.ts";
import type { CallDraft } from "../answer-draft.ts";
import { malformed } from "../failures.ts";
import type { OnDelta } from "../provider.ts";

const stops: Readonly<Record<string, StopReason>> = {
  stop: "end",
  tool_calls: "tool-calls",
  function_call: "tool-calls",
  length: "length",
  content_filter: "refusal",
};

/** What servers really send: any part may be missing or null, whatever the SDK's types say. */
interface LooseChunk {
  readonly choices?: readonly LooseChoice[] | null;
  readonly usage?: LooseUsage | null;
}
interface LooseChoice {
  readonly delta?: LooseDelta | null;
  readonly finish_reason?: string | null;
}
interface LooseDelta {
  readonly content?: unknown;
  readonly refusal?: unknown;
  readonly tool_calls?: readonly LooseCall[] | null;
}
interface LooseCall {
  readonly index?: number | null;
  readonly id?: string | null;
  readonly function?: { readonly name?: string | null; readonly arguments?: unknown } | null;
}
interface LooseUsage {
  readonly prompt_tokens?: unknown;
  readonly completion_tokens?: unknown;
  readonly prompt_tokens_details?: { readonly cached_tokens?: unknown } | null;
}

/** Puts the chunks of a Chat Completions stream together. */
export class OpenAiAnswer {
  readonly #vendor: string;
  readonly #draft: AnswerDraft;
  readonly #byIndex = new Map<number, CallDraft>();
  readonly #estimatedInput: () => number;
  #reported: ModelUsage | undefined;
  #isStarted = false;
  #stop: StopReason | undefined;
  #isRefusal = false;

  constructor(options: { vendor: string; onDelta: OnDelta | undefined; estimatedInput: () => number }) {
    this.#vendor = options.vendor;
    this.#draft = new AnswerDraft(options.vendor, options.onDelta);
    this.#estimatedInput = options.estimatedInput;
  }

  add(chunk: OpenAI.ChatCompletionChunk): void {
    const { choices, usage } = chunk as LooseChunk;
    this.#isStarted = true;
    if (usage) this.#reported = toUsage(usage) ?? this.#reported;
    const choice = choices?.[0];
    if (choice?.delta) this.#addDelta(choice.delta);
    if (typeof choice?.finish_reason === "string") this.#stop = stops[choice.finish_reason] ?? "end";
  }

  /** Undefined while nothing has come: a call that was refused costs nothing. */
  usage(): ModelUsage | undefined {
    if (!this.#isStarted) return undefined;
    const outputTokens = this.#draft.estimateTokens();
    return this.#reported ?? { inputTokens: this.#estimatedInput(), cachedInputTokens: 0, outputTokens };
  }

  /** Throws ProviderError when the stream ended before the answer did. */
  finish(model: string): ModelAnswer {
    const usage = this.usage();
    if (this.#stop === undefined || usage === undefined)
      throw malformed(this.#vendor, "the stream ended before the answer did");
    return this.#draft.finish({ stop: this.#isRefusal ? "refusal" : this.#stop, usage, model });
  }

  #addDelta(delta: LooseDelta): void {
    this.#addText(delta.content);
    if (this.#addText(delta.refusal)) this.#isRefusal = true;
    for (const call of delta.tool_calls ?? []) this.#addCall(call);
  }

  #addText(text: unknown): boolean {
    if (typeof text !== "string" || text === "") return false;
    this.#draft.addText(text);
    return true;
  }

  #addCall(delta: LooseCall): void {
    const call = this.#callOf(delta);
    if (call.name === "") call.name = delta.function?.name ?? "";
    const input = delta.function?.arguments;
    if (typeof input === "string") this.#draft.addInput(call, input);
    // Some servers send the parsed object instead of its JSON.
    else if (typeof input === "object" && input !== null) this.#draft.addInput(call, JSON.stringify(input));
  }

  /**
   * The call that a delta belongs to: the one with its index. Some servers leave the index out, or give the same one to all
   * calls; there a new id begins a new call.
   */
  #callOf(delta: LooseCall): CallDraft {
    const id = delta.id ?? "";
    const index = delta.index ?? (id === "" ? Math.max(0, this.#draft.calls.length - 1) : this.#draft.calls.length);
    const known = this.#byIndex.get(index);
    if (known && (id === "" || known.id === "" || known.id === id)) {
      if (known.id === "") known.id = id;
      return known;
    }
    const started = this.#draft.startCall({ id, name: "", input: "" });
    this.#byIndex.set(index, started);
    return started;
  }
}

function toUsage(usage: LooseUsage): ModelUsage | undefined {
  return cleanUsage({
    input: usage.prompt_tokens,
    cached: usage.prompt_tokens_details?.cached_tokens,
    output: usage.completion_tokens,
  });
}
