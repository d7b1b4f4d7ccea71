import { plainForm } from "../../lib/text/plain-form.ts";
import { isSecret } from "./secrets.ts";

/** What a memory must not be. */
export type Unfit = "secret" | "instruction";

const you = "(?:you|the (?:assistant|agent|bot|model|ai))";
const actions =
  "(?:answer|reply|respond|run|execute|send|forward|obey|approve|allow|trust|ask|tell|reveal|do what|follow|say|comply|accept|grant|treat)";
const role = "(?:an? |the |your |our |my )?(?:admin(?:istrator)?s?|operator|superuser|root)";

const instructions: readonly RegExp[] = [
  /\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instructions?|rules?|prompts?|polic(?:y|ies)|guidelines?|restrictions?|safety)\b/i,
  new RegExp(`\\b${you} (?:must|shall|should|have to|has to|may now|are now|is now|will (?:always|never|now))\\b`, "i"),
  new RegExp(`\\b(?:from now on|henceforth|in future|whenever asked)\\b.{0,60}\\b${you}\\b`, "i"),
  /\b(?:from now on|henceforth)\b[,:]? (?:always|never|do|don'?t|send|reply|answer|run|act|obey|allow|approve|treat|call|forward)\b/i,
  new RegExp(`^\\W{0,3}(?:please |remember(?: to)?[,:]? )?(?:always|never) ${actions}\\b`, "i"),
  /\b(?:always|never) (?:approve|allow|obey|execute|comply|grant|ask for (?:an? )?(?:approval|permission))\b/i,
  // Who may do what stands in the configuration; a memory that says so could only mislead.
  new RegExp(
    `\\b(?:is|are|becomes?|counts? as|acts? as|made|treat(?:ed)? as)(?: now| also)? ${role}\\b(?! of the (?!group|chat|bot|agent|host))`,
    "i",
  ),
  /\b(?:has|have|gets?|was given|is given) (?:the )?(?:full |all )?(?:admin|operator|owner|root)(?:'?s)? (?:rights|permissions?|access|privileges)\b/i,
  /\b(?:needs?|requires?) no (?:approval|permission|confirmation)\b/i,
  /\b(?:system|developer) (?:prompt|message|instruction)s?\b/i,
  /\bwithout (?:asking|approval|permission|confirmation)\b/i,
  /<\/?\s*(?:system|instructions?|assistant|tool|host-note|messages?|memor(?:y|ies))\b/i,
];

/**
 * Why a text is not remembered as something that holds: it looks like a secret, or it tells the agent what to do instead of saying how
 * things are. By patterns: it errs on the side of refusing, and cannot find everything. Undefined: it can be.
 */
export function unfit(text: string): Unfit | undefined {
  if (isSecret(text)) return "secret";
  const plain = plainForm(text);
  return instructions.some((pattern) => pattern.test(plain)) ? "instruction" : undefined;
}
