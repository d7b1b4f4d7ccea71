import { isWithin } from "../../lib/files/paths.ts";
import type { Role } from "../people/role.ts";

/**
 * Ways to decide about changes in a folder with review: `admin` or `owner` decide about all of them. `auto-text`: small
 * changes of plain text need nobody, an admin decides about all others.
 */
export const reviewRules = ["admin", "owner", "auto-text"] as const;

export type ReviewRule = (typeof reviewRules)[number];

/** Settings for decisions about changes in a folder with review. */
export interface ReviewSettings {
  readonly apply: ReviewRule;
  /** True where only what programs run by themselves waits: an agent writes everything else at once. */
  readonly isOrdinaryApplied: boolean;
  /** Number of different people who must apply a change. One can discard it. */
  readonly quorum: number;
  /** A card that nobody has answered for so long is over. What it is about stays undecided. */
  readonly expiresMinutes: number;
}

/** The same as it is written for a group or a mount: what is left out comes from elsewhere. */
export type OwnReviewSettings = {
  readonly [Key in Exclude<keyof ReviewSettings, "isOrdinaryApplied">]?: ReviewSettings[Key] | undefined;
};

/** The least role that decides by this rule. */
export function reviewersOf({ apply }: Pick<ReviewSettings, "apply">): Role {
  return apply === "owner" ? "owner" : "admin";
}

/** Kinds of changes of a path: of a file, a link or a folder. */
export type ReviewedKind = "added" | "changed" | "deleted";

/** A change in a folder with review, as it is put to people. Hostile, but for what the host adds. */
export interface ReviewedChange {
  /** Below the folder. */
  readonly path: string;
  readonly kind: ReviewedKind;
  /** Digest of what it is a change of; undefined: there was nothing. */
  readonly before?: string | undefined;
  /** Digest of what it becomes; undefined: nothing. */
  readonly after?: string | undefined;
  readonly isFolder?: true | undefined;
  /** Bytes that it has afterwards. */
  readonly bytes: number;
  /** Remark for people, such as `a link to /etc` or `is executable`. */
  readonly note?: string | undefined;
  /** Kind of program that runs it by itself, where one does. */
  readonly planted?: string | undefined;
  /** Reason why it cannot be applied, as the end of a sentence; it can be discarded. */
  readonly refused?: string | undefined;
  /** Unified diff, where both sides are text and short. */
  readonly diff?: string | undefined;
  /** The card shows all of it. Set by the host when it asks. */
  readonly isShown?: true | undefined;
}

/** Question about a folder with review: the input of the approval. */
export interface Review {
  /** Path below `/workspace/extra`. */
  readonly target: string;
  readonly changes: readonly ReviewedChange[];
  /** There were more changes than could be listed. */
  readonly isCut?: true | undefined;
}

/** The text whose digest tells whether changes are still those that were shown: where, and what becomes of what. */
export function digestedChanges({ target, changes }: Review): string {
  // A new folder comes with what is new in it: applied with a part of that, it changes nothing about the rest.
  const parents = new Set(changes.flatMap(({ path }) => foldersOf(path)));
  const told = changes.filter(({ path, kind, isFolder }) => !(isFolder && kind === "added" && parents.has(path)));
  return JSON.stringify([target, ...told.map(({ path, kind, before, after }) => [path, kind, before, after])]);
}

/** `a` and `a/b` of `a/b/c`. */
function foldersOf(path: string): string[] {
  const names = path.split("/");
  return names.slice(1).map((_, index) => names.slice(0, index + 1).join("/"));
}

/** Begins the `tool` of approvals about folders, before the folder's target. */
const reviewTool = "review:";

/** Returns what stands in the place of a tool's name. */
export function reviewToolOf(target: string): string {
  return `${reviewTool}${target}`;
}

/** The folder that an approval is about. */
export function reviewOf({ input }: { readonly input: string }): Review {
  return JSON.parse(input) as Review;
}

/** Changes by what is chosen of them. */
export interface ChosenChanges {
  readonly chosen: readonly ReviewedChange[];
  readonly rest: readonly ReviewedChange[];
  /** Paths that are none of theirs. */
  readonly unknown: readonly string[];
}

/** Chooses changes by paths: of files, or of folders with all below them. No paths: all. */
export function chooseChanges(changes: readonly ReviewedChange[], paths: readonly string[] | undefined): ChosenChanges {
  if (paths === undefined || paths.length === 0) return { chosen: changes, rest: [], unknown: [] };
  const isWanted = ({ path }: ReviewedChange): boolean => paths.some((one) => isAtOrBelow(path, one));
  const unknown = paths.filter((one) => !changes.some(({ path }) => isAtOrBelow(path, one)));
  return { chosen: changes.filter(isWanted), rest: changes.filter((one) => !isWanted(one)), unknown };
}

/** Is the path of a change what somebody wrote, such as `./src/`, or below it? */
export function isAtOrBelow(path: string, written: string): boolean {
  return isWithin(path, written.replace(/^(?:\.\/)+/, "").replace(/(?<!\/)\/+$/, ""));
}

/** `2 added, 1 changed, 3 deleted`. */
export function countChanges(changes: readonly Pick<ReviewedChange, "kind">[]): string {
  const counts = (["added", "changed", "deleted"] as const).map(
    (kind) => [kind, changes.filter((change) => change.kind === kind).length] as const,
  );
  return counts.flatMap(([kind, count]) => (count === 0 ? [] : `${count} ${kind}`)).join(", ") || "no changes";
}
