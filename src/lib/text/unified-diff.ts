/** Unchanged lines that are shown around each change. */
const contextLines = 3;
/** Larger comparisons take too long; then all that differs counts as replaced. */
const mostCells = 4_000_000;

/** A line of either text, or of both. */
interface Line {
  readonly mark: " " | "-" | "+";
  readonly text: string;
}

/**
 * How to come from one text to the other, as a unified diff: `-` before lines that go, `+` before those that come, and some that
 * stay around them. Empty where the texts are the same.
 */
export function unifiedDiff(before: string, after: string): string {
  if (before === after) return "";
  const lines = compare(linesOf(before), linesOf(after));
  return hunks(lines).map(formatHunk).join("\n");
}

/** A last line without an end differs from the same one with it. */
function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  const last = lines.pop() ?? "";
  return last === "" ? lines : [...lines, `${last}\n\\ No newline at the end`];
}

function compare(before: readonly string[], after: readonly string[]): Line[] {
  const head = before.findIndex((line, index) => line !== after[index]);
  const start = head === -1 ? before.length : head;
  let endBefore = before.length;
  let endAfter = after.length;
  while (endBefore > start && endAfter > start && before[endBefore - 1] === after[endAfter - 1]) {
    endBefore -= 1;
    endAfter -= 1;
  }
  return [
    ...marked(" ", before.slice(0, start)),
    ...compareMiddle(before.slice(start, endBefore), after.slice(start, endAfter)),
    ...marked(" ", before.slice(endBefore)),
  ];
}

function marked(mark: Line["mark"], lines: readonly string[]): Line[] {
  return lines.map((text) => ({ mark, text }));
}

/** By the longest common subsequence of lines. */
function compareMiddle(before: readonly string[], after: readonly string[]): Line[] {
  const width = after.length + 1;
  if ((before.length + 1) * width > mostCells) return [...marked("-", before), ...marked("+", after)];
  const common = commonLengths(before, after);
  const lines: Line[] = [];
  let row = 0;
  let column = 0;
  while (row < before.length || column < after.length) {
    const [old, young] = [before[row], after[column]];
    const down = common[(row + 1) * width + column] ?? 0;
    const right = common[row * width + column + 1] ?? 0;
    if (old !== undefined && old === young) {
      lines.push({ mark: " ", text: old });
      row += 1;
      column += 1;
    } else if (old !== undefined && (young === undefined || down >= right)) {
      lines.push({ mark: "-", text: old });
      row += 1;
    } else {
      lines.push({ mark: "+", text: young ?? "" });
      column += 1;
    }
  }
  return lines;
}

/** For each pair of places: how many lines the rests of both texts have in common, in their order. */
function commonLengths(before: readonly string[], after: readonly string[]): Uint32Array {
  const width = after.length + 1;
  const common = new Uint32Array((before.length + 1) * width);
  for (let row = before.length - 1; row >= 0; row -= 1) {
    for (let column = after.length - 1; column >= 0; column -= 1) {
      const at = row * width + column;
      common[at] =
        before[row] === after[column]
          ? (common[at + width + 1] ?? 0) + 1
          : Math.max(common[at + width] ?? 0, common[at + 1] ?? 0);
    }
  }
  return common;
}

interface Hunk {
  /** Numbers of the lines before it. */
  readonly before: number;
  readonly after: number;
  readonly lines: readonly Line[];
}

function hunks(lines: readonly Line[]): Hunk[] {
  const isShown = nearChange(lines);
  const found: { before: number; after: number; lines: Line[] }[] = [];
  let [before, after, wasShown] = [0, 0, false];
  for (const [index, line] of lines.entries()) {
    const shown = isShown[index] === true;
    if (shown && !wasShown) found.push({ before, after, lines: [] });
    if (shown) found.at(-1)?.lines.push(line);
    wasShown = shown;
    if (line.mark !== "+") before += 1;
    if (line.mark !== "-") after += 1;
  }
  return found;
}

function nearChange(lines: readonly Line[]): boolean[] {
  const isNear = Array.from(lines, () => false);
  for (const [index, { mark }] of lines.entries()) {
    if (mark !== " ") isNear.fill(true, Math.max(0, index - contextLines), index + contextLines + 1);
  }
  return isNear;
}

function formatHunk({ before, after, lines }: Hunk): string {
  const count = (without: Line["mark"]): number => lines.filter(({ mark }) => mark !== without).length;
  const head = `@@ -${range(before, count("+"))} +${range(after, count("-"))} @@`;
  return [head, ...lines.map(({ mark, text }) => `${mark}${text}`)].join("\n");
}

function range(from: number, length: number): string {
  return `${length === 0 ? from : from + 1},${length}`;
}
