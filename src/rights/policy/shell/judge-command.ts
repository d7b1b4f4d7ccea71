import type { Stakes } from "../../../domain/rights/stakes.ts";
import { hiddenInProse } from "../../../lib/text/hidden-characters.ts";
import type { CommandJudgement } from "./findings.ts";

/** More text than that is not parsed. */
const maxChars = 4_096;

/**
 * Judges the possible harm of a bash command line, by a closed grammar: `low` are only simple commands of literal words
 * that a table lists, with options that it lists. Nothing is followed through expansions and nested commands: they
 * count as what the group has at stake. The risk is advice for people and policy; the container is the wall. The
 * session's bash keeps variables, functions and its folder between calls, which no line shows. Takes at most some 10 ms
 * for any text, and never rejects.
 */
export async function judgeCommand(text: string, stakes: Stakes): Promise<CommandJudgement> {
  const refusal = refusalOf(text);
  if (refusal !== undefined) return refused(refusal);
  // What the parser needs is loaded with the first line that is judged, not when the host starts.
  const { judgeText } = await import("./judge-text.ts");
  const judged = judgeText(text, stakes);
  return typeof judged === "string" ? refused(judged) : judged;
}

function refused(why: string): CommandJudgement {
  return { risk: "high", why, line: { isOneCommand: false, commands: [] } };
}

/** Reason for not parsing a text. */
function refusalOf(text: string): string | undefined {
  if (text.length > maxChars) return `It has ${text.length} characters; at most ${maxChars} are parsed.`;
  if (text.includes("\0")) return "It holds a NUL character, which bash cannot take.";
  if (!text.isWellFormed()) return "It is not valid Unicode.";
  const hidden = text.match(hiddenInProse)?.find((character) => !/[\n\t\r]/.test(character));
  if (hidden === undefined) return undefined;
  const code = (hidden.codePointAt(0) ?? 0).toString(16).padStart(4, "0");
  return `It holds the hidden character U+${code.toUpperCase()}, so what is shown of it may not be what runs.`;
}
