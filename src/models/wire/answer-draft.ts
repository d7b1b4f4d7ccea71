import { randomUUID } from "node:crypto";

import type { ModelAnswer, ModelUsage, StopReason, Thoughts, ToolCall } from "../../domain/turns/model.ts";
import { estimateTextTokens } from "../../lib/text/text-tokens.ts";
import { readCallInput } from "./call-input.ts";
import { malformed } from "./failures.ts";
import type { OnDelta } from "../provider.ts";

/** Far beyond the longest answer of any model (128,000 tokens), and small enough to be held in memory. */
const maxChars = 4 * 1024 * 1024;
const maxToolCalls = 64;
const maxNameChars = 128;
const maxIdChars = 200;

/** A tool call that is still streaming in; `input` is JSON text. */
export interface CallDraft {
  id: string;
  name: string;
  input: string;
}

/** Collects an answer as it streams in and checks it at the end. */
export class AnswerDraft {
  readonly #vendor: string;
  readonly #onDelta: OnDelta | undefined;
  readonly #calls: CallDraft[] = [];
  #text = "";
  #thoughtTokens = 0;
  #chars = 0;

  constructor(vendor: string, onDelta: OnDelta | undefined) {
    this.#vendor = vendor;
    this.#onDelta = onDelta;
  }

  addText(text: string): void {
    if (text === "") return;
    this.#count(text);
    this.#text += text;
    this.#onDelta?.(text);
  }

  startCall(call: CallDraft): CallDraft {
    if (this.#calls.length >= maxToolCalls)
      throw malformed(this.#vendor, `it asked for more than ${maxToolCalls} tools at once`);
    this.#count(call.input);
    const draft = { ...call };
    this.#calls.push(draft);
    return draft;
  }

  addInput(call: CallDraft, json: string): void {
    this.#count(json);
    call.input += json;
  }

  /** Counts reasoning text, which is kept in the vendor's form elsewhere. */
  countThought(text: string): void {
    this.#count(text);
    this.#thoughtTokens += estimateTextTokens(text);
  }

  get calls(): readonly CallDraft[] {
    return this.#calls;
  }

  get hasText(): boolean {
    return this.#text.trim() !== "";
  }

  /** Estimated tokens received so far. */
  estimateTokens(): number {
    const parts = [this.#text, ...this.#calls.map((call) => call.name + call.input)];
    return parts.reduce((sum, part) => sum + estimateTextTokens(part), this.#thoughtTokens);
  }

  /**
   * The finished answer. One cut at the output limit keeps only its text: its calls and reasoning are incomplete.
   * Throws ProviderError for a call without a name.
   */
  finish(end: { stop: StopReason; usage: ModelUsage; model: string; thoughts?: Thoughts | undefined }): ModelAnswer {
    const toolCalls = end.stop === "length" ? [] : this.#finishCalls();
    const stop = toolCalls.length > 0 ? "tool-calls" : end.stop === "tool-calls" ? "end" : end.stop;
    const { usage, model, thoughts = [] } = end;
    const isWhole = end.stop !== "length" && thoughts.length > 0;
    return { text: this.#text.toWellFormed(), toolCalls, stop, usage, model, ...(isWhole && { thoughts }) };
  }

  #finishCalls(): ToolCall[] {
    const ids = new Set<string>();
    return this.#calls.map((call) => {
      if (call.name === "" || call.name.length > maxNameChars)
        throw malformed(this.#vendor, "a tool call without a usable name");
      const isUsable = call.id !== "" && call.id.length <= maxIdChars && !ids.has(call.id);
      const id = isUsable ? call.id : `call_${randomUUID().replaceAll("-", "")}`;
      ids.add(id);
      return { id, name: call.name, input: readCallInput(call.input) };
    });
  }

  #count(text: string): void {
    this.#chars += text.length;
    if (this.#chars > maxChars) throw malformed(this.#vendor, `it is longer than ${maxChars} characters`);
  }
}

/**
 * Counts that a vendor reported, made safe: whole, not negative, cached and written ones parts of all. `undefined` when
 * unusable.
 */
export function cleanUsage(reported: {
  readonly input: unknown;
  readonly cached: unknown;
  readonly written?: unknown;
  readonly output: unknown;
}): ModelUsage | undefined {
  const [inputTokens, outputTokens] = [toCount(reported.input), toCount(reported.output)];
  if (inputTokens === undefined || outputTokens === undefined) return undefined;
  const cachedInputTokens = Math.min(toCount(reported.cached) ?? 0, inputTokens);
  const writtenInputTokens = Math.min(toCount(reported.written) ?? 0, inputTokens - cachedInputTokens);
  return { inputTokens, cachedInputTokens, ...(writtenInputTokens > 0 && { writtenInputTokens }), outputTokens };
}

function toCount(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? Math.ceil(value) : undefined;
}
