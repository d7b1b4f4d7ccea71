import { formatPatch, OMIT_HEADERS, structuredPatch, type StructuredPatch } from "diff";

/** Time and memory grow with the square of the lines that differ: beyond this many, each line counts as replaced. */
const mostChangedLines = 500;

/** Returns a unified diff with three lines of context; empty when the texts are equal. */
export function unifiedDiff(before: string, after: string): string {
  const options = { context: 3, maxEditLength: mostChangedLines };
  const patch = structuredPatch("", "", before, after, undefined, undefined, options) ?? replacement(before, after);
  return formatPatch(patch, OMIT_HEADERS).replace(/\n$/, "");
}

function replacement(before: string, after: string): StructuredPatch {
  const goes = structuredPatch("", "", before, "");
  const comes = structuredPatch("", "", "", after);
  const lines = [...goes.hunks, ...comes.hunks].flatMap((hunk) => hunk.lines);
  const count = (mark: string): number => lines.filter((line) => line.startsWith(mark)).length;
  return { ...goes, hunks: [{ oldStart: 1, oldLines: count("-"), newStart: 1, newLines: count("+"), lines }] };
}
