import type OpenAI from "openai";

import type { ModelAnswer, ModelUsage, StopReason } from "../../domain/turns/model.ts";
import { isJsonObject } from "../../lib/text/parse-json.ts";
import { AnswerDraft, cleanUsage } from "../wire/answer-draft.ts";
import type { CallDraft } from "../wire/answer-draft.ts";
import { malformed } from "../wire/failures.ts";
import { ProviderError } from "../provider.ts";
import type { OnDelta, ProviderFailure } from "../provider.ts";
import { textFields } from "./thoughts.ts";
import type { Thought } from "./thoughts.ts";
import { TaggedThoughts, withoutUnopenedThought } from "./tagged-thoughts.ts";

const stops: Readonly<Record<string, StopReason>> = {
  stop: "end",
  tool_calls: "tool-calls",
  function_call: "tool-calls",
  length: "length",
  /** Mistral: the window is full. */
  model_length: "length",
  content_filter: "refusal",
};

/** With these a server says that it could not finish; the answer is none. */
const breaks: Readonly<Record<string, ProviderFailure>> = {
  error: "unavailable",
  /** DeepSeek. */
  insufficient_system_resource: "overloaded",
};

/** A server's real chunk: any part may be missing or null, despite the SDK's types. */
interface LooseChunk {
  /** Put in by the transport where the stream said `[DONE]`. */
  readonly ended?: boolean | null;
  readonly choices?: readonly LooseChoice[] | null;
  readonly usage?: LooseUsage | null;
  /** Groq. */
  readonly x_groq?: { readonly usage?: LooseUsage | null } | null;
}
interface LooseChoice {
  readonly delta?: LooseDelta | null;
  /** In place of a delta: the whole answer of a server that knows no streaming. */
  readonly message?: LooseDelta | null;
  readonly finish_reason?: string | null;
  /** Kimi. */
  readonly usage?: LooseUsage | null;
}
interface LooseDelta {
  readonly content?: unknown;
  readonly refusal?: unknown;
  readonly reasoning_content?: unknown;
  readonly reasoning?: unknown;
  readonly reasoning_details?: unknown;
  readonly tool_calls?: readonly LooseCall[] | null;
}
interface LooseCall {
  readonly index?: number | null;
  readonly id?: string | null;
  readonly function?: { readonly name?: string | null; readonly arguments?: unknown } | null;
  readonly extra_content?: unknown;
}
interface LooseUsage {
  readonly prompt_tokens?: unknown;
  readonly completion_tokens?: unknown;
  readonly total_tokens?: unknown;
  readonly prompt_tokens_details?: { readonly cached_tokens?: unknown; readonly cache_write_tokens?: unknown } | null;
  /** DeepSeek, before it had the field above as well. */
  readonly prompt_cache_hit_tokens?: unknown;
  /** Kimi. */
  readonly cached_tokens?: unknown;
}

/** Puts the chunks of a Chat Completions stream together. */
export class OpenAiAnswer {
  readonly #vendor: string;
  readonly #draft: AnswerDraft;
  readonly #byIndex = new Map<number, CallDraft>();
  readonly #estimatedInput: () => number;
  readonly #thoughts = new Map<(typeof textFields)[number], string>();
  readonly #details: Record<string, unknown>[] = [];
  readonly #chunks: Record<string, unknown>[] = [];
  readonly #signatures = new Map<CallDraft, Record<string, unknown>>();
  #reported: ModelUsage | undefined;
  #isStarted = false;
  #stop: StopReason | undefined;
  #hasEnded = false;
  readonly #tagged = new TaggedThoughts();
  #breakage: ProviderError | undefined;
  #isRefusal = false;

  constructor(options: { vendor: string; onDelta: OnDelta | undefined; estimatedInput: () => number }) {
    this.#vendor = options.vendor;
    this.#draft = new AnswerDraft(options.vendor, options.onDelta);
    this.#estimatedInput = options.estimatedInput;
  }

  add(chunk: OpenAI.ChatCompletionChunk): void {
    const { choices, usage, x_groq, ended } = chunk as LooseChunk;
    if (ended === true) this.#hasEnded = true;
    else this.#isStarted = true;
    const choice = choices?.[0];
    const counted = usage ?? x_groq?.usage ?? choice?.usage;
    if (counted) this.#reported = toUsage(counted) ?? this.#reported;
    if (choice) this.#addChoice(choice);
  }

