import { escapeText } from "../../lib/text/markup.ts";
import { estimateStepTokens } from "../context/tokens.ts";
import type { NewStep } from "../../stores/contract/store.ts";

/**
 * Tells the model at the next turn how this one ended, so that it does not take silence for success. One line, whatever
 * the reason.
 */
export function closingStep(reason: string, at: number): NewStep {
  const text = `<host-note>The turn ended without an answer: ${escapeText(reason.replaceAll(/\s+/gu, " "))}</host-note>`;
  const body = { kind: "user", text } as const;
  return { body, tokens: estimateStepTokens(body), at };
}
