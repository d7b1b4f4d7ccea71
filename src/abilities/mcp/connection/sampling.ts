import type { Group } from "../../../domain/chats/group.ts";
import type { ModelMessage } from "../../../domain/turns/model.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import type { ConfiguredModels } from "../../../models/configured-models.ts";
import type { Wishes } from "./wishes.ts";

const mostInAMinute = 10;
const mostTokens = 4_000;
const minuteMs = 60_000;

/** Has a group's models answer what one of its servers asks, without tools and within the group's budget. */
export function createSampling(
  { models, clock }: { readonly models: Pick<ConfiguredModels, "complete">; readonly clock: Pick<Clock, "monotonic"> },
  group: Group,
): NonNullable<Wishes["sample"]> {
  let asked: number[] = [];
  return async ({ system, messages, maxTokens }, signal) => {
    const now = clock.monotonic();
    asked = asked.filter((at) => at > now - minuteMs);
    if (asked.length >= mostInAMinute) throw new Error(`at most ${mostInAMinute} answers are given in a minute`);
    asked.push(now);
    return models.complete({
      group: group.name,
      route: group.model,
      groupBudget: group.budget,
      system: system === "" ? [] : [system],
      messages: messages.map(({ role, text }): ModelMessage =>
        role === "user" ? { role, text } : { role, text, toolCalls: [] },
      ),
      tools: [],
      mostTokens: Math.max(1, Math.min(maxTokens, mostTokens)),
      signal,
    });
  };
}
