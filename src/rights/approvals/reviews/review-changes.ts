import { createHash } from "node:crypto";

import {
  digestedChanges,
  type Review,
  type ReviewedChange,
  type ReviewSettings,
} from "../../../domain/rights/review.ts";
import { repositoriesIn } from "../../../sandbox/mounts/execution-points.ts";
import type { ReviewChange, ReviewDiff, ReviewEntry } from "../../../sandbox/review/review-layer.ts";

/** Characters of one diff that are kept with the question. A longer one is shown by `crabpot mounts diff`. */
const keptDiffChars = 20_000;
/** Characters of all of them together. */
const keptChars = 200_000;

/** Maximum files that need nobody in one turn: more are a piece of work that people should see. */
const mostAutomatic = 50;

/** Says which kind of program runs a changed path by itself; undefined: none that is known. */
export type PlantedKind = (change: ReviewChange, repositories: ReadonlySet<string>) => string | undefined;

/** Names of files by which Git takes a folder for a repository, or knows what to run: never applied by themselves. */
const gitNames = /(?:^|\/)(?:HEAD|attributes|commondir|config(?:\.worktree)?|gitdir|git-rebase-todo)$/i;

/** Says of each of these changes which kind of program runs it by itself. */
export function plantedAmong(
  changes: readonly ReviewChange[],
  plantedKind: PlantedKind,
): (change: ReviewChange) => string | undefined {
  const repositories = repositoriesIn(new Set(changes.flatMap(({ path, kind }) => (kind === "deleted" ? [] : [path]))));
  return (change) => plantedKind(change, repositories);
}

/** Returns the changes as they are put to people, those first that programs run by themselves. */
export function reviewedChanges(diff: Pick<ReviewDiff, "changes">, plantedKind: PlantedKind): ReviewedChange[] {
  const planted = plantedAmong(diff.changes, plantedKind);
  const all = diff.changes.map((change) => reviewedChange(change, planted(change)));
  let left = keptChars;
  return [...all.filter((one) => one.planted), ...all.filter((one) => !one.planted)].map((change) => {
    const { diff: text, ...rest } = change;
    if (text === undefined || text.length > Math.min(left, keptDiffChars)) return rest;
    left -= text.length;
    return change;
  });
}

function reviewedChange(change: ReviewChange, planted: string | undefined): ReviewedChange {
  const { path, kind, before, after, text } = change;
  const note = notesOn(change).join(", ");
  return {
    path,
    kind,
    ...(before && { before: digestOf(before) }),
    ...(after && { after: digestOf(after) }),
    ...(change.entry === "folder" && { isFolder: true }),
    bytes: after?.size ?? 0,
    ...(note !== "" && { note }),
    ...(planted !== undefined && { planted }),
    ...(text !== undefined && { diff: text }),
    ...(change.refused !== undefined && { refused: change.refused }),
  };
}

/** Says what is to be known about a change besides its path. */
export function notesOn({
  entry,
  before,
  after,
  remarks,
  refused,
  conflict,
}: Pick<ReviewChange, "entry" | "before" | "after" | "remarks" | "refused" | "conflict">): string[] {
  return [
    ...(entry === "file" ? [] : [entry === "link" ? `a link to ${after?.link ?? before?.link ?? ""}` : "a folder"]),
    ...(before && after && before.entry !== after.entry ? [`was a ${before.entry}`] : []),
    ...remarks,
    ...(refused === undefined ? [] : [`cannot be applied: it ${refused}`]),
    ...(conflict === true ? ["has changed in the folder meanwhile: cannot be applied"] : []),
  ];
}

/** Digest of everything that an entry is. */
function digestOf({ entry, sha256, size, mode, link }: ReviewEntry): string {
  return sha256Of(JSON.stringify([entry, sha256 ?? "", size, mode, link ?? ""]));
}

/** Digest by which changes are known as those that people were shown. */
export function reviewDigest(review: Review): string {
  return sha256Of(digestedChanges(review));
}

/** Is this what the person was shown? */
export function isSameChange(shown: ReviewedChange, now: ReviewChange): boolean {
  const { kind, before, after } = reviewedChange(now, undefined);
  return shown.kind === kind && shown.before === before && shown.after === after;
}

/**
 * The changes that need nobody by these settings, which no program runs by itself and about which there is nothing else
 * to know. By `auto-text` they are files that are text before and after, with the permissions of before. A folder is
 * among them if all that has changed in it is.
 */
export function automaticChanges(
  changes: readonly ReviewChange[],
  { apply, isOrdinaryApplied }: Pick<ReviewSettings, "apply" | "isOrdinaryApplied">,
  plantedKind: PlantedKind,
): ReadonlySet<string> {
  if (!isOrdinaryApplied && apply !== "auto-text") return new Set();
  const planted = plantedAmong(changes, plantedKind);
  const isOrdinary = (change: ReviewChange): boolean =>
    !isRemarkable(change) && !gitNames.test(change.path) && planted(change) === undefined;
  const files = changes.filter(
    (change) => change.entry !== "folder" && isOrdinary(change) && (isOrdinaryApplied || isPlainText(change)),
  );
  if (!isOrdinaryApplied && (files.length === 0 || files.length > mostAutomatic)) return new Set();
  const paths = new Set(files.map(({ path }) => path));
  const folders = changes.filter(
    (change) =>
      change.entry === "folder" &&
      isOrdinary(change) &&
      (isOrdinaryApplied || change.kind === "added") &&
      isAllIn(change),
  );
  return new Set([...paths, ...folders.map(({ path }) => path)]);

  function isAllIn({ path: folder }: ReviewChange): boolean {
    const inside = changes.filter(({ path, entry }) => entry !== "folder" && path.startsWith(`${folder}/`));
    return (isOrdinaryApplied || inside.length > 0) && inside.every(({ path }) => paths.has(path));
  }
}

function isRemarkable({ remarks, refused, conflict }: ReviewChange): boolean {
  return remarks.length > 0 || refused !== undefined || conflict === true;
}

function isPlainText({ entry, before, after, text }: ReviewChange): boolean {
  if (entry !== "file" || !after) return false;
  return text !== undefined && text.length <= keptDiffChars && hasUsualMode(before, after);
}

function hasUsualMode(before: ReviewEntry | undefined, { mode }: ReviewEntry): boolean {
  return before ? before.entry === "file" && before.mode === mode : (mode & 0o111) === 0;
}

/**
 * The paths that name exactly these changes, where each path stands for all below it too: a folder only if everything
 * below it is among them.
 */
export function pathsOf(wanted: readonly ReviewChange[], all: readonly ReviewChange[]): string[] {
  const names = new Set(wanted.map(({ path }) => path));
  const others = all.filter(({ path }) => !names.has(path));
  return [...names].filter((path) => !others.some((other) => other.path.startsWith(`${path}/`)));
}

function sha256Of(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
