import type { ModelAnswer, ModelMessage, ModelUsage, ToolDefinition, ToolResult } from "../../domain/turns/model.ts";
import { describeParts, partsOf } from "../../domain/chats/part.ts";
import { estimateTextTokens } from "../../lib/text/text-tokens.ts";
import { ProviderError } from "../provider.ts";
import type { OnDelta, OnUsage, Provider, ProviderRequest } from "../provider.ts";
import { callsOf, newMessages } from "./script.ts";
import type { HeardMessage, ScriptedCall } from "./script.ts";

const modelName = "scripted";

const introduction = [
  "I am crabpot's built-in scripted model: I have no intelligence, and understand only lines that begin with `run <command>`, `read <path>` or `write <path> <text>`.",
  "For a real model, set a provider with its key and a route to it under `models` in config.yaml.",
].join(" ");

/**
 * A deterministic model without a vendor: for trying things out and for tests. It turns the commands that it
 * understands into real tool calls and answers with their results; to all else it says what it is.
 */
export class OfflineProvider implements Provider {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  async complete(
    request: ProviderRequest,
    options: { signal: AbortSignal; onDelta?: OnDelta | undefined; onUsage?: OnUsage | undefined },
  ): Promise<ModelAnswer> {
    options.signal.throwIfAborted();
    if (request.model !== modelName)
      throw new ProviderError("invalid", `${this.name} has only the model ${modelName}, not ${request.model}.`);
    const heard = newMessages(request.messages);
    const wanted = heard.map((message) => ({ message, calls: callsOf(message) }));
    const pending = wanted.flatMap(({ message, calls }) => calls.filter((call) => !wasAsked(call, message, request)));
    const offered = pending.filter((call) => isOffered(call, request.tools));
    const answer =
      offered.length > 0
        ? { text: "", toolCalls: offered.map(({ id, name, input }) => ({ id, name, input })) }
        : { text: this.#answerAll(wanted, request), toolCalls: [] };
    return this.#finish(answer, request, options);
  }

  check(): Promise<{ ok: boolean; detail: string }> {
    return Promise.resolve({ ok: true, detail: "built in, needs no key" });
  }

  /** There is nothing to end. */
  async [Symbol.asyncDispose](): Promise<void> {}

  #answerAll(
    wanted: readonly { message: HeardMessage; calls: readonly ScriptedCall[] }[],
    request: ProviderRequest,
  ): string {
    const results = new Map(wanted.flatMap(({ message }) => resultsAfter(message, request.messages)));
    const isSeveral = wanted.flatMap(({ calls }) => calls).length > 1;
    const answers = wanted.map(({ calls }) =>
      calls.length === 0 ? introduction : calls.map((call) => answerTo(call, results, isSeveral)).join("\n\n"),
    );
    // Said once when several messages in a row are only talk.
    const withoutRepeats = answers.filter((answer, index) => answer !== introduction || answers[index - 1] !== answer);
    return withoutRepeats.join("\n\n") || introduction;
  }

  #finish(
    answer: Pick<ModelAnswer, "text" | "toolCalls">,
    request: ProviderRequest,
    options: { onDelta?: OnDelta | undefined; onUsage?: OnUsage | undefined },
  ): ModelAnswer {
    // A UTF-16 unit costs one and a half tokens at the most by our estimate, so this stays within the limit.
    const fits = estimateTextTokens(answer.text) <= request.maxOutputTokens;
    const text = fits
      ? answer.text
      : answer.text.slice(0, Math.floor((request.maxOutputTokens * 2) / 3)).toWellFormed();
    const usage: ModelUsage = {
      inputTokens: estimateTextTokens(JSON.stringify([request.system, request.messages, request.tools])),
      cachedInputTokens: 0,
      outputTokens: estimateTextTokens(text) + estimateTextTokens(JSON.stringify(answer.toolCalls)),
      isEstimate: true,
    };
    options.onUsage?.(usage);
    if (text !== "") options.onDelta?.(text);
    const stop = answer.toolCalls.length > 0 ? "tool-calls" : fits ? "end" : "length";
    return { text, toolCalls: answer.toolCalls, stop, usage, model: `${this.name}/${modelName}` };
  }
}

function wasAsked(call: ScriptedCall, message: HeardMessage, request: ProviderRequest): boolean {
  return request.messages
    .slice(message.position + 1)
    .some((later) => later.role === "assistant" && later.toolCalls.some(({ id }) => id === call.id));
}

function isOffered(call: ScriptedCall, tools: readonly ToolDefinition[]): boolean {
  return tools.some((tool) => tool.name === call.name);
}

function resultsAfter(message: HeardMessage, messages: readonly ModelMessage[]): [string, ToolResult][] {
  return messages
    .slice(message.position + 1)
    .flatMap((later) => (later.role === "tool" ? later.results : []))
    .map((result) => [result.callId, result]);
}

function answerTo(call: ScriptedCall, results: ReadonlyMap<string, ToolResult>, isSeveral: boolean): string {
  const result = results.get(call.id);
  const output = result ? describeParts(partsOf(result)) : `The tool ${call.name} is not available here.`;
  const shown = output.trim() === "" ? "(no output)" : output;
  return isSeveral ? `${call.header}\n${shown}` : shown;
}
