import { toModelMessages } from "../context/model-messages.ts";
import { systemPrompt } from "../context/system-prompt.ts";
import { estimatePromptTokens } from "../context/tokens.ts";
import type { LocalTime } from "../context/time-zone.ts";
import { planWindow } from "../context/window.ts";
import type { Access, BudgetLimits, Chat, Group } from "../domain/group.ts";
import type { ModelAnswer, ModelMessage, ToolDefinition } from "../domain/model.ts";
import type { Session } from "../domain/session.ts";
import type { SessionStore, TurnStore } from "../stores/store.ts";
import { StepMemory } from "./step-memory.ts";
import type { TurnScope } from "./turn-parts.ts";

export interface AskModelParts {
  readonly store: {
    readonly turns: Pick<TurnStore, "history">;
    readonly sessions: Pick<SessionStore, "setWindowStart">;
  };
  readonly models: {
    complete(call: {
      readonly group: string;
      readonly route: string | undefined;
      readonly groupBudget: BudgetLimits;
      readonly system: readonly string[];
      readonly messages: readonly ModelMessage[];
      readonly tools: readonly ToolDefinition[];
      readonly inputTokens: number;
      readonly signal: AbortSignal;
    }): Promise<ModelAnswer>;
    promptTokens(route: string | undefined): number;
  };
  readonly tools: readonly ToolDefinition[];
  readonly agentName: string;
  readonly timeZone: LocalTime;
  /** The group's AGENTS.md; empty when it has none. */
  readonly instructionsOf: (group: Group, session: Session) => Promise<string>;
  /** Folders as the group's agent sees them. */
  readonly foldersOf: (group: Group) => readonly { readonly path: string; readonly access: Access }[];
  /** What its platform says of the group's chat. */
  readonly chatOf?: (group: Group) => Promise<Chat | undefined>;
  /** Places that its containers can reach, as `host:port`. */
  readonly networkFor?: (group: Group) => readonly string[];
}

/** Shows the model what the store holds of the conversation, as much as there is room for, and returns its answer. */
export function createAskModel(parts: AskModelParts): (scope: TurnScope, signal: AbortSignal) => Promise<ModelAnswer> {
  const memory = new StepMemory(parts.store.turns);
  /** Where the window begins by now, of sessions as they were when their turn began. */
  const windowStarts = new WeakMap<Session, number>();
  return async ({ turn, group, session, clock }, signal) => {
    const windowStart = windowStarts.get(session) ?? session.windowStart;
    const [history, instructions, chat] = await Promise.all([
      memory.history(session.id, turn.conversation, windowStart),
      parts.instructionsOf(group, session),
      parts.chatOf?.(group),
    ]);
    const { agentName, timeZone, tools } = parts;
    const systemSince = (startedAt: number): readonly string[] =>
      systemPrompt({
        agentName,
        group: group.name,
        folders: parts.foldersOf(group),
        network: parts.networkFor?.(group) ?? [],
        chat: chat && { title: chat.title, members: (chat.members ?? []).map(({ name }) => name) },
        instructions,
        timeZone,
        startedAt,
      });
    const fixedTokens = estimatePromptTokens({ system: systemSince(turn.startedAt), messages: [], tools });
    const budgetTokens = parts.models.promptTokens(group.model) - fixedTokens;
    const window = planWindow({ steps: history, windowStart, budgetTokens });
    if (window.windowStart !== windowStart) {
      await parts.store.sessions.setWindowStart(session.id, window.windowStart);
      windowStarts.set(session, window.windowStart);
    }
    clock.enter("model");
    const answer = await parts.models.complete({
      group: group.name,
      route: group.model,
      groupBudget: group.budget,
      // The date of the first step that is sent: it changes only when the window is cut, and with it the whole prompt.
      system: systemSince(window.steps[0]?.at ?? turn.startedAt),
      messages: toModelMessages(window.steps),
      tools,
      inputTokens: window.steps.reduce((sum, step) => sum + step.tokens, fixedTokens),
      signal,
    });
    clock.enter("context");
    return answer;
  };
}
