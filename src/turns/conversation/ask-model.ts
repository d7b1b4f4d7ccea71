import { limitImages } from "../../context/image-limit.ts";
import { toModelMessages } from "../../context/model-messages.ts";
import { estimatePromptTokens } from "../../context/tokens.ts";
import { planWindow } from "../../context/window.ts";
import type { ModelAnswer, ToolDefinition } from "../../domain/model.ts";
import type { Session } from "../../domain/session.ts";
import type { Step } from "../../domain/turn.ts";
import type { SessionStore } from "../../stores/session-store.ts";
import type { Store, TurnStore } from "../../stores/store.ts";
import type { ConversationPrompts } from "./conversation-prompts.ts";
import { StepMemory } from "./step-memory.ts";
import type { TurnScope } from "../turn-options.ts";

export interface AskModelOptions {
  readonly store: {
    readonly turns: Pick<TurnStore, "history">;
    readonly sessions: Pick<SessionStore, "setWindowStart">;
    readonly erasure: Pick<Store["erasure"], "rewrites">;
  };
  readonly toolsOf: (scope: TurnScope) => Promise<{ readonly definitions: readonly ToolDefinition[] }>;
  readonly prompts: Pick<ConversationPrompts, "systemOf" | "renew">;
  /** What goes before the steps of a sub-agent's session. */
  readonly before: (session: Session) => Promise<readonly Step[]>;
}

/** Shows the model what the store holds of the conversation, as much as there is room for, and returns its answer. */
export function createAskModel(
  options: AskModelOptions,
): (scope: TurnScope, signal: AbortSignal) => Promise<ModelAnswer> {
  const memory = new StepMemory(options.store.turns, () => options.store.erasure.rewrites());
  /** Where the window begins by now, of sessions as they were when their turn began. */
  const windowStarts = new WeakMap<Session, number>();
  const prefixes = new WeakMap<Session, readonly Step[]>();
  const beforeOf = async (session: Session): Promise<readonly Step[]> => {
    const known = prefixes.get(session) ?? (await options.before(session));
    prefixes.set(session, known);
    const from = windowStarts.get(session) ?? session.windowStart;
    return known.filter(({ seq }) => seq >= from);
  };
  return async (scope, signal) => {
    const { turn, group, session, clock } = scope;
    const { models } = scope.settings;
    const windowStart = windowStarts.get(session) ?? session.windowStart;
    const [{ definitions: tools }, own] = await Promise.all([
      options.toolsOf(scope),
      memory.history(session.id, turn.conversation, windowStart),
    ]);
    const history = session.kind === "agent" ? [...(await beforeOf(session)), ...own] : own;
    const known = await options.prompts.systemOf(scope, history[0]?.at ?? turn.startedAt);
    const fixedTokens = (system: readonly string[]): number => estimatePromptTokens({ system, messages: [], tools });
    const budgetTokens = models.promptTokens(group.model) - fixedTokens(known);
    const window = planWindow({ steps: history, windowStart, budgetTokens });
    const steps = limitImages(window.steps);
    const isCut = window.windowStart !== windowStart;
    if (isCut) {
      await options.store.sessions.setWindowStart(session.id, window.windowStart);
      windowStarts.set(session, window.windowStart);
    }
    // The prompt changes from its beginning anyway, and notes of earlier changes may be gone with what was cut.
    const system = isCut ? await options.prompts.renew(scope, window.steps[0]?.at ?? turn.startedAt) : known;
    clock.enter("model");
    const answer = await models.complete({
      group: group.name,
      turn: turn.id,
      route: group.model,
      groupBudget: group.budget,
      system,
      messages: toModelMessages(steps),
      tools,
      inputTokens: steps.reduce((sum, step) => sum + step.tokens, fixedTokens(system)),
      signal,
    });
    clock.enter("context");
    return answer;
  };
}
