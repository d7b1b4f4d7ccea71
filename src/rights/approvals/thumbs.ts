/** One thumb and nothing else: of any skin colour, and with or without the mark that it is to be shown as a picture. */
const thumb = /^(\u{1F44D}|\u{1F44E})[\u{1F3FB}-\u{1F3FF}]?\u{FE0F}?$/u;

/** What an emoji on a card says: 👍 allows, 👎 denies, all others (and none) say nothing. */
export function allowedBy(emoji: string): boolean | undefined {
  const [, base] = thumb.exec(emoji) ?? [];
  return base === undefined ? undefined : base === "👍";
}
