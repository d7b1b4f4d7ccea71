import { AppError, type ErrorCode } from "../../lib/app-error.ts";

/**
 * Where a model's server does not say how large its window is, this finds a window of an eighth of what was thought.
 */
const mostTries = 8;

const failures: ReadonlySet<ErrorCode> = new Set(["context_too_large", "model_unavailable"]);

/**
 * Asks a model. When a model of the route refuses the prompt as too long, there is less room for prompts from then on:
 * it is asked again, with what fits then. `roomTokens`: how much there is room for now.
 */
export async function askUntilItFits<Answer>(roomTokens: () => number, ask: () => Promise<Answer>): Promise<Answer> {
  for (let tries = 1; ; tries += 1) {
    const before = roomTokens();
    try {
      return await ask();
    } catch (error) {
      const isOfModels = error instanceof AppError && failures.has(error.code);
      if (!isOfModels || tries === mostTries || roomTokens() >= before) throw error;
    }
  }
}
