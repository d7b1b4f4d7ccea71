/** A text without secrets, and whether there were any. */
export interface Redacted {
  readonly text: string;
  readonly count: number;
}

const replacement = "[redacted]";
/** Shorter values would be found in ordinary words. */
const shortest = 8;

/**
 * Makes a function that takes known secrets out of what goes to a chat: as they are, in JSON, in a URL, in base64 at any
 * offset, in hexadecimal, backwards, and with blanks or invisible characters between. Who wants to smuggle a value that it
 * knows finds another form; this is for accidents, and an alarm.
 */
export function createReplyRedaction(secrets: readonly string[]): (text: string) => Redacted {
  const known = [...new Set(secrets)].filter((secret) => secret.length >= shortest);
  const forms = [...new Set(known.flatMap(formsOf))].toSorted((one, other) => other.length - one.length);
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

function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const plain = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret), bytes.toString("hex")];
  const backwards = Array.from(secret).toReversed().join("");
  return [...plain, bytes.toString("hex").toUpperCase(), backwards, ...[0, 1, 2].flatMap((at) => inBase64(bytes, at))];
}

/** The characters that stay the same whatever stands before and behind, for a secret that begins `offset` bytes into a group of three. */
function inBase64(bytes: Buffer, offset: number): string[] {
  const padded = Buffer.concat([Buffer.alloc(offset), bytes]);
  const whole = padded.toString("base64").replaceAll("=", "");
  const start = offset === 0 ? 0 : offset + 1;
  const end = padded.length % 3 === 0 ? whole.length : whole.length - 1;
  const core = whole.slice(start, end);
  return core.length < shortest ? [] : [core, core.replaceAll("+", "-").replaceAll("/", "_")];
}

function escapePattern(character: string): string {
  return character.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}
