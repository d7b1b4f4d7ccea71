import { hiddenInProse } from "../../../lib/text/hidden-characters.ts";
import { Findings } from "./findings.ts";
import type { CommandJudgement } from "./findings.ts";

/** More text than that is not parsed: it would hold up the host. */
const maxChars = 16_384;

/**
 * How much harm a command line for bash can do, judged by its parsed form before it runs. The riskiest piece decides;
 * what is in substitutions, in functions, and in text that the line gives to another shell counts as if it stood there.
 *
 * This is advice for people and for policy, no wall: the container is that. The same program can be started in ways
 * that no parser sees, and the session's bash keeps its state from call to call: a variable, a function, an alias, a
 * link or a folder that an earlier call has set can give the words of this line another meaning. So what redefines a
 * known name or sets a variable that steers other programs is high itself, and the line after it is judged by its words
 * alone.
 *
 * Takes at most some 100 ms for any text, and never rejects.
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

/** Why a text is not parsed at all. */
function refusalOf(text: string): string | undefined {
  if (text.length > maxChars) return `It has ${text.length} characters; at most ${maxChars} are parsed.`;
  if (text.includes("\0")) return "It holds a NUL character, which bash cannot take.";
  if (!text.isWellFormed()) return "It is not valid Unicode.";
  const hidden = text.match(hiddenInProse)?.find((character) => !/[\n\t\r]/.test(character));
  if (hidden === undefined) return undefined;
  const code = (hidden.codePointAt(0) ?? 0).toString(16).padStart(4, "0");
  return `It holds the hidden character U+${code.toUpperCase()}, so what is shown of it may not be what runs.`;
}
