import type { PromptSize } from "../context/compaction/limits.ts";
import { limitImages } from "../context/image-limit.ts";
import { toModelMessages } from "../context/model-messages.ts";
import type { ModelAnswer } from "../../domain/turns/model.ts";
import type { FittedConversation } from "../compaction/fit-conversation.ts";
import type { LiveWatchers } from "../live-watchers.ts";
import type { TurnScope } from "../turn-scope.ts";
import { askUntilItFits } from "./ask-until-it-fits.ts";
import type { ResultClearing } from "./clearing.ts";

export interface AskModelOptions {
  /** Fits the conversation; the rest is summarized. */
  readonly fit: (scope: TurnScope, signal: AbortSignal) => Promise<FittedConversation>;
  /** A model has answered a prompt of this size. */
  readonly answered: (scope: TurnScope, size: PromptSize) => void;
  readonly clearing: Pick<ResultClearing, "answered">;
  readonly watchers: Pick<LiveWatchers, "watchAnswer">;
}

/** Shows the model what the store holds of the conversation, as much as there is room for, and returns its answer. */
export function askModel(options: AskModelOptions, scope: TurnScope, signal: AbortSignal): Promise<ModelAnswer> {
  const { group, models } = scope;
  return askUntilItFits(
    () => models.promptTokens(group.model),
    () => askOnce(options, scope, signal),
  );
}

async function askOnce(
  { fit, answered, clearing, watchers }: AskModelOptions,
  scope: TurnScope,
  signal: AbortSignal,
): Promise<ModelAnswer> {
  const { turn, group, session, clock } = scope;
  clock.enter("context");
  const shown = await fit(scope, signal);
  const steps = [...(shown.first ? [shown.first] : []), ...limitImages(shown.steps)];
  const inputTokens = steps.reduce((sum, step) => sum + step.tokens, shown.fixedTokens);
  clock.enter("model");
  const watch = watchers.watchAnswer(scope);
  const answer = await scope.models.complete({
    group: group.name,
    turn: turn.id,
    route: group.model,
    groupBudget: group.budget,
    system: shown.system,
    messages: toModelMessages(steps),
    tools: shown.tools,
    conversation: `${session.id}:${turn.conversation}`,
    inputTokens,
    signal,
    onTry: watch?.onTry,
  });
  watch?.end();
  clock.enter("context");
  answered(scope, {
    reportedTokens: answer.usage.inputTokens,
    estimatedTokens: inputTokens,
    messages: steps.length,
  });
  await clearing.answered(scope, shown, answer);
  return answer;
}
