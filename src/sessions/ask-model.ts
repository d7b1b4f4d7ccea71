import { toModelMessages } from "../context/model-messages.ts";
import { systemPrompt } from "../context/system-prompt.ts";
import { estimatePromptTokens } from "../context/tokens.ts";
import { planWindow } from "../context/window.ts";
import type { Access, BudgetLimits, Group } from "../domain/group.ts";
import type { ModelAnswer, ModelMessage, ToolDefinition } from "../domain/model.ts";
import type { SessionStore, TurnStore } from "../stores/store.ts";
import type { TurnScope } from "./turn-parts.ts";

export interface AskModelParts {
  readonly store: {
    readonly turns: Pick<TurnStore, "history">;
    readonly sessions: Pick<SessionStore, "open" | "setWindowStart">;
  };
  readonly gateway: {
    complete(call: {
      readonly group: string;
      readonly route: string | undefined;
      readonly groupBudget: BudgetLimits;
      readonly system: readonly string[];
      readonly messages: readonly ModelMessage[];
      readonly tools: readonly ToolDefinition[];
      readonly signal: AbortSignal;
    }): Promise<ModelAnswer>;
    promptTokens(route: string | undefined): number;
  };
  readonly tools: readonly ToolDefinition[];
  readonly agentName: string;
  readonly timeZone: string;
  /** The group's AGENTS.md, which its agent can write; empty when there is none. */
  readonly instructionsOf: (group: Group) => Promise<string>;
  /** Folders as the group's agent sees them. */
  readonly foldersOf: (group: Group) => readonly { readonly path: string; readonly access: Access }[];
  /** Places that its containers can reach, as `host:port`. */
  readonly networkFor?: (group: Group) => readonly string[];
}

/** Shows the model what the store holds of the conversation, as much as there is room for, and returns its answer. */
export function createAskModel(parts: AskModelParts): (scope: TurnScope, signal: AbortSignal) => Promise<ModelAnswer> {
  return async ({ turn, group, session }, signal) => {
    const { windowStart } = await parts.store.sessions.open(session.key, group.name);
    const history = await parts.store.turns.history(session.id, turn.conversation, windowStart);
    const instructions = await parts.instructionsOf(group);
    const { agentName, timeZone, tools } = parts;
    const systemSince = (startedAt: number): readonly string[] =>
      systemPrompt({
        agentName,
        group: group.name,
        folders: parts.foldersOf(group),
        network: parts.networkFor?.(group) ?? [],
        instructions,
        timeZone,
        startedAt,
      });
    const fixedTokens = estimatePromptTokens({ system: systemSince(turn.startedAt), messages: [], tools });
    const budgetTokens = parts.gateway.promptTokens(group.model) - fixedTokens;
    const window = planWindow({ steps: history, windowStart, budgetTokens });
    if (window.windowStart !== windowStart) await parts.store.sessions.setWindowStart(session.id, window.windowStart);
    return parts.gateway.complete({
      group: group.name,
      route: group.model,
      groupBudget: group.budget,
      // The date of the first step that is sent: it changes only when the window is cut, and with it the whole prompt.
      system: systemSince(window.steps[0]?.at ?? turn.startedAt),
      messages: toModelMessages(window.steps),
      tools,
      signal,
    });
  };
}
