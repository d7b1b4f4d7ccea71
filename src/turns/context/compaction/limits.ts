const mostKept = 20_000;
const mostReserve = 16_000;
/** Raw messages that stay, whatever their size. */
export const leastKeptSteps = 4;

/** How much of a conversation is shown, in tokens. All of it goes by the window of the models that answer it. */
export interface ContextLimits {
  readonly windowTokens: number;
  /** What a prompt may have before something has to go. */
  readonly roomTokens: number;
  /** So much of its end stays raw when a conversation is compacted. */
  readonly keptTokens: number;
  /** What a summary may have. Of what is kept free, the rest is for the request. */
  readonly answerTokens: number;
}

/** `promptTokens`: what a prompt may have so that there is room for the longest answer. */
export function contextLimits(models: { readonly windowTokens: number; readonly promptTokens: number }): ContextLimits {
  const { windowTokens, promptTokens } = models;
  const reserveTokens = Math.floor(Math.min(mostReserve, windowTokens / 5));
  return {
    windowTokens,
    answerTokens: Math.floor(reserveTokens / 2),
    roomTokens: Math.min(promptTokens, windowTokens - reserveTokens),
    keptTokens: Math.floor(Math.min(mostKept, windowTokens / 4)),
  };
}

const idleShare = 0.5;
/** By our own estimate, which is on the high side: it counts where a vendor reports little or nothing. */
const estimatedShare = 0.75;
const leastMessages = 20;

/** How large the last prompt of a conversation was. */
export interface PromptSize {
  /** As the vendor reported it. */
  readonly reportedTokens: number;
  readonly estimatedTokens: number;
  readonly messages: number;
}

/** Is a conversation to be compacted as soon as nobody waits for it? */
export function isCompactionDue(
  { reportedTokens, estimatedTokens, messages }: PromptSize,
  { windowTokens, roomTokens }: Pick<ContextLimits, "windowTokens" | "roomTokens">,
): boolean {
  if (reportedTokens > windowTokens * idleShare) return true;
  return messages >= leastMessages && Math.max(reportedTokens, estimatedTokens) > roomTokens * estimatedShare;
}
