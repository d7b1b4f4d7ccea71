import type { Session } from "../../domain/turns/session.ts";
import type { Summary } from "../../domain/turns/summary.ts";
import type { Step } from "../../domain/turns/turn.ts";
import type { Store } from "../../stores/contract/store.ts";

/** Part of a parent's conversation shown to a sub-agent. */
export interface Fork {
  readonly cover: readonly Summary[];
  readonly steps: readonly Step[];
}

/** The parent's conversation at the sub-agent's start, regardless of later changes; undefined: none. */
export async function forkOf(
  store: {
    readonly subAgents: Pick<Store["subAgents"], "ofSession">;
    readonly turns: Pick<Store["turns"], "history">;
    readonly summaries: Pick<Store["summaries"], "cover">;
  },
  session: Session,
): Promise<Fork | undefined> {
  const agent = await store.subAgents.ofSession(session.id);
  if (agent?.forksFrom === undefined) return undefined;
  const from = Math.max(agent.forksFrom, session.windowStart);
  const steps = await store.turns.history(agent.parent, agent.conversation, from);
  const cover =
    agent.forksFrom === 0 ? [] : await store.summaries.cover(agent.parent, agent.conversation, agent.forksFrom);
  return { cover, steps: steps.filter(({ seq }) => seq < agent.step) };
}
