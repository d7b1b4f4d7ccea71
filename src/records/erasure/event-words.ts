import { type Erasing, erasedText } from "../../domain/erasure.ts";
import type { HostEvent } from "../../domain/events/event.ts";
import { hasWholeWord } from "../../lib/text/whole-words.ts";

/**
 * Data of an event of their groups without their words: arguments of their commands, agents' error texts, and who ended
 * a turn. Other events hold no words. Undefined: unchanged.
 */
export function withoutWords(event: HostEvent, { people, holds, names }: Erasing): object | undefined {
  const { data, actor } = event;
  if (event.type === "agent.failed") return holds(event.data.claim) ? { claim: erasedText } : undefined;
  if (event.type === "agent.overstepped") return holds(event.data.reason) ? { reason: erasedText } : undefined;
  if (event.type === "turn.ended")
    return hasWholeWord(event.data.reason ?? "", names) ? { ...data, reason: erasedText } : undefined;
  if (event.type !== "command.given" || event.data.argument === undefined) return undefined;
  const isTheirs = people.some(({ id }) => actor === `member:${id}`);
  return isTheirs && event.data.argument !== erasedText ? { ...data, argument: erasedText } : undefined;
}
