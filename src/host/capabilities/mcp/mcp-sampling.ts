import type { Group } from "../../../domain/chats/group.ts";
import type { ModelMessage } from "../../../domain/turns/model.ts";
import type { Sampled, SampleRequest } from "../../../abilities/mcp/connection/wishes.ts";
import type { ProviderSet } from "../../../models/routes/provider-set.ts";
import type { AppContext } from "../../context.ts";
import { createConfiguredModels } from "../../models.ts";

const mostInAMinute = 10;
const mostTokens = 4_000;
const minuteMs = 60_000;

/** Has a group's models answer what one of its servers asks, without tools and within the group's budget. */
export function createSampling(
  context: AppContext,
  providers: ProviderSet,
  group: Group,
): (request: SampleRequest, signal: AbortSignal) => Promise<Sampled> {
  const models = createConfiguredModels(context, providers);
  let asked: number[] = [];
  return async ({ system, messages, maxTokens }, signal) => {
    const now = context.clock.monotonic();
    asked = asked.filter((at) => at > now - minuteMs);
    if (asked.length >= mostInAMinute) throw new Error(`at most ${mostInAMinute} answers are given in a minute`);
    asked.push(now);
    const { text, model } = await models.complete({
      group: group.name,
      route: group.model,
      groupBudget: group.budget,
      system: system === "" ? [] : [system],
      messages: messages.map(({ role, text: said }): ModelMessage =>
        role === "user" ? { role, text: said } : { role, text: said, toolCalls: [] },
      ),
      tools: [],
      mostTokens: Math.max(1, Math.min(maxTokens, mostTokens)),
      signal,
    });
    return { text, model };
  };
}
