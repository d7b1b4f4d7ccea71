import { SecretFinder } from "../lib/secrets/secret-finder.ts";
import { SecretPatterns } from "../lib/secrets/secret-stream.ts";

/** A text without secrets, and whether there were any. */
export interface Redacted {
  readonly text: string;
  readonly count: number;
}

/** Replacement of a secret. */
export const redactionMark = "[redacted]";
/** Four characters that only spread a text out, or are not seen, in UTF-8. */
const maxGap = 16;

/**
 * Makes a function that takes known secrets out of what goes to a chat: as they are, in JSON, HTML, a URL, base64,
 * base32 or hexadecimal, in upper case, backwards, and spread out. Who wants to smuggle a value that it knows finds
 * another form; this is for accidents, and an alarm. How long it takes does not tell how near a text comes to a secret.
 */
export function createReplyRedaction(secrets: readonly string[]): (text: string) => Redacted {
  const finder = new SecretFinder(secrets, maxGap);
  return (text) => {
    const bytes = Buffer.from(text);
    const found = finder.find(bytes);
    let clean = "";
    let at = 0;
    for (const { from, to } of found) {
      clean += bytes.toString("utf8", at, from) + redactionMark;
      at = to;
    }
    return { text: found.length === 0 ? text : clean + bytes.toString("utf8", at), count: found.length };
  };
}

/** The same secrets, to be taken out of text that is shown while it comes to those who may know them. */
export function createReplyPatterns(secrets: readonly string[]): SecretPatterns {
  return new SecretPatterns(secrets, maxGap);
}
