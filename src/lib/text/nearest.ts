/** Longest word that is compared, in characters: comparing takes the square of that, and names are shorter. */
const longestWord = 100;

/**
 * The candidate that is most alike, ignoring case, if it is alike enough to be a slip of the keyboard. There is none
 * for a word that is too long for a name.
 */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  if (word.length > longestWord) return undefined;
  const allowed = Math.max(1, Math.floor(word.length / 3));
  let best: { candidate: string; edits: number } | undefined;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) > allowed) continue;
    const edits = countEdits(word.toLowerCase(), candidate.toLowerCase());
    if (edits <= allowed && edits < (best?.edits ?? Infinity)) best = { candidate, edits };
  }
  return best?.candidate;
}

/** Ends a sentence about an unknown name: the one that was probably meant, or all that there are. */
export function hintFor(name: string, known: readonly string[], otherwise = `there are: ${known.join(", ")}`): string {
  const near = nearest(name, known);
  return near === undefined ? otherwise : `did you mean ${near}?`;
}

/** Letters to insert, remove, replace or swap with their neighbour until both are the same. */
function countEdits(left: string, right: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const same = left[row - 1] === right[column - 1];
      const swapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      current.push(
        Math.min(
          (last[column] ?? Infinity) + 1,
          (current[column - 1] ?? Infinity) + 1,
          (last[column - 1] ?? Infinity) + (same ? 0 : 1),
          swapped ? (beforeLast[column - 2] ?? Infinity) + 1 : Infinity,
        ),
      );
    }
    beforeLast = last;
    last = current;
  }
  return last[right.length] ?? Infinity;
}
