import type { ModelMessage, ToolCall, ToolResult } from "../domain/model.ts";

/** A result as the vendor gets it: never empty, which some of them refuse. */
export function outputText(result: ToolResult): string {
  const text = result.output.toWellFormed();
  return text.trim() === "" ? "(no output)" : text;
}

/** Text as the vendor gets it; `undefined` when there is nothing in it, which all of them refuse. */
export function textOrNothing(text: string): string | undefined {
  return text.trim() === "" ? undefined : text.toWellFormed();
}

/** JSON without lone surrogates, which vendors' parsers refuse. */
export function wellFormedJson(value: {}): string {
  return JSON.stringify(value, (_key, part: unknown) => (typeof part === "string" ? part.toWellFormed() : part));
}

export type WireMessage =
  | { readonly role: "user"; readonly texts: readonly string[] }
  | { readonly role: "assistant"; readonly text: string | undefined; readonly toolCalls: readonly ToolCall[] }
  | { readonly role: "tool"; readonly results: readonly ToolResult[] };

/**
 * The conversation in the form that all vendors accept: no empty messages, users' messages in a row made one, and call ids
 * of at most 40 letters, digits, `_` and `-` that occur once. An id depends only on what stands before it, so that a longer
 * conversation begins with the same bytes as the shorter one did.
 */
export function toWireMessages(messages: readonly ModelMessage[]): WireMessage[] {
  const ids = new CallIds();
  const wire: WireMessage[] = [];
  for (const message of messages) {
    const next = toWireMessage(message, ids);
    const last = wire.at(-1);
    if (next === undefined) continue;
    if (next.role === "user" && last?.role === "user")
      wire[wire.length - 1] = { role: "user", texts: [...last.texts, ...next.texts] };
    else wire.push(next);
  }
  return wire;
}

function toWireMessage(message: ModelMessage, ids: CallIds): WireMessage | undefined {
  if (message.role === "tool") {
    const results = message.results.map((result) => ({ ...result, callId: ids.current(result.callId) }));
    return results.length === 0 ? undefined : { role: "tool", results };
  }
  const text = textOrNothing(message.text);
  if (message.role === "user") return text === undefined ? undefined : { role: "user", texts: [text] };
  const toolCalls = message.toolCalls.map((call) => ({ ...call, id: ids.next(call.id) }));
  return text === undefined && toolCalls.length === 0 ? undefined : { role: "assistant", text, toolCalls };
}

class CallIds {
  readonly #used = new Set<string>();
  readonly #current = new Map<string, string>();

  next(id: string): string {
    const clean = id.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 32) || "call";
    let wireId = clean;
    for (let count = 2; this.#used.has(wireId); count += 1) wireId = `${clean}_${count}`;
    this.#used.add(wireId);
    this.#current.set(id, wireId);
    return wireId;
  }

  current(id: string): string {
    return this.#current.get(id) ?? id;
  }
}
