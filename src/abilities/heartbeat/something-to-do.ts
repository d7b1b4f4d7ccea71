/** A line that asks for nothing: empty, a heading, a rule, an empty entry of a list or a box without a text. */
const idleLine = /^\s*(?:#{1,6}(?:\s.*)?|[-*+]?(?:\s*\[[ xX]?\])?|-{3,}|\*{3,}|_{3,}|={3,})\s*$/;

/** Does this text say anything to do, besides headings and comments? */
export function saysSomethingToDo(text: string): boolean {
  const said = text.replaceAll(/<!--[^]*?(?:-->|$)/g, "").replaceAll(/[\u200b\ufeff]/g, "");
  return said.split(/\r\n?|\n/).some((line) => !idleLine.test(line));
}
