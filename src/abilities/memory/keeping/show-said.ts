import { escapeAttribute } from "../../../lib/text/markup.ts";
import type { SaidItem } from "../../../processes/memory-schemas.ts";
import { escapeAndCut } from "./show-memories.ts";

/** Messages by what they are called in a prompt: as their channel calls them, where that names one of them only. */
export function nameMessages(
  said: readonly SaidItem[],
  taken: ReadonlyMap<string, unknown> = new Map(),
): Map<string, SaidItem> {
  const messages = new Map<string, SaidItem>();
  for (const one of said) {
    const given = one.sources[0];
    const isFree = given !== undefined && given !== "" && !messages.has(given) && !taken.has(given);
    messages.set(isFree ? given : one.id, one);
  }
  return messages;
}

/** Formats messages for a model. All text by people is escaped. */
export function showSaid(messages: ReadonlyMap<string, SaidItem>, at: (time: number) => string): string[] {
  const lines = [...messages].map(([id, one]) => {
    const by = one.origin === "agent" ? ' by="assistant"' : "";
    const from = escapeAttribute(one.sender.slice(0, 128));
    return `<message id="${escapeAttribute(id)}" from="${from}"${by} time="${at(one.time)}">${escapeAndCut(one.text)}</message>`;
  });
  return ["<messages>", ...lines, "</messages>"];
}
