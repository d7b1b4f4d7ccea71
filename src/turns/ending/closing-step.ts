import { escapeText } from "../../lib/text/markup.ts";
import { ofHost, sourced } from "../../domain/rights/sourced.ts";
import { type SourcedStep, userStep } from "../steps/sourced-step.ts";

/**
 * Tells the model at the next turn how this one ended, so that it does not take silence for success. One line, whatever
 * the reason.
 */
export function closingStep(reason: string, at: number): SourcedStep {
  const why = sourced(escapeText(reason.replaceAll(/\s+/gu, " ")), []);
  return userStep([ofHost`<host-note>The turn ended without an answer: ${why}</host-note>`], { at });
}
