/** A line without a task: empty, a heading, a rule, an empty list item or checkbox. */
const idleLine = /^(?:#{1,6}(?:\s.*)?|[-*+]?(?:\s*\[[ xX]?\])?|-{3,}|\*{3,}|_{3,}|={3,})$/;

/** True when the text has tasks besides headings and comments. */
export function saysSomethingToDo(text: string): boolean {
  const said = text.replaceAll(/<!--[^]*?(?:-->|$)/g, "").replaceAll(/[\u200b\ufeff]/g, "");
  return said.split(/\r\n?|\n/).some((line) => !idleLine.test(line.trim()));
}
