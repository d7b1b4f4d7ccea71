/** Without those that are taken for one another. */
const letters = "2346789ABCDEFGHJKMNPQRTUVWXYZ";

/**
 * A code for people to repeat, of this many letters. `randomBelow`: a number below the one that is given, not to be
 * guessed.
 */
export function newCode(length: number, randomBelow: (limit: number) => number): string {
  return Array.from({ length }, () => letters[randomBelow(letters.length)]).join("");
}
