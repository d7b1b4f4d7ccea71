import { secretForms, shortestSecret } from "../lib/secret-forms.ts";

/** A text without secrets, and whether there were any. */
export interface Redacted {
  readonly text: string;
  readonly count: number;
}

const replacement = "[redacted]";

/**
 * Makes a function that takes known secrets out of what goes to a chat: as they are, in JSON, in a URL, in base64 at any
 * offset, in hexadecimal, backwards, and with blanks or invisible characters between. Who wants to smuggle a value that it
 * knows finds another form; this is for accidents, and an alarm.
 */
export function createReplyRedaction(secrets: readonly string[]): (text: string) => Redacted {
  const known = [...new Set(secrets)].filter((secret) => secret.length >= shortestSecret);
  const forms = [...new Set(known.flatMap(secretForms))].toSorted((one, other) => other.length - one.length);
  const patterns = forms.map((form) => new RegExp(Array.from(form, escapePattern).join(gap), "gu"));
  return (text) => {
    let count = 0;
    const clean = patterns.reduce(
      (line, pattern) =>
        line.replaceAll(pattern, () => {
          count += 1;
          return replacement;
        }),
      text,
    );
    return { text: clean, count };
  };
}

/** A few characters that are not seen or only spread a text out. */
const gap = String.raw`[\s\p{Cf}\p{Cc}]{0,4}`;

function escapePattern(character: string): string {
  return character.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}
