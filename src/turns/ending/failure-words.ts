import { AppError, type ErrorCode } from "../../lib/app-error.ts";

/** Failure of a turn; `unexpected`: without a code. */
export type TurnFailure = ErrorCode | "unexpected";

/** Words for members about a failure. */
interface FailureWords {
  readonly said: string;
  /** True when the operator must act, and gets the details. */
  readonly forOperator: boolean;
}

const setUp: FailureWords = { said: "something is wrong with how I am set up", forOperator: true };

/** Their messages are written for members already. */
const plain: ReadonlySet<TurnFailure> = new Set([
  "model_refused",
  "rate_limited",
  "too_large",
  "turn_timeout",
  "cancelled",
]);

const words: { readonly [Code in TurnFailure]?: FailureWords } = {
  model_unavailable: { said: "I cannot reach my model just now", forOperator: true },
  budget_exhausted: {
    said: "today's budget is not enough for this. It starts afresh at 00:00 UTC, and after /new I need less",
    forOperator: true,
  },
  context_too_large: {
    said: "this has grown larger than my model has room for. Ask for less at once, or begin a new conversation with /new",
    forOperator: false,
  },
  container_lost: {
    said: "the container that I work in ended again and again. Your message is kept, so that it can be tried again",
    forOperator: true,
  },
  unexpected: { said: "something went wrong on the machine that I run on", forOperator: true },
};

/**
 * Words for members; undefined when the failure's own message is for them. Container ids, settings and vendors' words
 * are for the operator.
 */
export function wordsForMembers(failure: TurnFailure | undefined): FailureWords | undefined {
  if (failure === undefined || plain.has(failure)) return undefined;
  return words[failure] ?? setUp;
}

export function failureOf(error: Error): TurnFailure {
  return error instanceof AppError ? error.code : "unexpected";
}
