import type { ModelMessage } from "../../domain/turns/model.ts";
import { partsOf } from "../../domain/chats/part.ts";

/** Drops reasoning of other models, which the vendor would refuse. */
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
