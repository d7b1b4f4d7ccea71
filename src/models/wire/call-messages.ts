import type { ModelMessage } from "../../domain/turns/model.ts";
import { partsOf } from "../../domain/chats/part.ts";

/** What another model has thought is of no use to this one, and its vendor would refuse it. */
export function withThoughtsOf(reference: string, messages: readonly ModelMessage[]): readonly ModelMessage[] {
  return messages.map((message) => {
    if (message.role !== "assistant" || !message.thoughts || message.thoughts.by === reference) return message;
    const { thoughts: _others, ...said } = message;
    return said;
  });
}

/** By their SHA-256, each once. */
export function imagesIn(messages: readonly ModelMessage[]): string[] {
  const parts = messages.flatMap((message) => {
    if (message.role === "assistant") return [];
    return message.role === "user" ? partsOf(message) : message.results.flatMap(partsOf);
  });
  return [...new Set(parts.flatMap((part) => (part.kind === "image" ? [part.blob] : [])))];
}
