import { hiddenInProse } from "./hidden-characters.ts";

/** The elements that mean something in a prompt or in an answer. Whatever brings a new one adds it here. */
const ownElements = [
  "instructions",
  "messages",
  "message",
  "memories",
  "memory",
  "facts",
  "fact",
  "quote",
  "attachment",
  "omitted",
  "cut",
  "forwarded",
  "host-note",
  "work",
  "payload",
  "title",
  "member",
  "internal",
  "notes",
  "skill",
  "summary",
];

const opening = /[<＜﹤](?=([\s\p{White_Space}/／]*)(\S{1,16}))/gu;

/**
 * A text from outside in which none of our elements is opened or closed; all other markup stays readable. What hides
 * goes first, so that nothing can hide in the name of an element; letters that only look wider count as the letter.
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
  return lines.replaceAll(hiddenInProse, (found) => (found === "\n" || found === "\t" ? found : ""));
}
