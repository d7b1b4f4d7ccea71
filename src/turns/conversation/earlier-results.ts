import { resultId, turnPrefixOf } from "../context/result-note.ts";
import { describeParts, partsOf } from "../../domain/chats/part.ts";
import { ToolError } from "../../protocol/tools.ts";
import type { TurnStore } from "../../stores/contract/store.ts";
import type { ResultPort } from "../../tools/results/result-port.ts";
import type { TurnScope } from "../turn-scope.ts";

/** Turns whose ids begin like this: nearly always there is one. */
const likeTurns = 8;

/**
 * Reads results of the turn's own conversation again. Whatever else an id names, another session's result or nothing at
 * all, gets the same refusal, so that it tells nothing.
 */
export function earlierResults(
  turns: Pick<TurnStore, "get" | "idsBeginningWith" | "steps">,
  { turn, session }: Pick<TurnScope, "turn" | "session">,
): ResultPort {
  return {
    read: async (id, from, chars) => {
      for (const known of await turns.idsBeginningWith(turnPrefixOf(id), likeTurns)) {
        const found = await turns.get(known);
        if (found?.session !== session.id || found.conversation !== turn.conversation) continue;
        const words = await wordsOf(turns, found.id, id);
        if (words !== undefined) return { text: cut(words, from, chars), chars: words.length };
      }
      throw new ToolError(
        `There is no result ${id} in this conversation, or it is not kept anymore. Take the id from the note that stands in its place.`,
      );
    },
  };
}

async function wordsOf(turns: Pick<TurnStore, "steps">, turn: string, id: string): Promise<string | undefined> {
  for (const step of await turns.steps(turn)) {
    if (step.body.kind !== "tools") continue;
    const result = step.body.results.find((_, index) => resultId({ step, index }) === id);
    if (result) return describeParts(partsOf(result));
  }
  return undefined;
}

/** A pair of surrogates at an edge stays whole: it comes with the piece in which it begins. */
function cut(words: string, from: number, chars: number): string {
  return words.slice(edge(words, from), edge(words, from + chars));
}

function edge(words: string, at: number): number {
  const isInPair = at > 0 && /[\uDC00-\uDFFF]/.test(words.charAt(at)) && /[\uD800-\uDBFF]/.test(words.charAt(at - 1));
  return isInPair ? at + 1 : at;
}
