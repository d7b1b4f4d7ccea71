/** What a memory must not be. */
export type Unfit = "secret" | "instruction";

const secrets: readonly RegExp[] = [
  /-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY/,
  /\b(?:sk|rk|pk)[-_](?:[A-Za-z0-9]{1,12}[-_]){0,3}[A-Za-z0-9]{16,}/,
  /\b(?:ghp|gho|ghu|ghs|ghr|github_pat|glpat|npm|pypi|hf|xox[abeprs])[-_][A-Za-z0-9_-]{16,}/,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/,
  /\bAIza[A-Za-z0-9_-]{30,}/,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/,
  /\b\d{8,10}:[A-Za-z0-9_-]{35}\b/,
  /\b(?:password|passwort|passphrase|passcode|secret|api[ _-]?key|access[ _-]?key|auth[ _-]?token|token|bearer)\b["']?\s{0,3}(?:is|ist|=|:)?\s{0,3}["']?(?=[^\s"']{0,63}\d)[^\s"']{8,}/i,
];

const you = "(?:you|the (?:assistant|agent|bot|model|ai))";
const instructions: readonly RegExp[] = [
  /\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instructions?|rules?|prompts?|polic(?:y|ies)|guidelines?|restrictions?|safety)\b/i,
  new RegExp(`\\b${you} (?:must|shall|should|have to|has to|may now|are now|is now|will (?:always|never|now))\\b`, "i"),
  new RegExp(`\\b(?:from now on|henceforth|in future|whenever asked)\\b.{0,60}\\b${you}\\b`, "i"),
  /\b(?:from now on|henceforth)\b[,:]? (?:always|never|do|don'?t|send|reply|answer|run|act|obey|allow|approve|treat|call|forward)\b/i,
  /^\W{0,3}(?:always|never) (?:answer|reply|respond|run|execute|send|forward|obey|approve|allow|trust|ask|tell|reveal|do what|follow|say)\b/i,
  /\b(?:system|developer) (?:prompt|message|instruction)s?\b/i,
  /\bwithout (?:asking|approval|permission|confirmation)\b/i,
  /<\/?\s*(?:system|instructions?|assistant|tool|host-note|messages?|memor(?:y|ies))\b/i,
];

/**
 * Why a text is not remembered as something that holds: it looks like a secret, or it tells the agent what to do instead of saying how
 * things are. By patterns: it errs on the side of refusing, and cannot find everything. Undefined: it can be.
 */
export function unfit(text: string): Unfit | undefined {
  const plain = text.normalize("NFKC").replaceAll(/\p{Cf}/gu, "");
  if (isSecret(plain)) return "secret";
  return instructions.some((pattern) => pattern.test(plain)) ? "instruction" : undefined;
}

/** Does it look as if it held a private key, a token or a password? */
export function isSecret(text: string): boolean {
  return secrets.some((pattern) => pattern.test(text));
}
