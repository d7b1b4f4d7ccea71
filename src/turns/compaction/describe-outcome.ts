import { plainSentence } from "../../lib/text/plain-words.ts";
import type { CompactionOutcome } from "./compactor.ts";
import { shownTokens } from "./shown-conversation.ts";

/** What came of a compaction, for the chat in which somebody has asked for it. */
export function describeOutcome(
  outcome: CompactionOutcome,
  conversation: { readonly before: number; readonly keptTokens: number; readonly isMain: boolean },
): string {
  const before = inTokens(conversation.before);
  switch (outcome.kind) {
    case "compacted":
      return `The older part of this conversation is summed up: it took ${before}, and takes ${inTokens(shownTokens(outcome.shown))} now. All of it is kept.`;
    case "evicted":
      return `No model gave a summary that could be used, so the oldest part of this conversation is not shown to me any more: it took ${before}, and takes ${inTokens(shownTokens(outcome.shown))} now. All of it is kept.`;
    case "nothing":
      return `There is nothing to sum up: this conversation takes ${before}, and the newest ${inTokens(conversation.keptTokens)} stay as they are.`;
    case "stale":
      return "A new conversation has begun meanwhile.";
    case "failed":
      // What a vendor says is the operator's business.
      return conversation.isMain
        ? `This conversation stays as it is, ${before}: ${plainSentence(outcome.reason)}`
        : `This conversation stays as it is, ${before}: no model could be asked. I try again later.`;
    default:
      return outcome satisfies never;
  }
}

function inTokens(count: number): string {
  return `about ${Math.round(count).toLocaleString("en-US")} tokens`;
}
