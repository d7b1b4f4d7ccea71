/** A closed element in a text, such as `<work cause="schedule">…</work>`. */
export interface TextElement {
  readonly whole: string;
  /** All that stands between the name and `>`, with the blank before it. */
  readonly attributes: string;
  readonly inner: string;
}

/**
 * Replaces each element of this name, from the first to the last; what one holds is not looked at again. An element
 * that is not closed stays. Linear in the length of the text, whatever it holds: an expression would look for an end
 * from each beginning anew.
 */
export function replaceElements(text: string, name: string, replace: (element: TextElement) => string): string {
  const [opening, closing] = [`<${name}`, `</${name}>`];
  const written: string[] = [];
  let copied = 0;
  let headEnd = -1;
  for (let start = text.indexOf(opening); start !== -1; start = text.indexOf(opening, start)) {
    if (headEnd < start) headEnd = text.indexOf(">", start);
    if (headEnd === -1) break;
    const nameEnd = start + opening.length;
    const nextHead = text.indexOf("<", nameEnd);
    if (!/[\s>]/.test(text.charAt(nameEnd)) || (nextHead !== -1 && nextHead < headEnd)) {
      start = nameEnd;
      continue;
    }
    const innerEnd = text.indexOf(closing, headEnd);
    if (innerEnd === -1) break;
    const end = innerEnd + closing.length;
    const inner = text.slice(headEnd + 1, innerEnd);
    const element = { whole: text.slice(start, end), attributes: text.slice(nameEnd, headEnd), inner };
    written.push(text.slice(copied, start), replace(element));
    copied = end;
    start = end;
  }
  written.push(text.slice(copied));
  return written.join("");
}

/** Elements of this name, from the first to the last, none within another. */
export function elementsIn(text: string, name: string): readonly TextElement[] {
  const found: TextElement[] = [];
  replaceElements(text, name, (element) => {
    found.push(element);
    return "";
  });
  return found;
}
