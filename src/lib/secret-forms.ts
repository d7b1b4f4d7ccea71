/** Shorter values would be found in ordinary words. */
export const shortestSecret = 8;

/** How a value looks as it is, in JSON, in a URL, in base64 at any offset, in hexadecimal and backwards. */
export function secretForms(secret: string): string[] {
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
  return core.length < shortestSecret ? [] : [core, core.replaceAll("+", "-").replaceAll("/", "_")];
}
