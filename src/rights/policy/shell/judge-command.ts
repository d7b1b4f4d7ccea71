import { hiddenInProse } from "../../../lib/text/hidden-characters.ts";
import { Findings } from "./findings.ts";
import type { CommandJudgement } from "./findings.ts";

/** More text than that is not parsed: it would hold up the host. */
const maxChars = 16_384;

/**
 * Judges the possible harm of a bash command line by its parsed form. The riskiest piece decides; substitutions,
 * functions and text for another shell count as if they stood there. This is advice for people and policy; the
 * container is the wall. Programs can be started in ways that no parser sees, and the session's bash keeps variables,
 * functions, aliases and folders between calls that can change a line's meaning. So redefining a known name or setting
 * a variable that steers programs is itself high, and later lines are judged by their words alone. Takes at most some
 * 100 ms for any text, and never rejects.
 */
export async function judgeCommand(text: string): Promise<CommandJudgement> {
  const findings = new Findings();
  const refusal = refusalOf(text);
  if (refusal !== undefined) findings.refuse(refusal);
  else {
    // What the parser needs is loaded with the first line that is judged, not when the host starts.
    const { walkText } = await import("./walk.ts");
    walkText(text, findings);
  }
  return findings.judgement();
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
