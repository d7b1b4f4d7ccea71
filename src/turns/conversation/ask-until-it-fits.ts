import { AppError, type ErrorCode } from "../../lib/app-error.ts";

/** Maximum tries, enough to find a window of an eighth of the assumed size when the server does not say it. */
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
