/**
 * Returns a person's own words: fenced code, inline code and quoted lines become a blank. An unclosed fence reaches to
 * the end; unclosed backticks are ordinary. Linear in the length of the text.
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

/** End of the quoted line or fenced block that begins at this start of a line; undefined when there is none. */
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

/** Start of the next run of exactly `length` backticks after a position; positions must not decrease. */
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
