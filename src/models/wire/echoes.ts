import { ProviderError, type ProviderRequest } from "../provider.ts";

/** Shorter ones are words that any two texts have in common, such as a parameter's name. */
const echoChars = 16;
const mark = "[…]";

/**
 * The same failure without what its vendor repeats of the prompt: a reason goes into logs, and from there into reports.
 * What stays are the vendor's own words.
 */
export function withoutEchoes(error: ProviderError, sent: Pick<ProviderRequest, "system" | "messages">): ProviderError {
  const prompt = textOf(sent);
  let kept = "";
  for (let at = 0; at < error.message.length;) {
    const length = echoAt(error.message, at, prompt);
    if (length === 0) kept += error.message[at];
    else if (!kept.endsWith(mark)) kept += mark;
    at += Math.max(1, length);
  }
  if (kept === error.message) return error;
  const { failure, retryAfterMs, windowTokens } = error;
  return new ProviderError(failure, kept.toWellFormed(), { retryAfterMs, windowTokens });
}

/** Returns the number of characters from there that also stand in the prompt; 0 for less than an echo. */
function echoAt(message: string, at: number, prompt: string): number {
  let length = echoChars;
  if (at + length > message.length || !prompt.includes(message.slice(at, at + length))) return 0;
  while (at + length < message.length && prompt.includes(message.slice(at, at + length + 1))) length += 1;
  return length;
}

/** Text as reasons quote it: as JSON, on one line, with single blanks. */
function textOf({ system, messages }: Pick<ProviderRequest, "system" | "messages">): string {
  const json = JSON.stringify([system, messages]);
  const plain = json.replaceAll(/\\[nrt]/g, " ").replaceAll(/\\(.)/g, "$1");
  return [json, plain, plain.replaceAll(/\s+/g, " ")].join("\n");
}
