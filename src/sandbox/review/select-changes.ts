import type { KnownChange } from "./change-history.ts";
import { isAtOrBelow } from "../../domain/rights/review.ts";
import { AppError } from "../../lib/app-error.ts";
import { isWithin } from "../../lib/files/paths.ts";
import { visible } from "../../lib/text/visible.ts";

/**
 * Returns the changes at and below the paths, in their order; all without paths. Throws `not_found` for a path at and
 * below which nothing has changed.
 */
export function selectChanges(changes: readonly KnownChange[], paths: readonly string[] | undefined): KnownChange[] {
  if (paths === undefined) return [...changes];
  for (const wanted of paths) {
    if (!changes.some(({ path }) => isAtOrBelow(path, wanted)))
      throw new AppError("not_found", `There is no change at ${visible(wanted)}.`);
  }
  return changes.filter(({ path }) => paths.some((wanted) => isAtOrBelow(path, wanted)));
}

/** Adds the new folders without which the chosen entries have no place. */
export function withFolders(chosen: readonly KnownChange[], changes: readonly KnownChange[]): KnownChange[] {
  const keys = new Set(chosen.map(({ key }) => key));
  const isPlace = ({ key, after, before }: KnownChange): boolean =>
    after?.entry === "folder" && before?.entry !== "folder" && chosen.some((change) => isBelow(change.key, key));
  return changes.filter((change) => keys.has(change.key) || isPlace(change));
}

/**
 * Adds everything in the folders that are gone for the agent as a whole, as none of it comes back without the rest, and
 * the hidden folders around the chosen entries, which come back with them.
 */
export function withGoneFolders(chosen: readonly KnownChange[], changes: readonly KnownChange[]): KnownChange[] {
  const keys = new Set(chosen.map(({ key }) => key));
  const gone = changes.filter(
    ({ key, before, after, isHidden }) =>
      before?.entry === "folder" &&
      after?.entry !== "folder" &&
      !isHidden &&
      chosen.some((change) => isBelow(change.key, key)),
  );
  const isAround = ({ key, before, isHidden }: KnownChange): boolean =>
    isHidden && before?.entry === "folder" && chosen.some((change) => isBelow(change.key, key));
  return changes.filter(
    (change) => keys.has(change.key) || isAround(change) || gone.some((folder) => isWithin(change.key, folder.key)),
  );
}

/** Order in which changes are applied: what goes, from the inside out; then what comes, from the outside in. */
export function inOrderOfApplying(changes: readonly KnownChange[]): KnownChange[] {
  const goes = changes.filter(({ after }) => after === undefined);
  const comes = changes.filter(({ after }) => after !== undefined);
  return [...goes.toReversed(), ...comes];
}

function isBelow(key: string, folder: string): boolean {
  return key !== folder && isWithin(key, folder);
}
