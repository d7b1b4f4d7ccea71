const mostKept = 20_000;
const mostReserve = 16_000;
/** Raw messages that stay, whatever their size. */
export const leastKeptSteps = 4;

/** Limits of a shown conversation in tokens, derived from its models' windows. */
export interface ContextLimits {
  readonly windowTokens: number;
  /** Maximum prompt tokens. */
  readonly roomTokens: number;
  /** Tokens kept raw at the end when compacting. */
  readonly keptTokens: number;
  /** Maximum tokens of a summary; the rest of the reserve is for the request. */
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

/** Size of a conversation's last prompt. */
export interface PromptSize {
  /** Tokens reported by the vendor. */
  readonly reportedTokens: number;
  readonly estimatedTokens: number;
  readonly messages: number;
}

/** True when a conversation should be compacted while idle. */
export function isCompactionDue(
  { reportedTokens, estimatedTokens, messages }: PromptSize,
  { windowTokens, roomTokens }: Pick<ContextLimits, "windowTokens" | "roomTokens">,
): boolean {
  if (reportedTokens > windowTokens * idleShare) return true;
  return messages >= leastMessages && Math.max(reportedTokens, estimatedTokens) > roomTokens * estimatedShare;
}
