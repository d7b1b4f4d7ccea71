import { plainSentence } from "../../lib/text/plain-words.ts";
import type { CompactionOutcome } from "./compactor.ts";
import { tokensOfConversation } from "./shown-conversation.ts";

/** Describes the result of a compaction for the asking chat. */
export function describeCompaction(
  outcome: CompactionOutcome,
  conversation: { readonly before: number; readonly keptTokens: number; readonly isMain: boolean },
): string {
  const before = inTokens(conversation.before);
  switch (outcome.kind) {
    case "compacted":
      return `The older part of this conversation is now summarized: it took ${before}, and takes ${inTokens(tokensOfConversation(outcome.shown))} now. All of it is kept.`;
    case "evicted":
      return `No model gave a usable summary, so I no longer see the oldest part of this conversation: it took ${before}, and takes ${inTokens(tokensOfConversation(outcome.shown))} now. All of it is kept.`;
    case "nothing":
      return `Nothing to summarize: this conversation takes ${before}, and the newest ${inTokens(conversation.keptTokens)} always stay in full.`;
    case "stale":
      return "A new conversation has begun meanwhile.";
    case "failed":
      // What a vendor says is the operator's business.
      return conversation.isMain
        ? `This conversation is unchanged, ${before}: ${plainSentence(outcome.reason)}`
        : `This conversation is unchanged, ${before}: no model is available. I will retry later.`;
    default:
      return outcome satisfies never;
  }
}

function inTokens(count: number): string {
  return `about ${Math.round(count).toLocaleString("en-US")} tokens`;
}
