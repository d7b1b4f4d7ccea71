/** The elements that mean something in a prompt or in an answer. Whatever brings a new one adds it here. */
const ownElements = [
  "instructions",
  "messages",
  "message",
  "quote",
  "attachment",
  "omitted",
  "cut",
  "forwarded",
  "host-note",
  "work",
  "title",
  "member",
  "internal",
];

const hidden = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Zl}\p{Zp}]|(?![\n\t])\p{Cc}/gu;
/** Joiners and selectors that make one picture, or one word of a script that needs them, of what stands on both sides. */
const joining =
  /(?<=\p{Extended_Pictographic}[\p{Emoji_Modifier}\ufe0f]{0,2})\u200d(?=\p{Extended_Pictographic})|(?<=\p{Extended_Pictographic})\ufe0f|(?<=[[\p{L}\p{M}]--\p{Script=Latin}])[\u200c\u200d](?=[[\p{L}\p{M}]--\p{Script=Latin}])/gv;
const opening = /[<＜﹤](?=([\s\p{White_Space}/／]*)(\S{1,16}))/gu;

/**
 * A text from outside in which none of our elements is opened or closed; all other markup stays readable. What hides goes
 * first, so that nothing can hide in the name of an element; letters that only look wider count as the letter.
 */
export function withoutOwnElements(text: string): string {
  return withoutHidden(text).replaceAll(opening, (bracket, _blanks: string, following: string) => {
    const name = following.normalize("NFKC").toLowerCase();
    return ownElements.some((element) => name.startsWith(element)) ? "&lt;" : bracket;
  });
}

/** Line feeds and tabs stay; other ends of lines become line feeds. */
function withoutHidden(text: string): string {
  const lines = text.toWellFormed().replaceAll(/\r\n?|[\u0085\u2028\u2029\v\f]/g, "\n");
  const kept = new Set(Array.from(lines.matchAll(joining), ({ index }) => index));
  return lines.replaceAll(hidden, (character, at: number) => (kept.has(at) ? character : ""));
}
