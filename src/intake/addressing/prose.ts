/**
 * What a person says in a text, without what is only shown: fenced code, inline code and quoted lines are replaced by a
 * blank. A fence that is never closed reaches to the end of the text; backticks that are never closed are ordinary
 * characters. Takes time in proportion to the length of the text, whatever it holds.
 */
export function proseOf(text: string): string {
  const source = text.replaceAll(/\r\n?/g, "\n");
  const nextRun = backtickRuns(source);
  let prose = "";
  let at = 0;
  while (at < source.length) {
    const shownUntil = endOfLineBlock(source, at) ?? endOfInlineCode(source, at, nextRun);
    if (shownUntil !== undefined) {
      prose += " ";
      at = shownUntil;
    } else {
      const said = source[at] === "`" ? backticksAt(source, at) : source.charAt(at);
      prose += said;
      at += said.length;
    }
  }
  return prose;
}

/** Where the quoted line or the fenced block that begins at this start of a line ends; undefined where neither does. */
function endOfLineBlock(source: string, at: number): number | undefined {
  if (at > 0 && source[at - 1] !== "\n") return undefined;
  const newline = source.indexOf("\n", at);
  const lineEnd = newline === -1 ? source.length : newline;
  const line = source.slice(at, lineEnd);
  if (/^[ \t]*>/.test(line)) return lineEnd;
  const fence = /^([ \t]*)(`{3,}|~{3,})(.*)$/s.exec(line);
  if (!fence) return undefined;
  const [, indent = "", run = "", rest = ""] = fence;
  // A backtick later in the line means inline code, as in "```code``` and more".
  if (run.startsWith("`") && rest.includes("`")) return undefined;
  return endOfFence(source, lineEnd, indent.length, run);
}

/** A fence is closed by a line of at least as many of the same characters and nothing else, hardly deeper indented. */
function endOfFence(source: string, from: number, indent: number, run: string): number {
  const closing = new RegExp(String.raw`\n[ \t]{0,${indent + 3}}${run.charAt(0)}{${run.length},}[ \t]*(?=\n|$)`, "g");
  closing.lastIndex = from;
  return closing.test(source) ? closing.lastIndex : source.length;
}

/** Inline code is closed by a run of the same length: one or two backticks in the same line, three or more anywhere. */
function endOfInlineCode(source: string, at: number, nextRun: NextRun): number | undefined {
  if (source[at] !== "`") return undefined;
  const { length } = backticksAt(source, at);
  const closing = nextRun(length, at);
  if (closing === undefined) return undefined;
  if (length < 3 && source.slice(at, closing).includes("\n")) return undefined;
  return closing + length;
}

function backticksAt(source: string, at: number): string {
  let end = at;
  while (source[end] === "`") end += 1;
  return source.slice(at, end);
}

/** The start of the next run of exactly so many backticks behind a place; places must not go backwards. */
type NextRun = (length: number, after: number) => number | undefined;

function backtickRuns(source: string): NextRun {
  const starts = new Map<number, number[]>();
  for (const { 0: run, index } of source.matchAll(/`+/g)) {
    const sameLength = starts.get(run.length);
    if (sameLength) sameLength.push(index);
    else starts.set(run.length, [index]);
  }
  const passed = new Map<number, number>();
  return (length, after) => {
    const sameLength = starts.get(length) ?? [];
    let next = passed.get(length) ?? 0;
    while ((sameLength[next] ?? Infinity) <= after) next += 1;
    passed.set(length, next);
    return sameLength[next];
  };
}