  #addChoice({ delta, message, finish_reason }: LooseChoice): void {
    const content = delta ?? message;
    if (content) this.#addDelta(content);
    if (typeof finish_reason === "string") this.#end(finish_reason);
  }

  #end(reason: string): void {
    const failure = breaks[reason];
    if (failure) this.#breakage = new ProviderError(failure, `${this.#vendor} ended its answer with "${reason}"`);
    this.#stop = stops[reason] ?? "end";
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
    if (this.#breakage) throw this.#breakage;
    this.#addTaken(this.#tagged.end());
    const usage = this.usage();
    const stop = this.#stop ?? this.#stopOfEnded();
    if (stop === undefined || usage === undefined)
      throw malformed(this.#vendor, "the stream ended before the answer did");
    const thoughts = this.#allThoughts();
    const answer = this.#draft.finish({ stop: this.#isRefusal ? "refusal" : stop, usage, model, thoughts });
    return { ...answer, text: withoutUnopenedThought(answer.text) };
  }

  /** Servers that never say why they stop: what they have sent before the end of the stream is whole. */
  #stopOfEnded(): StopReason | undefined {
    if (!this.#hasEnded) return undefined;
    if (this.#draft.calls.length > 0) return "tool-calls";
    return this.#draft.hasText ? "end" : undefined;
  }

  #allThoughts(): readonly Thought[] {
    const texts = [...this.#thoughts].map(([field, text]): Thought => ({ field, text: text.toWellFormed() }));
    const details: Thought[] =
      this.#details.length === 0 ? [] : [{ field: "reasoning_details", details: this.#details }];
    const signatures = this.#draft.calls.flatMap((draft, call): Thought[] => {
      const content = this.#signatures.get(draft);
      return content ? [{ field: "extra_content", call, content }] : [];
    });
    const chunks: Thought[] = this.#chunks.length === 0 ? [] : [{ field: "content", chunks: this.#chunks }];
    return [...texts, ...details, ...chunks, ...signatures];
  }

  #addDelta(delta: LooseDelta): void {
    this.#addThoughts(delta);
    this.#addContent(delta.content);
    if (this.#addText(delta.refusal)) this.#isRefusal = true;
    for (const call of delta.tool_calls ?? []) this.#addCall(call);
  }

  #addThoughts(delta: LooseDelta): void {
    for (const field of textFields) {
      const text = delta[field];
      if (typeof text !== "string" || text === "") continue;
      this.#draft.countThought(text);
      this.#thoughts.set(field, (this.#thoughts.get(field) ?? "") + text);
    }
    if (!Array.isArray(delta.reasoning_details)) return;
    for (const detail of (delta.reasoning_details as readonly unknown[]).filter(isJsonObject)) {
      this.#draft.countThought(JSON.stringify(detail));
      addDetail(this.#details, detail);
    }
  }

  /** Mistral's models that think send a list: thoughts, then text. */
  #addContent(content: unknown): void {
    if (!Array.isArray(content)) return void this.#addText(content);
    for (const chunk of (content as readonly unknown[]).filter(isJsonObject)) {
      if (chunk["type"] === "text") this.#addText(chunk["text"]);
      if (chunk["type"] !== "thinking") continue;
      this.#draft.countThought(JSON.stringify(chunk["thinking"] ?? ""));
      addThinking(this.#chunks, chunk);
    }
  }

  #addText(text: unknown): boolean {
    if (typeof text !== "string" || text === "") return false;
    this.#addTaken(this.#tagged.take(text));
    return true;
  }

  #addTaken({ text, thought }: ReturnType<TaggedThoughts["take"]>): void {
    this.#draft.addText(text);
    if (thought !== "") this.#draft.countThought(thought);
  }

  #addCall(delta: LooseCall): void {
    const call = this.#callOf(delta);
    if (call.name === "") call.name = delta.function?.name ?? "";
    if (isJsonObject(delta.extra_content)) {
      this.#draft.countThought(JSON.stringify(delta.extra_content));
      this.#signatures.set(call, delta.extra_content);
    }
    const input = delta.function?.arguments;
    if (typeof input === "string") this.#draft.addInput(call, input);
    // Some servers send the parsed object instead of its JSON.
    else if (typeof input === "object" && input !== null) this.#draft.addInput(call, JSON.stringify(input));
  }

  /**
   * The call that a delta belongs to: the one with its index. Some servers leave the index out, or give the same one to
   * all calls; there a new id begins a new call.
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

/** Pieces of one detail, by its number and type, are put together again; a signature comes with the last of them. */
function addDetail(details: Record<string, unknown>[], piece: Record<string, unknown>): void {
  const last = details.at(-1);
  const isNext = last?.["index"] !== undefined && last["index"] === piece["index"] && last["type"] === piece["type"];
  if (!isNext) return void details.push({ ...piece });
  for (const [key, value] of Object.entries(piece)) {
    const before = last[key];
    const isText = ["text", "summary", "data", "signature"].includes(key) && typeof before === "string";
    if (isText && typeof value === "string") last[key] = before + value;
    else if (value !== null && value !== undefined) last[key] = value;
  }
}

/** Its pieces are one chunk with one text again, as it is given back. */
function addThinking(chunks: Record<string, unknown>[], piece: Record<string, unknown>): void {
  const texts = Array.isArray(piece["thinking"]) ? (piece["thinking"] as readonly unknown[]).filter(isJsonObject) : [];
  const text = texts.map((part) => (typeof part["text"] === "string" ? part["text"] : "")).join("");
  const before = chunks.pop();
  const parts = (before?.["thinking"] ?? []) as readonly { readonly text: string }[];
  chunks.push({ ...before, ...piece, thinking: [{ type: "text", text: (parts[0]?.text ?? "") + text }] });
}

function toUsage(usage: LooseUsage): ModelUsage | undefined {
  return cleanUsage({
    input: usage.prompt_tokens,
    cached: usage.prompt_tokens_details?.cached_tokens ?? usage.cached_tokens ?? usage.prompt_cache_hit_tokens,
    written: usage.prompt_tokens_details?.cache_write_tokens,
    output: outputOf(usage),
  });
}

/** xAI and Gemini leave what was thought out of `completion_tokens`, and count it in the sum. */
function outputOf({ prompt_tokens: input, completion_tokens: output, total_tokens: total }: LooseUsage): unknown {
  const isCounted = typeof input === "number" && typeof output === "number" && typeof total === "number";
  return isCounted ? Math.max(output, total - input) : output;
}
