/** A single thumb in any skin color, with or without the emoji variation selector. */
const thumb = /^(\u{1F44D}|\u{1F44E})[\u{1F3FB}-\u{1F3FF}]?\u{FE0F}?$/u;

/** Meaning of an emoji on a card: 👍 allows, 👎 denies, others say nothing. */
export function allowedBy(emoji: string): boolean | undefined {
  const [, base] = thumb.exec(emoji) ?? [];
  return base === undefined ? undefined : base === "👍";
}
