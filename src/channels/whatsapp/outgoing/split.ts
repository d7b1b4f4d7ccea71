/** WhatsApp takes more, but folds longer messages away. */
const defaultChars = 4_000;
const fence = "```";
/** Characters for closing a fence at the end of a part and opening it again. */
const fenceChars = 2 * (fence.length + 1);

/**
 * Cuts a text into parts of at most `chars`: between paragraphs where there is one in the second half, otherwise
 * between lines, words, or characters. Code that is cut is closed in the one part and opened again in the next.
 */
export function splitText(text: string, chars = defaultChars): string[] {
  if (text.length <= chars) return [text];
  const parts: string[] = [];
  let current: string[] = [];
  let length = 0;
  let isCode = false;
  const finish = (lines: readonly string[], close: boolean): void => {
    const part = (close ? [...lines, fence] : lines).join("\n").replace(/^\n+/, "").trimEnd();
    if (part !== "") parts.push(part);
  };
  const cut = (): void => {
    const kept = isCode ? current.length : paragraphEnd(current, chars);
    const [here, rest] = [current.slice(0, kept), current.slice(kept)];
    const isOnlyOpener = isCode && here.at(-1) === fence;
    finish(isOnlyOpener ? here.slice(0, -1) : here, isCode && !isOnlyOpener);
    current = isCode ? [fence] : rest.filter((line, index) => index > 0 || line.trim() !== "");
    length = current.reduce((sum, line) => sum + line.length + 1, 0);
  };
  for (const line of text.split("\n").flatMap((whole) => cutLine(whole, chars - fenceChars))) {
    if (current.length > 0 && length + line.length + (isCode ? fence.length + 1 : 0) > chars) cut();
    if (current.length > 0 && length + line.length > chars) cut();
    current.push(line);
    length += line.length + 1;
    if (line.startsWith(fence)) isCode = !isCode;
  }
  finish(current, isCode);
  return parts;
}

/** Returns the number of lines that keep a paragraph together, unless too few. */
function paragraphEnd(lines: readonly string[], chars: number): number {
  let length = 0;
  let found = lines.length;
  let isCode = false;
  for (const [index, line] of lines.entries()) {
    if (line.startsWith(fence)) isCode = !isCode;
    if (!isCode && line.trim() === "" && length > chars / 2) found = index;
    length += line.length + 1;
  }
  return found;
}

function cutLine(line: string, chars: number): string[] {
  const parts: string[] = [];
  let rest = line;
  while (rest.length > chars) {
    const blank = rest.lastIndexOf(" ", chars);
    let end = blank > chars / 2 ? blank : chars;
    // Not between the halves of a character.
    if (/[\ud800-\udbff]/.test(rest.charAt(end - 1))) end -= 1;
    parts.push(rest.slice(0, end));
    rest = rest.slice(end).replace(/^ /, "");
  }
  return [...parts, rest];
}
